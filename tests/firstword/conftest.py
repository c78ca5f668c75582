"""A whole server on real models, in a thread of its own, and a spoken question."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from spoken_question import QUESTION

from firstword.app import create_kept_app
from firstword.serving import serving, until_ready
from firstword.settings import Settings, load_settings
from firstword.voices import engine_for
from sound import Pcm


@contextlib.contextmanager
def _served(settings: Settings) -> Iterator[str]:
    """The address of a server in a thread of its own, once it is ready."""
    started: list[str] = []
    up, stop = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with serving(lambda base_url: create_kept_app(settings, base_url)) as base_url:
            await until_ready(base_url)
            started.append(base_url)
            up.set()
            await stop.wait()

    def run() -> None:
        try:
            loop.run_until_complete(serve())
        finally:
            up.set()
            loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    up.wait(timeout=120)
    try:
        assert started, "the server did not start"
        yield started[0]
    finally:
        if not loop.is_closed():
            loop.call_soon_threadsafe(stop.set)
        thread.join(timeout=60)


@pytest.fixture(scope="session")
def house_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with everything real in it: models, database, sockets."""
    with _served(load_settings(single_user=True, data=tmp_path_factory.mktemp("data"))) as base_url:
        yield base_url


@pytest.fixture(scope="session")
def scripted_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same, but what is answered comes from a script, at once."""
    settings = load_settings(single_user=True, script_only=True, data=tmp_path_factory.mktemp("scripted"))
    with _served(settings) as base_url:
        yield base_url


@pytest.fixture(scope="session")
def question() -> Pcm:
    """`QUESTION` in the local voice, with a second of silence before it, as a person begins."""
    engine = engine_for(load_settings())
    spoken = list(engine.speak(QUESTION))
    return Pcm.join([Pcm.silence(1.0, spoken[0].rate_hz), *spoken, Pcm.silence(0.3, spoken[0].rate_hz)])


@pytest.fixture
def question_file(question: Pcm, tmp_path: Path) -> Path:
    """The question as a WAV."""
    from sound import write_wav

    path = tmp_path / "question.wav"
    write_wav(path, question)
    return path
