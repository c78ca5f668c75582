"""A package index on loopback, with wheels made on the spot; and a catalog that names what is in them.

Pip asks it as it asks any index. The one rule: what it gives away it was given.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from models import Catalog

# Nobody holds up a wheel for longer.
_MOST_S = 120.0


def wheel(
    package: str, version: str, files: Mapping[str, bytes], *, requires_python: str = ">=3.9"
) -> tuple[str, bytes]:
    """The file name and the bytes of a wheel that holds `files`."""
    stem = f"{package.replace('-', '_')}-{version}"
    told = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\nRequires-Python: {requires_python}\n"
    kind = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        archive.writestr(f"{stem}.dist-info/METADATA", told)
        archive.writestr(f"{stem}.dist-info/WHEEL", kind)
        archive.writestr(f"{stem}.dist-info/RECORD", "")
    return f"{stem}-py3-none-any.whl", out.getvalue()


class LittleIndex:
    """Keeps what is asked of it in `asked`; a wheel may have several bodies, given in turn, the last for ever.

    While `flows` is not set, a wheel stops half way.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.url = ""
        self.flows = threading.Event()
        self.flows.set()
        self._pages: dict[str, str] = {}
        self._bodies: dict[str, list[bytes]] = {}
        self.headers: dict[str, dict[str, str]] = {}
        self._guard = threading.Lock()

    @property
    def fetched(self) -> list[str]:
        """The wheels (and other bodies) that were given away, in order."""
        return [path for path in self.asked if path in self._bodies]

    def publish(
        self, package: str, version: str, *variants: Mapping[str, bytes], requires_python: str = ">=3.9"
    ) -> int:
        """Put a wheel on the index; gives the bytes of its last variant."""
        made = [wheel(package, version, files, requires_python=requires_python) for files in variants]
        name = made[0][0]
        self._pages[f"/simple/{package}/"] = (
            f'<!DOCTYPE html><html><body><a href="/files/{name}">{name}</a></body></html>'
        )
        self._bodies[f"/files/{name}"] = [body for _, body in made]
        return len(made[-1][1])

    def put(self, path: str, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Serve `body` at `path`."""
        self._bodies[path] = [body]
        self.headers[path] = dict(headers or {})

    def answer(self, path: str, *, whole: bool) -> tuple[int, bytes, dict[str, str]]:
        """Status, body and headers of what stands at `path`; `whole` where the body is wanted too."""
        with self._guard:
            if whole:
                self.asked.append(path)
            if path in self._pages:
                return 200, self._pages[path].encode(), {"Content-Type": "text/html"}
            if path in self._bodies:
                bodies = self._bodies[path]
                body = bodies.pop(0) if whole and len(bodies) > 1 else bodies[0]
                return 200, body, {"Content-Type": "application/octet-stream", **self.headers.get(path, {})}
            return 404, b"", {}


@contextlib.contextmanager
def little_index() -> Iterator[LittleIndex]:
    """Serve an empty index until the body is over."""
    index = LittleIndex()

    def give(asked: BaseHTTPRequestHandler) -> None:
        whole = asked.command == "GET"
        status, body, headers = index.answer(asked.path, whole=whole)
        asked.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            asked.send_header(key, value)
        asked.end_headers()
        if whole:
            half = len(body) // 2
            asked.wfile.write(body[:half])
            if asked.path.endswith(".whl"):
                index.flows.wait(_MOST_S)
            asked.wfile.write(body[half:])

    quiet = {"log_message": lambda *_: None}
    handler = type("Handler", (BaseHTTPRequestHandler,), {"do_GET": give, "do_HEAD": give, **quiet})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    index.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield index
    finally:
        index.flows.set()
        server.shutdown()
        server.server_close()
        thread.join()


def catalog(folder: Path, entries: Mapping[str, Mapping[str, object]]) -> Catalog:
    """A catalog of `entries`; what an entry leaves out is filled with something plain."""
    lines = []
    for name, entry in entries.items():
        plain: dict[str, object] = {
            "what_for": "a test",
            "kind": "plain",
            "licence": "CC0-1.0",
            "languages": ["en"],
            "default": True,
            "download_bytes": 1000,
        }
        lines.append(f"[{json.dumps(name)}]")
        lines += [f"{key} = {_toml(value)}" for key, value in {**plain, **entry}.items()]
    path = folder / "catalog.toml"
    path.write_text("\n".join(lines), "utf-8")
    return Catalog(path)


def file(to: str, data: bytes, *places: str) -> dict[str, object]:
    """The row of a file that is `data`, joined from `places`."""
    return {"to": to, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "from": list(places)}


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    return json.dumps(value)
