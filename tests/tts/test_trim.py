import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tts.trim import LEAD_S, EdgeTrim

RATE_HZ = 22_050


@pytest.mark.parametrize("block", [100, 441, 5_000, 100_000])
def test_edges_go_and_the_inside_stays_whatever_the_blocks(block: int) -> None:
    tone = (0.3 * np.sin(np.arange(RATE_HZ) * 0.1)).astype(np.float32)
    tone[5_000:9_000] = 0.0  # a pause inside
    whole = np.concatenate([np.zeros(4_000, np.float32), tone, np.zeros(4_000, np.float32)])
    trim = EdgeTrim(RATE_HZ)
    kept = np.concatenate([*(trim.push(whole[at : at + block]) for at in range(0, len(whole), block)), trim.flush()])
    lead = round(LEAD_S * RATE_HZ)
    assert len(tone) <= len(kept) <= len(tone) + lead + round(0.045 * RATE_HZ) + 1
    start = len(kept) - len(np.trim_zeros(kept, "f"))
    assert start <= lead
    assert np.abs(kept[start + 200 : start + 20_000] - np.trim_zeros(tone, "f")[200:20_000]).max() == 0


def test_silence_gives_nothing() -> None:
    trim = EdgeTrim(RATE_HZ)
    assert len(trim.push(np.zeros(50_000, np.float32))) + len(trim.flush()) == 0


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(150, 4_000), min_size=1, max_size=12), st.lists(st.integers(20, 3_000), max_size=8))
def test_the_blocks_change_no_sample(blocks: list[int], stretches: list[int]) -> None:
    sounds = [np.full(size, 0.3 * (n % 2), np.float32) for n, size in enumerate(stretches)]
    whole = np.concatenate([*sounds, np.zeros(2_000, np.float32)])
    at_once, by_block = EdgeTrim(RATE_HZ), EdgeTrim(RATE_HZ)
    at, kept = 0, []
    while at < len(whole):
        size = blocks[len(kept) % len(blocks)]
        kept.append(by_block.push(whole[at : at + size].copy()))
        at += size
    expected = at_once.push(whole.copy())
    assert np.array_equal(np.concatenate(kept), expected)
