"""A whole server on real models, in a thread of its own, and a spoken question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from spoken_question import QUESTION
from whole_house import house

from firstword.settings import load_settings
from firstword.voices import engine_for
from sound import Pcm


@pytest.fixture(scope="session")
def house_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with everything real in it: models, database, sockets."""
    with house(data=tmp_path_factory.mktemp("data")) as base_url:
        yield base_url


@pytest.fixture(scope="session")
def scripted_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same, but what is answered comes from a script, at once."""
    with house(script_only=True, data=tmp_path_factory.mktemp("scripted")) as base_url:
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
