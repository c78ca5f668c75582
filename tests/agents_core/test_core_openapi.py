"""OpenAPI specs to tools: what is kept, what is refused, and what is really asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import jsonschema_rs
import pytest
from core_house import BOT, NoDesk, Told, ask, content, told
from hypothesis import given
from hypothesis import strategies as st

from agents_core import Core, Whole
from agents_core.loop import Call
from agents_core.site.openapi import tools_of
from agents_core.site.schema import SpecRefused
from agents_core.tools import Handed, Tool, Toolbox

HANDED = Handed("run-1", "c1", "guide", "voice", "r1", "en", NoDesk())
NODE = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}}}}


def spec(paths: dict[str, Any], *, schemas: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "openapi": "3.0.3",
        "info": {"title": "t", "version": "1"},
        "servers": [{"url": "https://api.example/v1"}],
        "paths": paths,
        "components": {"schemas": schemas or {}},
        **more,
    }


def one(method: str, path: str, *, parameters: Any = (), body: Any = None, **more: Any) -> dict[str, Any]:
    operation: dict[str, Any] = {"operationId": "op", "summary": "what it does", "parameters": list(parameters), **more}
    if body is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return spec({path: {method: operation}})


def param(name: str, place: str = "query", schema: Any = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": schema or {"type": "string"}, **more}


class Served:
    """Keeps what was asked, and answers."""

    def __init__(self, status: int = 200, text: str = '{"ok": true}') -> None:
        self.requests: list[httpx2.Request] = []
        self._status, self._text = status, text

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        return httpx2.Response(self._status, text=self._text)


def tool(document: dict[str, Any], served: Served | None = None, **more: Any) -> Tool:
    (made,) = tools_of("shop", document, ["op"], send=served, **more)
    jsonschema_rs.validator_for(dict(made.parameters))  # it stands alone
    return made


async def asked(document: dict[str, Any], **arguments: Any) -> tuple[str, list[httpx2.Request]]:
    served = Served()
    made = tool(document, served)
    answered = await Toolbox((made,)).call(Call("c1", made.name, json.dumps(arguments)), HANDED)
    return answered.text, served.requests


@pytest.mark.parametrize(
    "schemas",
    [
        pytest.param({"Node": NODE}, id="OT1-itself"),
        pytest.param({"Node": {"allOf": [{"$ref": "#/components/schemas/Node"}]}}, id="OT1-through-allOf"),
        pytest.param(
            {"Node": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Node"}}}, id="OT1-a-map"
        ),
        pytest.param(
            {
                "Node": {"oneOf": [{"$ref": "#/components/schemas/B"}]},
                "B": {"items": {"$ref": "#/components/schemas/Node"}},
            },
            id="OT1-in-two-steps",
        ),
    ],
)
def test_ot1_a_schema_that_names_itself_is_kept_as_it_is(schemas: dict[str, Any]) -> None:
    document = one("post", "/x", body={"$ref": "#/components/schemas/Node"})
    document["components"]["schemas"] = schemas
    made = tool(document)
    assert "#/components" not in json.dumps(made.parameters)
    assert "Node" in made.parameters["$defs"] or made.parameters["properties"]["kids"]


def test_ot3_null_is_allowed_where_it_was_said_to_be() -> None:
    made = tool(one("get", "/x", parameters=[param("a", schema={"type": "string", "nullable": True, "enum": ["a"]})]))
    assert made.parameters["properties"]["a"] == {"type": ["string", "null"], "enum": ["a", None]}


async def test_ot5_two_arguments_of_one_name_keep_their_places() -> None:
    document = one(
        "put",
        "/u/{id}",
        parameters=[param("id", "path", required=True), param("body")],
        body={"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
    )
    assert tool(document).parameters["required"] == ["id_path", "id_body"]
    _, (request,) = await asked(document, id_path="7", id_body=8, body="q")
    assert (request.url.path, request.url.query, json.loads(request.content)) == ("/v1/u/7", b"body=q", {"id": 8})


def test_ot7_the_same_operation_of_two_files_is_two_tools() -> None:
    names = [tools_of(prefix, one("get", "/x"), ["op"])[0].name for prefix in ("shop", "club")]
    assert names == ["shop_op", "club_op"]


@pytest.mark.parametrize("value", ["..", ".", "%2e%2e", "%252e%252e", "a/../b", "a\\..\\b", "", " ", ". ."])
async def test_ot9_no_value_leaves_its_place_in_the_address(value: str) -> None:
    text, requests = await asked(one("get", "/c/{name}/x", parameters=[param("name", "path")]), name=value)
    assert text.startswith("error: name cannot be")
    assert requests == []


@given(st.text(min_size=1, max_size=30))
def test_ot9_whatever_stands_in_a_path_the_rest_of_the_path_stays(value: str) -> None:
    from agents_core.site.openapi import Operation, Placed, request_of

    operation = Operation("get", "/c/{name}/x", "https://api.example/v1", {"name": Placed("path", "name")}, False, {})
    try:
        request = request_of(operation, {"name": value})
    except (ValueError, UnicodeEncodeError):
        return
    raw = request.url.raw_path.split(b"?")[0]
    assert raw.startswith(b"/v1/c/")
    assert raw.endswith(b"/x")
    assert raw.count(b"/") == 4
    assert request.url.host == "api.example"


def test_ot11_a_chain_of_references_keeps_every_level() -> None:
    ref = {"$ref": "#/components/schemas/Two"}
    document = one("post", "/x", body={"type": "object", "properties": {"one": {"$ref": "#/components/schemas/One"}}})
    document["components"]["schemas"] = {
        "One": {"type": "object", "properties": {"two": ref}},
        "Two": {"type": "object", "properties": {"three": {"$ref": "#/components/schemas/Three"}}},
        "Three": {"type": "object", "properties": {"deep": {"type": "integer", "maximum": 3}}},
    }
    made = tool(document)
    checker = jsonschema_rs.validator_for(dict(made.parameters))
    assert not checker.is_valid({"one": {"two": {"three": {"deep": 4}}}})
    assert checker.is_valid({"one": {"two": {"three": {"deep": 3}}}})


LIST, OBJECT = {"type": "array", "items": {"type": "string"}}, {"type": "object"}


@pytest.mark.parametrize(
    ("parameter", "value", "query"),
    [
        pytest.param(param("a", schema=LIST), ["x", "y"], "a=x&a=y", id="OT13-exploded"),
        pytest.param(param("a", schema=LIST, explode=False), ["x", "y"], "a=x%2Cy", id="OT13-not-exploded"),
        pytest.param(
            param("a", schema=LIST, style="pipeDelimited", explode=False), ["x", "y"], "a=x%7Cy", id="OT13-pipes"
        ),
        pytest.param(param("a", schema=OBJECT, style="deepObject"), {"k": "v"}, "a%5Bk%5D=v", id="OT13-deep-object"),
        pytest.param(param("a", schema=OBJECT), {"k": "v"}, "k=v", id="OT13-object"),
        pytest.param(param("a", schema={"type": "boolean"}), True, "a=true", id="a-boolean"),
        pytest.param(param("a"), "x&b=1", "a=x%26b%3D1", id="no-second-parameter"),
    ],
)
async def test_ot13_how_arguments_are_written(parameter: Any, value: Any, query: str) -> None:
    _, (request,) = await asked(one("get", "/x", parameters=[parameter]), a=value)
    assert request.url.query.decode() == query


async def test_ot13_headers_are_the_owners_and_a_body_is_whole_where_it_is_no_plain_object() -> None:
    document = one(
        "post",
        "/x",
        parameters=[param("Authorization", "header"), param("X-Trace", "header"), param("sid", "cookie")],
        body={"type": "array", "items": {"type": "integer"}},
    )
    served = Served()
    made = tool(document, served, headers={"Authorization": "Bearer key"})
    assert sorted(made.parameters["properties"]) == ["X-Trace", "body"]
    arguments = json.dumps({"X-Trace": "a\r\nAuthorization: evil", "body": [1]})
    await Toolbox((made,)).call(Call("c1", "shop_op", arguments), HANDED)
    (request,) = served.requests
    assert (request.headers["authorization"], request.headers["x-trace"]) == ("Bearer key", "a  Authorization: evil")
    assert json.loads(request.content) == [1]


def test_ot13_read_only_properties_are_not_asked_for_and_path_parameters_are_shared() -> None:
    document = spec(
        {
            "/u/{id}": {
                "parameters": [
                    param("id", "path", schema={"type": "integer"}),
                    param("lang", schema={"type": "integer"}),
                ],
                "patch": {
                    "operationId": "op",
                    "parameters": [param("lang")],
                    "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/U"}}}},
                },
            }
        },
        schemas={
            "U": {
                "type": "object",
                "required": ["made", "name"],
                "properties": {
                    "made": {"type": "string", "readOnly": True},
                    "name": {"type": "string", "default": "x"},
                },
            }
        },
    )
    made = tool(document)
    assert sorted(made.parameters["properties"]) == ["id", "lang", "name"]
    assert made.parameters["properties"]["lang"] == {"type": "string"}
    assert (made.parameters["required"], made.repeats) == (["id"], False)


async def test_an_operation_without_a_name_is_allowed_by_its_method_and_path() -> None:
    document = spec({"/a/{b}": {"get": {"parameters": [param("b", "path")]}}})
    (made,) = tools_of("shop", document, ["GET /a/{b}"])
    assert (made.name, made.repeats) == ("shop_get_a_b", True)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        pytest.param(lambda d: d.pop("openapi"), "no OpenAPI spec", id="no-spec"),
        pytest.param(lambda d: d.update(openapi="3.2.0"), "OpenAPI 3.2.0", id="a-later-version"),
        pytest.param(lambda d: d.update(swagger="2.0", openapi=""), "OpenAPI 2.0", id="an-older-version"),
        pytest.param(lambda d: d.pop("paths"), "no operation `op`", id="no-paths"),
        pytest.param(lambda d: d.update(servers=[{"url": "/v1"}]), "no whole address", id="OT13-relative-server"),
        pytest.param(lambda d: d.update(servers=[{"url": "http://u:p@x"}]), "no whole address", id="a-password"),
        pytest.param(
            lambda d: d["paths"]["/x"]["get"].update(parameters=[{"$ref": "http://169.254.169.254/x"}]),
            "points outside the file",
            id="OT13-reference-to-an-address",
        ),
        pytest.param(
            lambda d: d["paths"]["/x"]["get"].update(parameters=[param("a", schema={"$ref": "other.yaml#/A"})]),
            "points outside the file",
            id="OT13-reference-to-a-file",
        ),
        pytest.param(
            lambda d: d["paths"]["/x"]["get"].update(parameters=[{"$ref": "#/components/parameters/no"}]),
            "names nothing",
            id="a-reference-to-nothing",
        ),
        pytest.param(
            lambda d: d["paths"].update(
                {"/x": {"get": {"operationId": "op", "parameters": [param("s", "cookie", required=True)]}}}
            ),
            "cookie",
            id="OT13-a-cookie-that-must-be",
        ),
        pytest.param(
            lambda d: d["paths"].update({"/{y}": d["paths"].pop("/x")}),
            "no parameter",
            id="a-place-without-a-parameter",
        ),
        pytest.param(
            lambda d: d["paths"]["/x"]["get"].update(requestBody={"content": {"text/csv": {}}}),
            "text/csv",
            id="no-JSON",
        ),
    ],
)
def test_a_spec_that_cannot_be_used_is_refused_in_words(change: Callable[[dict[str, Any]], Any], what: str) -> None:
    document = one("get", "/x")
    change(document)
    with pytest.raises(SpecRefused, match=what):
        tools_of("shop", document, ["op"])


def test_ot13_server_variables_have_their_defaults_and_the_owner_may_name_another() -> None:
    document = one("get", "/x")
    document["servers"] = [{"url": "https://{where}.example", "variables": {"where": {"default": "eu"}}}]
    assert tool(document)
    document["servers"] = []
    assert tool(document, server="http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("status", "text"),
    [
        pytest.param(404, "error: it answered with status 404: gone", id="an-error-is-for-the-model-to-read"),
        pytest.param(302, "error: it answered with status 302: gone", id="a-redirect-is-not-followed"),
    ],
)
async def test_what_comes_back_badly_is_said(status: int, text: str) -> None:
    made = tool(one("get", "/x"), Served(status, "gone"))
    assert (await Toolbox((made,)).call(Call("c1", "shop_op", ""), HANDED)).text == text


HERE = frozenset({"127.0.0.1"})


async def test_nobody_at_the_address_is_an_error_for_the_model() -> None:
    (made,) = tools_of("shop", one("get", "/x"), ["op"], server="http://127.0.0.1:1", private_hosts=HERE)
    said = (await Toolbox((made,)).call(Call("c1", "shop_op", ""), HANDED)).text
    assert said.startswith("error: it could not be reached")


@asynccontextmanager
async def shop() -> AsyncIterator[tuple[str, list[bytes]]]:
    """A shop in our own network, and what it was asked."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nPears")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


