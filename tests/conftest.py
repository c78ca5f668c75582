"""What several rooms' tests share: a real PostgreSQL, each database a room must work on, a package index, and who is
skipped where there is no browser."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from firstword.testing.index import LittleIndex, little_index
from firstword.testing.livekit import MISSING, LiveKitServer, find_livekit
from firstword.testing.postgres import Postgres, find_postgres

pytest_plugins = ["once_more"]

# How long an example takes is the machine's business, and a busy machine is no fault.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Whoever drives a browser is skipped where there is none."""
    if item.get_closest_marker("browser") is None:
        return
    from web.browser import CHROMIUM

    if not Path(CHROMIUM).exists():
        pytest.skip(f"chromium is not installed: there is no {CHROMIUM} to drive")


@pytest.fixture(scope="session", autouse=True)
def steady_voice() -> None:
    """The local voice draws its noise from one seed, so that what is spoken in a run is what was spoken in the last."""
    with contextlib.suppress(ImportError):
        from onnxruntime import set_seed

        set_seed(1)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL that serves; whoever kills it starts it again."""
    programs = find_postgres()
    if programs is None:
        missing = "PostgreSQL is not installed (Debian: apt-get install postgresql)"
        if os.environ.get("REQUIRE_POSTGRES"):
            pytest.fail(f"REQUIRE_POSTGRES is set: {missing}")
        pytest.skip(missing)
    server = Postgres(programs)
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def livekit_server() -> Iterator[LiveKitServer]:
    """A LiveKit server that serves; whoever stops it starts it again."""
    program = find_livekit()
    if program is None:
        pytest.skip(MISSING)
    server = LiveKitServer(program)
    server.start()
    yield server
    server.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, once for each kind."""
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path / 'firstword.db'}"
    server: Postgres = request.getfixturevalue("postgres")
    server.start()
    return server.fresh()


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[LittleIndex]:
    """An empty package index, which is the only one that pip asks."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    with little_index() as made:
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", f"{made.url}/simple")
        monkeypatch.setenv("PIP_RETRIES", "0")
        yield made
