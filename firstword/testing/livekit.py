"""A real LiveKit server for tests and benchmarks: one process on loopback, with a key of its own.

`scripts/setup.sh` builds it with Go and keeps it in the cache. The one rule: it stops with whoever started it, and
names no address beyond this machine to anybody.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

from firstword.testing.orphans import ends_with_us
from firstword.testing.ports import free_port

KEY = "firstword-tests"
SECRET = "a secret of the tests, nobody else's, long enough"  # noqa: S105 - opens a server that lives for a test
MISSING = "no LiveKit server is built (`./check` builds it where there is Go: find_livekit in scripts/setup.sh)"
_START_S = 30.0


def find_livekit() -> Path | None:
    """The server's program: on the path, or where setup keeps the newest that it built."""
    found = shutil.which("livekit-server")
    if found:
        return Path(found)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "firstword"
    built = sorted(cache.glob("livekit-server-*/server"), key=lambda path: path.stat().st_mtime)
    return built[-1] if built else None


class LiveKitServer:
    """One server, from `start` to `stop`; started again, it is on the same address."""

    def __init__(self, program: Path) -> None:
        self._program = program
        # For signalling, media over TCP and media over UDP.
        self._port, tcp, udp = free_port(), free_port(), free_port(socket.SOCK_DGRAM)
        self._process: subprocess.Popen[bytes] | None = None
        self._config = {
            "port": self._port,
            "bind_addresses": ["127.0.0.1"],
            "keys": {KEY: SECRET},
            "logging": {"level": "error"},
            "rtc": {
                "tcp_port": tcp,
                "udp_port": udp,
                "node_ip": "127.0.0.1",
                "use_external_ip": False,
                "enable_loopback_candidate": True,
                "interfaces": {"includes": ["lo"]},
                # Without one it names a public server to every client.
                "stun_servers": [f"127.0.0.1:{udp}"],
            },
        }

    @property
    def url(self) -> str:
        """Where clients and workers reach it."""
        return f"ws://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Serve, and return when it answers. Raises `RuntimeError` where it does not."""
        self._process = subprocess.Popen(
            [str(self._program), "--config-body", json.dumps(self._config)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=ends_with_us(signal.SIGKILL),
        )
        deadline = time.monotonic() + _START_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"{self._program} does not serve with {json.dumps(self._config)}")
            time.sleep(0.05)

    def stop(self) -> None:
        """End it at once. Safe to call twice."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/", timeout=1) as reply:
                return bool(reply.status == 200)
        except OSError:
            return False
