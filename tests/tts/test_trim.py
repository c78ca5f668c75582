import numpy as np
import pytest

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
