"""A real PostgreSQL for tests and benchmarks: a cluster in a temporary folder, on a socket of its own.

`Postgres` can be killed and started again in mid-test. The one rule: it stops with whoever started it, whatever they
did to it or was done to them.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from firstword.testing.orphans import ends_with_us

# A kill of the server loses nothing that reached the system, so nothing need reach the disk. But a commit is a commit:
# with `synchronous_commit=off` the last ones would be gone after a kill.
_FAST = ("fsync=off", "full_page_writes=off")
_SMALL = ("shared_buffers=16MB", "max_connections=80")
_START_S = 30.0


def find_postgres() -> Path | None:
    """The folder of PostgreSQL's programs: on the path, or where Debian keeps them."""
    found = shutil.which("pg_ctl")
    if found:
        return Path(found).resolve().parent
    kept = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[4]))
    return kept[-1].parent if kept else None


class Postgres:
    """One cluster. Made with `initdb`, served by `start`, gone after `remove`."""

    def __init__(self, programs: Path, *, durable: bool = False) -> None:
        """`durable` waits for the disk at each commit, as a real one does."""
        self._programs = programs
        self._settings = _SMALL if durable else (*_SMALL, *_FAST)
        self._folder = Path(tempfile.mkdtemp(prefix="fw-pg-"))
        # PostgreSQL refuses to run as root; Debian's package brings a user for it.
        self._user = "postgres" if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(self._folder, self._user, self._user)
        self._process: subprocess.Popen[bytes] | None = None
        self._names = itertools.count()
        self._run("initdb", "--no-sync", "--auth=trust", "--username=firstword", "--encoding=UTF8", "--locale=C.UTF-8",
                  str(self._data))  # fmt: skip

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def url(self, name: str = "postgres", driver: str = "asyncpg") -> str:
        """SQLAlchemy's URL of the database `name`."""
        return f"postgresql+{driver}://firstword@/{name}?host={self._folder}"

    def start(self) -> None:
        """Serve, and wait until it answers. Does nothing where it serves already."""
        if self._process is not None:
            return
        settings = [part for one in self._settings for part in ("-c", one)]
        command = [
            str(self._programs / "postgres"),
            "-D",
            str(self._data),
            "-k",
            str(self._folder),
            "-h",
            "",
            *settings,
        ]
        log = (self._folder / "log").open("ab")
        self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self._folder, user=self._user,
                                         preexec_fn=ends_with_us(signal.SIGQUIT))  # fmt: skip
        log.close()
        deadline = time.monotonic() + _START_S
        while self._run("pg_isready", "-q", "-h", str(self._folder), check=False) != 0:
            assert self._process.poll() is None, (self._folder / "log").read_text()[-2000:]
            assert time.monotonic() < deadline, "PostgreSQL did not start"
            time.sleep(0.05)

    def kill(self) -> None:
        """Gone at once, as in a crash: every connection breaks, nothing is finished."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(_START_S)
            self._process = None

    def fresh(self) -> str:
        """The URL of an empty database."""
        name = f"test_{next(self._names)}"
        self._run("createdb", "-h", str(self._folder), "-U", "firstword", "-T", "template0", name)
        return self.url(name)

    def remove(self) -> None:
        """Stop, and leave nothing behind."""
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str, check: bool = True) -> int:
        done = subprocess.run(
            [str(self._programs / program), *arguments],
            capture_output=True, cwd=self._folder, user=self._user, timeout=60, check=False,
        )  # fmt: skip
        assert not check or done.returncode == 0, done.stderr.decode()[-2000:]
        return done.returncode
