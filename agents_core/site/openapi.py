"""An OpenAPI spec and a list of its operations, to tools.

Not a client library: one request for one call. It is read when the files are, so a bad spec is a refusal and not a
failed answer. The rules: only operations on the list exist; no value can leave its place in the address (`..` is
refused, as it is and encoded); nothing redirects; the address is the file's, never the model's, and is not asked where
it leads into the owner's own network, but for the hosts that the owner's settings name.
"""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Literal
from urllib.parse import quote, unquote, urlsplit

import httpx2

from agents_core.site.schema import SpecRefused, resolved, standing_alone
from agents_core.tools import TOOL_NAME, Answered, Handed, Schema, Tool, failed
from outside import GuardedTransport, UrlRefused

METHODS = ("get", "put", "post", "delete", "patch", "head", "options")
Place = Literal["path", "query", "header", "body"]
# A tool is called while somebody listens.
_REQUEST_S = 8.0
_ANSWER_BYTES = 256 * 1024
# These are the client's own; the specification says to ignore them where a spec lists them as parameters.
_OWN_HEADERS = ("accept", "content-type", "authorization")


@dataclass(frozen=True, slots=True)
class Placed:
    """Where an argument goes: under which name, and written how."""

    place: Place
    name: str
    style: str = ""
    explode: bool = True


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation, ready to be asked. `placed` is by argument; `whole` is a body of one value."""

    method: str
    path: str
    server: str
    placed: Mapping[str, Placed]
    whole: bool
    headers: Mapping[str, str]


# What an operation's server is asked through.
Connect = Callable[[Operation], httpx2.AsyncBaseTransport]


def tools_of(
    prefix: str,
    document: Mapping[str, Any],
    allowed: Sequence[str],
    *,
    server: str = "",
    headers: Mapping[str, str] | None = None,
    audience: tuple[str, ...] = (),
    private_hosts: frozenset[str] = frozenset(),
    send: Callable[[httpx2.Request], Any] | None = None,
) -> list[Tool]:
    """A tool for each operation that is allowed, named `<prefix>_<operation>`. Raises `SpecRefused`.

    `private_hosts` may be asked although they are not on the public internet. `send` answers in place of the server.
    """
    connect = partial(_connect, private_hosts, send)
    version = str(document.get("openapi") or document.get("swagger") or "")
    if not re.match(r"3\.[01](\.|$)", version):
        said = f"OpenAPI {version}" if version else "no OpenAPI spec"
        raise SpecRefused(f"it is {said}", "Use OpenAPI 3.0 or 3.1")
    base = _server(document, server)
    known = {name: (method, path, item, one) for name, method, path, item, one in _operations(document)}
    tools = []
    for wanted in allowed:
        if wanted not in known:
            raise SpecRefused(f"it has no operation `{wanted}`", f"It has {', '.join(list(known)[:40])}")
        method, path, item, one = known[wanted]
        tools.append(
            _tool(f"{prefix}_{_plain(wanted)}", document, method, path, item, one, base, headers, audience, connect)
        )
    return tools


def _operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Mapping[str, Any], Mapping[str, Any]]]:
    """Every operation by its id, or by `GET /path` where it has none."""
    paths = document.get("paths")
    for path, item in (paths if isinstance(paths, Mapping) else {}).items():
        item = resolved(document, item)
        for method in METHODS:
            one = item.get(method) if isinstance(item, Mapping) else None
            if isinstance(one, Mapping):
                yield str(one.get("operationId") or f"{method.upper()} {path}"), method, str(path), item, one


def _server(document: Mapping[str, Any], given: str) -> str:
    servers = document.get("servers")
    first = servers[0] if isinstance(servers, list) and servers and isinstance(servers[0], Mapping) else {}
    url = given or str(first.get("url") or "")
    variables = first.get("variables")
    for name, variable in (variables if isinstance(variables, Mapping) else {}).items():
        url = url.replace("{" + str(name) + "}", str(variable.get("default", "")))
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or "{" in url:
        raise SpecRefused(f"its server `{url}` is no whole address", "Write `server: https://…` in the tool's file")
    return url.rstrip("/")


def _tool(
    name: str,
    document: Mapping[str, Any],
    method: str,
    path: str,
    item: Mapping[str, Any],
    one: Mapping[str, Any],
    base: str,
    headers: Mapping[str, str] | None,
    audience: tuple[str, ...],
    connect: Connect,
) -> Tool:
    name = name[:64]
    if not TOOL_NAME.fullmatch(name):
        raise SpecRefused(f"`{name}` cannot be a tool's name", "Give the operation an `operationId` of letters")
    schema, placed, whole = _arguments(document, [*item.get("parameters", ()), *one.get("parameters", ())], one)
    missing = set(re.findall(r"\{([^}]+)\}", path)) - {p.name for p in placed.values() if p.place == "path"}
    if missing:
        raise SpecRefused(f"`{path}` has a place for `{min(missing)}`, which is no parameter", "Add it to the spec")
    operation = Operation(method, path, base, placed, whole, dict(headers or {}))
    said = " ".join(str(one.get("summary") or one.get("description") or f"{method.upper()} {path}").split())[:600]

    async def does(_handed: Handed, arguments: Mapping[str, Any]) -> Answered:
        return await _ask(operation, arguments, connect)

    return Tool(name, said, does, schema, audience, repeats=method in ("get", "head", "options"))


def _arguments(
    document: Mapping[str, Any], parameters: Sequence[Any], one: Mapping[str, Any]
) -> tuple[Schema, dict[str, Placed], bool]:
    """One flat schema for all that an operation takes; two of one name get their place behind it."""
    wanted: list[tuple[Placed, Mapping[str, Any], bool]] = []
    at: dict[tuple[str, str], int] = {}
    for raw in parameters:
        parameter = resolved(document, raw)
        place, named = str(parameter.get("in")), str(parameter.get("name"))
        if place == "cookie" or (place == "header" and named.lower() in _OWN_HEADERS):
            if parameter.get("required") and place == "cookie":
                raise SpecRefused(f"the cookie `{named}` is required", "Leave the operation out")
            continue
        style = str(parameter.get("style") or ("form" if place == "query" else "simple"))
        found = Placed(place, named, style, bool(parameter.get("explode", style == "form")))  # type: ignore[arg-type]
        schema: dict[str, Any] = dict(parameter.get("schema") or {"type": "string"})
        if "description" in parameter and "$ref" not in schema:
            schema.setdefault("description", parameter["description"])
        entry = (found, schema, place == "path" or bool(parameter.get("required")))
        # An operation's own parameter stands over its path's of the same name and place.
        if (place, named) in at:
            wanted[at[place, named]] = entry
        else:
            at[place, named] = len(wanted)
            wanted.append(entry)
    body, whole = _body(document, one)
    wanted += body
    times: dict[str, int] = {}
    for found, _, _ in wanted:
        times[found.name] = times.get(found.name, 0) + 1
    properties: dict[str, Any] = {}
    placed: dict[str, Placed] = {}
    required = []
    for found, asked, needed in wanted:
        name = f"{found.name}_{found.place}" if times[found.name] > 1 else found.name
        properties[name], placed[name] = asked, found
        if needed:
            required.append(name)
    flat = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return standing_alone(document, flat), placed, whole


def _body(
    document: Mapping[str, Any], one: Mapping[str, Any]
) -> tuple[list[tuple[Placed, Mapping[str, Any], bool]], bool]:
    """What goes into the body: its properties by themselves where it is a plain object, else one value named `body`."""
    request = resolved(document, one.get("requestBody") or {})
    kinds = request.get("content") or {}
    if not kinds:
        return [], False
    kind = next((k for k in kinds if str(k).split(";")[0].strip().endswith("json")), None)
    if kind is None:
        raise SpecRefused(
            f"its body is {', '.join(map(str, kinds))}", "Only JSON bodies can be asked for; leave it out"
        )
    schema = kinds[kind].get("schema") or {}
    plain = resolved(document, schema)
    needed = bool(request.get("required"))
    combined = any(key in plain for key in ("allOf", "anyOf", "oneOf", "nullable"))
    combined = combined or plain.get("additionalProperties", False) is not False
    if plain.get("type") != "object" or not plain.get("properties") or combined:
        return [(Placed("body", "body"), schema, needed)], True
    must = plain.get("required") or ()
    shut = {n for n, p in plain["properties"].items() if (resolved(document, p) or {}).get("readOnly") is True}
    names = [name for name in plain["properties"] if name not in shut]
    return [(Placed("body", n), plain["properties"][n], needed and n in must) for n in names], False


def _plain(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]+", "_", name).strip("_").lower() if " /" in name else name


# --- asking -----------------------------------------------------------------------------------------------------------


def request_of(operation: Operation, arguments: Mapping[str, Any]) -> httpx2.Request:
    """The request for a call. Raises `ValueError`, in words for the model, for a value that cannot stand in a path."""
    path, query, headers = operation.path, list[tuple[str, str]](), dict(operation.headers)
    body: dict[str, Any] = {}
    for name, value in arguments.items():
        placed = operation.placed[name]
        if placed.place == "path":
            path = path.replace("{" + placed.name + "}", _segment(name, value))
        elif placed.place == "query":
            query += _query(placed, value)
        elif placed.place == "header":
            headers[placed.name] = re.sub(r"[\r\n\x00]", " ", _simple(value))
        else:
            body[placed.name] = value
    if "{" in path:
        raise ValueError(f"a value for {path[path.index('{') :]} is missing")
    sent = body.get("body") if operation.whole else body
    has_body = bool(body) or any(placed.place == "body" for placed in operation.placed.values())
    content = json.dumps(sent).encode() if has_body else None
    kind = {"Content-Type": "application/json"} if has_body else {}
    shown = {"Accept": "application/json, text/*;q=0.5", "Accept-Encoding": "identity", **kind, **headers}
    return httpx2.Request(
        operation.method.upper(),
        operation.server + path,
        params=httpx2.QueryParams(tuple(query)),
        headers=shown,
        content=content,
    )


def _segment(name: str, value: Any) -> str:
    """A value in a path. `..` would climb out of it, and no encoder stops that: `quote("..")` is `..`."""
    text = _simple(value)
    plain = text
    for _ in range(3):
        plain = unquote(plain)
    if plain.strip(". \t") == "" or any(part in (".", "..") for part in re.split(r"[/\\]", plain)):
        raise ValueError(f"{name} cannot be {text!r}")
    return quote(text, safe="")


def _query(placed: Placed, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, Mapping):
        if placed.style == "deepObject":
            return [(f"{placed.name}[{key}]", _simple(one)) for key, one in value.items()]
        if placed.explode:
            return [(str(key), _simple(one)) for key, one in value.items()]
        return [(placed.name, ",".join(f"{key},{_simple(one)}" for key, one in value.items()))]
    if isinstance(value, list):
        if placed.explode:
            return [(placed.name, _simple(one)) for one in value]
        joint = {"spaceDelimited": " ", "pipeDelimited": "|"}.get(placed.style, ",")
        return [(placed.name, joint.join(map(_simple, value)))]
    return [(placed.name, _simple(value))]


def _simple(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(map(_simple, value))
    if isinstance(value, Mapping):
        return ",".join(f"{key},{_simple(one)}" for key, one in value.items())
    return "" if value is None else str(value)


async def _ask(operation: Operation, arguments: Mapping[str, Any], connect: Connect) -> Answered:
    try:
        request = request_of(operation, arguments)
    except ValueError as fault:
        return failed(str(fault))
    try:
        async with httpx2.AsyncClient(timeout=_REQUEST_S, transport=connect(operation), trust_env=False) as client:
            response = await client.send(request, stream=True)
            body = b""
            async for data in response.aiter_bytes():
                body += data
                if len(body) > _ANSWER_BYTES:
                    break
            await response.aclose()
    except UrlRefused as fault:
        return failed(f"it may not be asked: {fault}")
    except (httpx2.HTTPError, OSError) as fault:
        return failed(f"it could not be reached ({type(fault).__name__})")
    text = body[:_ANSWER_BYTES].decode("utf-8", errors="replace").strip()
    if response.status_code >= 300:
        return failed(f"it answered with status {response.status_code}: {text[:500]}")
    return Answered(text or "done")


def _connect(
    private_hosts: frozenset[str], send: Callable[[httpx2.Request], Any] | None, operation: Operation
) -> httpx2.AsyncBaseTransport:
    if send:
        return httpx2.MockTransport(send)
    verify = _context() if operation.server.startswith("https:") else False
    return GuardedTransport(private_hosts, inner=httpx2.AsyncHTTPTransport(verify=verify, trust_env=False))


@lru_cache(maxsize=1)
def _context() -> ssl.SSLContext:
    return ssl.create_default_context()
