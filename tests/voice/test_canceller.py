"""WebRTC's echo canceller before the gate: what it takes away, and what it leaves as it is."""

from __future__ import annotations

import numpy as np
import pytest

from firstword.testing.room import EchoRoom
from sound import Pcm, resample
from sound.noises import hum
from voice.answer import OUT_HZ
from voice.canceller import WebrtcCanceller

FRAME_S = 0.02


def babble(seconds: float) -> np.ndarray:
    """Noise with the slope and the syllables of a voice, at 24 kHz."""
    count = round(seconds * OUT_HZ)
    spectrum = np.fft.rfft(np.random.default_rng(3).standard_normal(count))
    spectrum /= 1 + np.fft.rfftfreq(count, 1 / OUT_HZ) / 400
    wave = np.fft.irfft(spectrum, count) * np.abs(np.sin(2 * np.pi * 2 * np.arange(count) / OUT_HZ))
    return (0.5 * wave / np.abs(wave).max()).astype(np.float32)


def through(canceller: WebrtcCanceller, heard: Pcm, played: np.ndarray, *, step_s: float = FRAME_S) -> np.ndarray:
    """`heard` in steps of `step_s`, beside what is played at 24 kHz."""
    step, out = round(step_s * heard.rate_hz), []
    for at in range(0, len(heard) - step + 1, step):
        begin = round(at / heard.rate_hz * OUT_HZ)
        beside = Pcm(played[begin : begin + round(step_s * OUT_HZ)], OUT_HZ)
        out.append(canceller.clean(heard.part(at, at + step), beside).samples)
    return np.concatenate(out)


def power(samples: np.ndarray) -> float:
    return float(np.mean(np.square(samples, dtype=np.float64)))


@pytest.mark.parametrize("rate_hz", [16_000, 24_000])
def test_it_takes_our_own_voice_out_and_leaves_a_person(rate_hz: int) -> None:
    played = babble(8.0)
    room = EchoRoom(gain=0.4, delay_s=0.1, rate_hz=OUT_HZ, reverberation_s=0.15, noise=0.0003, seed=1)
    echo = resample(Pcm(room.hear(played), OUT_HZ), rate_hz)
    person = np.zeros(len(echo), dtype=np.float32)
    person[7 * rate_hz :] = hum(1.0, 0.3, rate_hz)
    heard = Pcm((echo.samples + person).astype(np.float32), rate_hz)
    got = through(WebrtcCanceller(), heard, played)
    assert len(got) == len(heard)
    # Once it has adapted a hundredth of the echo (20 dB) is left at most, and most of the person.
    alone = slice(5 * rate_hz, 7 * rate_hz)
    assert power(got[alone]) < 0.01 * power(echo.samples[alone])
    assert power(got[7 * rate_hz :]) > 0.1 * power(person[7 * rate_hz :])


def test_with_nothing_playing_the_microphone_stays_what_it_is() -> None:
    person = hum(2.0, 0.3, 16_000)
    out = [WebrtcCanceller().clean(Pcm(person, 16_000), None).samples]
    assert power(np.concatenate(out)) == pytest.approx(power(person), rel=0.2)


@pytest.mark.parametrize("step_s", [0.005, 0.0275, 0.1], ids=["5 ms", "27.5 ms", "100 ms"])
def test_stretches_of_any_length_lose_less_than_10_ms(step_s: float) -> None:
    played = babble(1.0)
    got = through(WebrtcCanceller(), Pcm(np.zeros(16_000, dtype=np.float32), 16_000), played, step_s=step_s)
    pushed = int(1.0 / step_s + 1e-9) * round(step_s * 16_000)
    assert 0 <= pushed - len(got) < 160


def test_a_rate_that_has_no_whole_10_ms_passes_as_it_is() -> None:
    odd = Pcm(hum(0.1, 0.3, 11_025), 11_025)
    assert np.array_equal(WebrtcCanceller().clean(odd, None).samples, odd.samples)
