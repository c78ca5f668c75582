"""Recordings as files: read whatever libsndfile reads, write WAV.

The one rule: whatever is wrong with a file is said in a sentence with the file's name, as `NotSound`.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import BinaryIO

import numpy as np

from sound.errors import NotSound, SoundError
from sound.pcm import Pcm


def read_recording(source: Path | bytes, *, name: str = "") -> Pcm:
    """A file (or the bytes of one) as `Pcm`. Raises `NotSound` naming the file and what is wrong with it."""
    label = name or (str(source) if isinstance(source, Path) else "the recording")
    if isinstance(source, Path):
        if not source.exists():
            raise NotSound(f"{label}: there is no such file")
        if source.is_dir():
            raise NotSound(f"{label}: this is a folder; give a recording, for example a WAV file")
        try:
            data = source.read_bytes()
        except OSError as fault:
            raise NotSound(f"{label}: cannot be read ({fault.strerror})") from fault
    else:
        data = source
    if not data:
        raise NotSound(f"{label}: the file is empty; give a recording, for example a WAV file")
    pcm = _decode(io.BytesIO(data), label)
    if not len(pcm):
        raise NotSound(f"{label}: the recording holds no samples")
    return pcm


def write_wav(target: Path | BinaryIO, pcm: Pcm) -> None:
    """Write 16-bit PCM WAV; the folder is made where it is missing."""
    import soundfile

    if isinstance(target, Path):
        target.parent.mkdir(parents=True, exist_ok=True)
    frames = np.clip(pcm.samples, -1.0, 32767 / 32768)
    soundfile.write(target, frames, pcm.rate_hz, subtype="PCM_16", format="WAV")


def _decode(stream: BinaryIO, label: str) -> Pcm:
    import soundfile

    try:
        read, rate_hz = soundfile.read(stream, dtype="float32", always_2d=True)
    except (soundfile.LibsndfileError, RuntimeError, TypeError) as fault:
        raise NotSound(f"{label}: this is not a recording that can be read; give WAV, FLAC, OGG or MP3") from fault
    samples = np.asarray(read, dtype=np.float32)
    channels = samples.shape[1]
    try:
        return Pcm(samples[:, 0] if channels == 1 else samples, int(rate_hz), channels)
    except SoundError as fault:
        raise NotSound(f"{label}: {fault}") from fault
