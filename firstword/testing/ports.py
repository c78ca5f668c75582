"""A port for a server in a process of its own, which cannot be handed a socket that is bound already.

A server of this process takes port 0 instead (`firstword.serving.bind`). The one rule: a port lies below those that the
kernel gives to whoever connects, so that no connection gets it before the server does, nor while it is restarted.
"""

from __future__ import annotations

import secrets
import socket

# Linux gives 32768 to 60999 away (net.ipv4.ip_local_port_range), others what is above 49152; well-known servers live
# below 20000.
_FIRST, _COUNT = 20_000, 12_000


def free_port(kind: socket.SocketKind = socket.SOCK_STREAM) -> int:
    """A port of loopback on which nobody listens."""
    while True:
        port = _FIRST + secrets.randbelow(_COUNT)
        with socket.socket(type=kind) as tried:
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
