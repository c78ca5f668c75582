"""Recordings as files: what is read, what is written, and every way of being no recording."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile

from sound import NotSound, Pcm, read_recording, write_wav

RAMP = Pcm(np.linspace(-1, 1, 400, dtype=np.float32), 22_050)


def wav(rate_hz: int, samples: bytes = b"\0\0" * 10) -> bytes:
    """The bytes of a plain WAV, with whatever rate its header says."""
    form = struct.pack("<HHIIHH", 1, 1, rate_hz, rate_hz * 2, 2, 16)
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "made" / "on" / "the" / "way.wav"
    write_wav(path, RAMP)
    got = read_recording(path)
    assert (got.rate_hz, got.channels, len(got)) == (22_050, 1, 400)
    assert np.abs(got.samples - RAMP.samples).max() < 1 / 16_000


def test_what_is_too_loud_is_clipped_and_does_not_wrap() -> None:
    out = io.BytesIO()
    write_wav(out, Pcm(np.array([3.0, -3.0], dtype=np.float32), 16_000))
    assert read_recording(out.getvalue()).samples.tolist() == pytest.approx([1.0, -1.0], abs=1e-4)


@pytest.mark.parametrize(
    ("form", "subtype"),
    [("WAV", "PCM_16"), ("WAV", "FLOAT"), ("WAV", "ULAW"), ("FLAC", "PCM_16"), ("OGG", "VORBIS"), ("MP3", None)],
)
def test_other_kinds_are_read_too(form: str, subtype: str | None) -> None:
    out = io.BytesIO()
    stereo = np.zeros((4_800, 2), dtype=np.float32)
    soundfile.write(out, stereo, 48_000, format=form, subtype=subtype)
    got = read_recording(out.getvalue())
    assert (got.rate_hz, got.channels) == (48_000, 2)
    assert len(got) >= 4_800


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(b"", "is empty", id="empty"),
        pytest.param(b"hello, I am a text", "not a recording", id="text"),
        pytest.param(wav(16_000)[:20], "not a recording", id="cut-in-the-header"),
        pytest.param(wav(16_000, b""), "holds no samples", id="no-samples"),
        pytest.param(wav(10), "10 Hz is no rate", id="rate-too-low"),
    ],
)
def test_what_is_no_recording_is_said_with_its_name(data: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "question.wav"
    path.write_bytes(data)
    with pytest.raises(NotSound, match=rf"question\.wav: .*{said}"):
        read_recording(path)
    with pytest.raises(NotSound, match=rf"the upload: .*{said}"):
        read_recording(data, name="the upload")


def test_a_missing_file_and_a_folder_are_said_so(tmp_path: Path) -> None:
    with pytest.raises(NotSound, match=r"gone\.wav: there is no such file"):
        read_recording(tmp_path / "gone.wav")
    with pytest.raises(NotSound, match="this is a folder"):
        read_recording(tmp_path)


def test_bytes_without_a_name_are_the_recording() -> None:
    with pytest.raises(NotSound, match="the recording: the file is empty"):
        read_recording(b"")