@pytest.mark.parametrize(
    ("hosts", "says"),
    [((), "error: it may not be asked: 127.0.0.1 is not on the public internet"), (("127.0.0.1",), "Pears")],
    ids=["not allowed", "allowed by the owner"],
)
async def test_a_server_in_the_owners_network_is_asked_where_the_owner_says_so(
    tmp_path: Path, hosts: tuple[str, ...], says: str
) -> None:
    async with shop() as (url, asked):
        folder = content(tmp_path, guide=BOT.replace("surfaces", "tools: shop\nsurfaces"))
        (folder / "tools").mkdir()
        (folder / "tools" / "shop.json").write_text(json.dumps(one("get", "/x")))
        (folder / "tools" / "shop.md").write_text(f"---\nopenapi: shop.json\noperations: [op]\nserver: {url}\n---\n")
        model = Told([Whole((Call("c1", "shop_op", ""),))], ["Yes."])
        core = await Core.open(
            content=folder,
            database_url=f"sqlite+aiosqlite:///{tmp_path / 'core.db'}",
            providers=[model],
            worker=False,
            private_hosts=hosts,
        )
        await told(core, ask())
        await core.close()
    assert str(model.asked[1].messages[-1]["content"]).startswith(says)
    assert len(asked) == len(hosts)


async def test_a_clouds_own_secrets_are_never_asked_for() -> None:
    host = "169.254.169.254"
    document = one("get", "/latest/meta-data")
    (made,) = tools_of("shop", document, ["op"], server=f"http://{host}", private_hosts=frozenset({host}))
    said = (await Toolbox((made,)).call(Call("c1", "shop_op", ""), HANDED)).text
    assert said == f"error: it may not be asked: {host} leads to a cloud's own secrets, and is never asked"
