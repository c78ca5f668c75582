"""Sound as a value: PCM, one resampler, recordings as files. It imports no other room; see README.md."""

from sound.errors import NotSound, SoundError
from sound.pcm import AUDIBLE, FrameReader, Pcm, Samples, keep_in_range
from sound.resample import Resampler, resample
from sound.wav import read_recording, write_wav

__all__ = [
    "AUDIBLE",
    "FrameReader",
    "NotSound",
    "Pcm",
    "Resampler",
    "Samples",
    "SoundError",
    "keep_in_range",
    "read_recording",
    "resample",
    "write_wav",
]
