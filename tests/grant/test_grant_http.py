"""A route that only a grant opens: one status and one body for every wrongness, and odd bytes are no fault of ours."""

from collections.abc import Awaitable, Callable
from typing import Annotated

import httpx2
import pytest
from fastapi import APIRouter, Depends, FastAPI, Request
from starlette.responses import PlainTextResponse, Response

import grant
from grant import BareGrantRoute, Grant, GrantRoute, Signer, StraightApp, bearer, error_response, granted, holder

SECRET = "a-secret-of-more-than-thirty-two-characters"


def client(signer: Signer) -> httpx2.AsyncClient:
    router = APIRouter(route_class=GrantRoute)

    async def whose(held: Annotated[Grant, Depends(holder(signer))]) -> str:
        return held.bot

    router.add_api_route("/whose", whose)
    app = FastAPI()
    app.include_router(router)
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://door")


async def test_a_grant_opens_the_route_and_says_whose_it_is() -> None:
    signer = Signer(SECRET)
    token = signer.mint(bot="guide", subject="owner", room="r")
    async with client(signer) as door:
        answer = await door.get("/whose", headers={"Authorization": f"bearer  {token}"})
    assert answer.json() == "guide"


@pytest.mark.parametrize(
    "header",
    [None, b"", b"Bearer", b"Bearer ", b"Basic eDp5", b"Bearer sha256=\xe9", b"Bearer \xff\xfe.\x80", b"Bearer a.b.c"],
    ids=["none", "empty", "no token", "blank token", "other scheme", "DT5", "not text", "dots"],
)
async def test_every_bad_grant_gets_one_status_and_one_body(header: bytes | None) -> None:
    async with client(Signer(SECRET)) as door:
        answer = await door.get("/whose", headers=[] if header is None else [(b"authorization", header)])
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["error"] == {
        "message": "this grant is not valid (any more); ask for another one and try again",
        "type": "authentication_error",
        "param": None,
        "code": "invalid_api_key",
    }


def test_a_header_comes_before_a_subprotocol() -> None:
    offered = ["realtime", "openai-insecure-api-key.from-protocol"]
    assert bearer({"authorization": "Bearer from-header"}, offered) == "from-header"
    assert bearer({}, offered) == "from-protocol"
    assert bearer({}, ["realtime"]) == ""


def bare(app: FastAPI, signer: Signer) -> httpx2.AsyncClient:
    router = APIRouter(route_class=BareGrantRoute)

    async def whose(request: Request) -> Response:
        held = granted(signer, request.headers)
        if await request.body() == b"break":
            raise ZeroDivisionError
        return PlainTextResponse(held.bot)

    router.add_api_route("/whose", whose, methods=["POST"])
    app.include_router(router)
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://door")


@pytest.mark.parametrize("path", ["/whose", "/whose/", "/whom"])
@pytest.mark.parametrize("method", ["POST", "GET", "OPTIONS"])
@pytest.mark.parametrize(("granted_", "body"), [(True, b"who?"), (True, b"break"), (False, b"who?")])
async def test_straight_to_a_route_is_answered_as_through_fastapi(
    path: str, method: str, granted_: bool, body: bytes
) -> None:
    signer = Signer(SECRET)
    token = signer.mint(bot="guide", subject="owner", room="r") if granted_ else "none"
    answers = []
    for app in (FastAPI(), StraightApp()):
        async with bare(app, signer) as door:
            one = await door.request(method, path, content=body, headers={"Authorization": f"Bearer {token}"})
            answers.append((one.status_code, one.headers, one.content))
    assert answers[0] == answers[1]


async def test_an_app_with_a_middleware_of_its_own_has_it_before_every_route() -> None:
    signer = Signer(SECRET)
    token, seen = signer.mint(bot="guide", subject="owner", room="r"), []
    app = StraightApp()

    @app.middleware("http")
    async def sees(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        seen.append(request.url.path)
        return await call_next(request)

    async with bare(app, signer) as door:
        answer = await door.post("/whose", headers={"Authorization": f"Bearer {token}"})
    assert (answer.text, seen) == ("guide", ["/whose"])


def test_an_error_has_the_shape_that_openai_clients_read() -> None:
    answer = error_response(429, "wait", type_="rate_limit_error", code="busy", headers={"Retry-After": "2"})
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "2"
    assert bytes(answer.body) == b'{"error":{"message":"wait","type":"rate_limit_error","param":null,"code":"busy"}}'


def test_the_public_names_are_these() -> None:
    assert sorted(grant.__all__) == [
        "BareGrantRoute",
        "Grant",
        "GrantRefused",
        "GrantRoute",
        "LONGEST_S",
        "Signer",
        "StraightApp",
        "bearer",
        "error_body",
        "error_response",
        "granted",
        "holder",
        "refusal",
    ]
