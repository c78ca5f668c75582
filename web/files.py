"""The page's static files: read once, compressed once, served from memory.

It serves a closed list made when it is built, so no path from outside ever reaches the disk. The one rule: an address
that carries the digest never changes what it means, so it is kept for a year; any other is asked for again by its ETag.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
# The digest in an address: twelve hex digits are plenty for a few files that change with a release.
_DIGEST_CHARS = 12
_FOREVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One file as it is sent."""

    body: bytes
    packed: bytes
    type: str
    etag: str


class StaticFiles:
    """The files of one folder, by their names; and `beside` them some from elsewhere, which are in no list."""

    def __init__(self, folder: Path, beside: Mapping[str, Path] | None = None) -> None:
        self._files = {
            path.relative_to(folder).as_posix(): _read(path)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.suffix in _TYPES
        }
        self.names = tuple(self._files)
        self._files |= {name: _read(path) for name, path in (beside or {}).items()}
        everything = "".join(file.etag for file in self._files.values())
        self.digest = hashlib.sha256(everything.encode()).hexdigest()[:_DIGEST_CHARS]

    def packed_bytes(self, name: str) -> int:
        """What `name` weighs on the wire."""
        return len(self._files[name].packed)

    def respond(self, request: Request, path: str) -> Response | None:
        """The response for `path` (with or without the digest in front), or None where there is no such file."""
        name = path.removeprefix(f"{self.digest}/")
        file = self._files.get(name)
        if file is None:
            return None
        headers = {
            "Cache-Control": _FOREVER if name != path else _ASK_AGAIN,
            "ETag": file.etag,
            "Vary": "Accept-Encoding",
            "X-Content-Type-Options": "nosniff",
        }
        if file.etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(file.packed, media_type=file.type, headers={**headers, "Content-Encoding": "gzip"})
        return Response(file.body, media_type=file.type, headers=headers)


def _read(path: Path) -> StaticFile:
    body = path.read_bytes()
    return StaticFile(
        body=body,
        packed=gzip.compress(body, 9, mtime=0),
        type=_TYPES[path.suffix],
        etag=f'"{hashlib.sha256(body).hexdigest()[:16]}"',
    )
