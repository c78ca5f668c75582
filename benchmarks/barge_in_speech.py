"""What is said in `firstword bench barge-in`, spoken by the local voice: answers as the server sends them, and people.

A voice speaks a text otherwise each time, so what it spoke is kept in the cache: the next run has the same people in
the same rooms, and a scene that failed can be run again. The one rule: what is kept is what this voice, with this code,
gave for this text.
"""

from __future__ import annotations

import asyncio
import hashlib
import zipfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import tts
from asr import Ear, Silero, Transcript
from benchmarks.barge_in_scenes import ANSWERS, GREETING, VOICES
from firstword.settings import Settings, cache_home
from firstword.testing.clock import run_virtually
from firstword.testing.device import Device
from firstword.testing.lanes import RememberingEngine, VirtualLane
from firstword.testing.room import EchoRoom
from firstword.testing.talks import Talk, hears_with
from firstword.voices import engine_for, folder_of
from sound import Pcm, Samples, resample
from voice.answer import OUT_HZ

# Nobody listens while an answer is made: the microphone comes in long stretches.
_FRAME_S = 0.1


@dataclass(slots=True)
class Prepared:
    """What was spoken. It can be sent to another process.

    `pieces` by their text, as the engine gave them at `piece_hz`; `streams` are whole answers as the server sends them
    (s16 at 24 kHz); `speech` is what people say, by text, voice and take, at a peak of 1 from its onset. Everything has
    `takes` takes but the streams, which are of the first.
    """

    pieces: dict[str, Pcm]
    piece_hz: int
    streams: dict[str, Samples]
    speech: dict[tuple[str, int, int], Samples]
    takes: int = 1


def speak(
    settings: Settings, texts: tuple[str, ...], answers: tuple[str, ...] = (GREETING, *ANSWERS), *, takes: int = 1
) -> Prepared:
    """`answers` as the server sends them, and `texts` in each voice, `takes` times, with what the cache has of them."""
    engine = engine_for(settings)
    kept = _kept(settings)
    known = _read(kept)
    before = len(known)
    made = prepare(RememberingEngine(engine, sample_rate_hz=engine.sample_rate_hz, known=known), texts, answers, takes)
    if len(known) > before:
        _write(kept, known)
    return made


def prepare(engine: RememberingEngine, texts: tuple[str, ...], answers: tuple[str, ...], takes: int = 1) -> Prepared:
    """The same with an engine at hand."""
    silero = Silero()
    streams = {text: run_virtually(_stream(engine, text, silero)) for text in answers}
    pieces = [name for name in engine.known if "\n" not in name]
    speech = {}
    for take in range(takes):
        engine.take = take
        for piece in pieces:
            list(engine.speak(piece))
        for text in texts:
            spoken = Pcm.join(list(engine.speak(text)))
            for voice, faster in enumerate(VOICES):
                shifted = resample(Pcm(spoken.samples, round(spoken.rate_hz * faster)), OUT_HZ).samples
                speech[text, voice, take] = from_onset(shifted / max(1e-6, float(np.abs(shifted).max())))
    engine.take = 0
    return Prepared(engine.known, engine.sample_rate_hz, streams, speech, takes)


def from_onset(samples: Samples) -> Samples:
    """`samples` from where they are loud: the rule by which ends of speech are found."""
    loud = Pcm(samples, OUT_HZ).loud
    begun: Samples = samples[loud[0] :] if loud else samples
    return begun


async def _stream(engine: RememberingEngine, text: str, silero: Silero) -> Samples:
    """What the server sends for `text`, as s16 samples."""
    loop = asyncio.get_running_loop()
    silent = Ear(_Nobody(), VirtualLane(), silero=silero, clock=loop.time)
    device = Device(EchoRoom(gain=0.0, delay_s=0.0, rate_hz=OUT_HZ), keeps=True)
    talk = Talk(
        device,
        answers=[text],
        engine=engine,
        listener=hears_with(silent),
        lane=VirtualLane(),
        frame_s=_FRAME_S,
    )
    try:
        talk.ask("Go on.")
        await talk.until_quiet()
    finally:
        await talk.close()
    sent: Samples = np.frombuffer(bytes(device.kept), dtype="<i2")
    return sent


class _Nobody:
    """A recogniser for a room in which nobody speaks."""

    name = "nobody"
    languages = None

    def recognise(self, pcm: Pcm, *, language: str, hint: str = "", word_times: bool = False) -> Transcript:
        raise AssertionError("somebody was heard where nobody is")

    def warm(self) -> None:
        """Nothing to warm."""


def _kept(settings: Settings) -> Path:
    """The file of this voice: its weights, the package that reads them, and our code between them and the sound."""
    sums = hashlib.sha256(f"{settings.voice_engine} {settings.streaming}".encode())
    if settings.voice_engine == "piper":
        sums.update(metadata.version("piper-tts").encode())
    for file in sorted(folder_of(settings, settings.voice_engine).iterdir()):
        about = file.stat()
        sums.update(f"{file.name} {about.st_size} {about.st_mtime_ns}".encode())
    for source in sorted(Path(tts.__file__).parent.glob("*.py")):
        sums.update(source.read_bytes())
    return cache_home() / "barge-in" / f"{sums.hexdigest()[:16]}.npz"


def _read(path: Path) -> dict[str, Pcm]:
    """The pieces in a file by their text; none where there is no such file, or none that can be read."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {
                str(text): Pcm(file[f"piece_{n}"], int(file["rates_hz"][n])) for n, text in enumerate(file["texts"])
            }
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return {}


def _write(path: Path, pieces: dict[str, Pcm]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {f"piece_{n}": pcm.samples for n, pcm in enumerate(pieces.values())}
    arrays["texts"] = np.array(list(pieces))
    arrays["rates_hz"] = np.array([pcm.rate_hz for pcm in pieces.values()])
    # Another run may read it meanwhile.
    unfinished = path.with_suffix(".part.npz")
    np.savez(unfinished, **arrays)
    unfinished.replace(path)
