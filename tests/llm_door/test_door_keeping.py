"""What stands in front of every door."""

import asyncio
from typing import Any

import httpx2
import pytest
from door_house import SECRET, SILENT, served, until
from door_house import house as plain_house
from fastapi import FastAPI, Request, WebSocket
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

import llm_door
from grant import Signer
from llm_door import BodyLimits, CrowdLimits, Keeping, keep
from llm_door.crowd import Crowd

SMALL = BodyLimits(json_bytes=1000, audio_bytes=5000)


def app(keeping: Keeping | None = None) -> ASGIApp:
    inner = FastAPI()

    async def size(request: Request) -> int:
        return len(await request.body())

    async def form(request: Request) -> int:
        async with request.form() as sent:
            return len(sent)

    async def page() -> HTMLResponse:
        return HTMLResponse("<p>hi")

    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        await socket.close()

    inner.add_api_route("/size", size, methods=["POST"])
    inner.add_api_route("/v1/audio/transcriptions", form, methods=["POST"])
    inner.add_api_route("/", page)
    inner.add_api_websocket_route("/v1/realtime", talk)
    return keep(inner, Signer(SECRET), keeping)


def straight(keeping: Keeping | None = None) -> httpx2.AsyncClient:
    """The app without a server between."""
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app(keeping)), base_url="http://localhost")


async def post(base_url: str, path: str, content: Any, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False) as client:
        return await client.post(base_url + path, content=content, headers=headers)


@pytest.mark.parametrize("chunked", [False, True], ids=["declared", "chunked"])
@pytest.mark.parametrize(
    ("path", "size_bytes", "status"),
    [("/size", 1000, 200), ("/size", 1001, 413), ("/size", 50_000, 413), ("/v1/audio/transcriptions", 5001, 413)],
)
async def test_a_body_past_its_cap_is_a_413(path: str, size_bytes: int, status: int, chunked: bool) -> None:
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n' if "audio" in path else b""
    content = head.ljust(size_bytes, b"x")

    async def pieces() -> Any:
        for at in range(0, size_bytes, 500):
            yield content[at : at + 500]

    kind = {"Content-Type": "multipart/form-data; boundary=b"} if "audio" in path else {}
    async with served(app(Keeping(bodies=SMALL))) as (base_url, _):
        answer = await post(base_url, path, pieces() if chunked else content, **kind)
    assert answer.status_code == status
    if status == 413:
        assert "larger than" in answer.json()["error"]["message"]


async def test_dt9_half_a_body_is_not_waited_for() -> None:
    async with served(app(Keeping(bodies=BodyLimits(body_s=0.05)))) as (base_url, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(base_url.rsplit(":", 1)[1]))
        writer.write(b"POST /size HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf")
        async with asyncio.timeout(30):
            answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"send it again" in answer


async def test_the_deadline_of_a_body_is_not_the_deadline_of_an_answer() -> None:
    """A stream goes on past `body_s`, and its client's leaving is still noticed."""
    keeping = Keeping(bodies=BodyLimits(body_s=0.01))
    async with plain_house(around=lambda inner: keep(inner, Signer(SECRET), keeping), pace=SILENT) as at:
        reader, writer = await asyncio.open_connection("127.0.0.1", at.port)
        body = b'{"stream":true,"messages":[{"role":"user","content":"hang"}]}'
        head = f"Host: localhost\r\nAuthorization: Bearer {at.grant()}\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\n" + head.encode() + body)
        await reader.readuntil(b'"role"')
        await asyncio.sleep(0.03)
        assert at.core.running
        writer.close()
        await until(at.core, lambda: not at.core.running)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8765", 200),
        ("LOCALHOST", 200),
        ("[::1]:80", 200),
        ("evil.example", 421),
        ("localhost.", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1:8765@evil.example", 421),
        ("127.0.0.1/x", 421),
        ("", 421),
        ("[::1", 421),
    ],
)
async def test_the_server_answers_to_its_own_names_alone(host: str, status: int) -> None:
    async with straight() as client:
        answer = await client.get("/", headers={"Host": host})
    assert answer.status_code == status


ORIGINS = [
    ("http://localhost:8765", True),
    ("http://LOCALHOST:8765", True),
    ("https://good.example", True),
    ("https://good.example:443", True),
    ("http://localhost", False),
    ("https://localhost:8765", False),
    ("http://127.0.0.1:8765", False),
    ("http://good.example", False),
    ("https://good.example.evil", False),
    ("https://goodXexample", False),
    ("https://good.example.", False),
    ("https://good.example/path", False),
    ("https://evil@good.example", False),
    ("null", False),
    ("", False),
    ("file://", False),
]


@pytest.mark.parametrize(("origin", "welcome"), ORIGINS)
async def test_a_page_from_elsewhere_neither_writes_nor_opens_a_socket(origin: str, welcome: bool) -> None:
    # A grant does not help a foreign page; without a page it does.
    headers = {"Host": "localhost:8765", "Origin": origin, "Authorization": "Bearer some.grant"}
    async with straight(Keeping(origins=("https://good.example",))) as client:
        assert (await client.post("/size", headers=headers)).status_code == (200 if welcome else 403)
    assert await upgrade(origin) == (200 if welcome else 403)


async def upgrade(origin: str | None, subprotocols: tuple[str, ...] = (), **headers: str) -> int:
    """What a WebSocket from `origin` gets, without a server between: 200 where it is accepted."""
    given = [(name.encode(), value.encode()) for name, value in {"host": "localhost:8765", **headers}.items()]
    if origin is not None:
        given.append((b"origin", origin.encode()))
    scope: Scope = {
        "type": "websocket",
        "path": "/v1/realtime",
        "raw_path": b"/v1/realtime",
        "query_string": b"",
        "root_path": "",
        "scheme": "ws",
        "headers": given,
        "subprotocols": list(subprotocols),
        "client": ("10.0.0.1", 5),
    }
    sent: list[Message] = []
    received = iter([{"type": "websocket.connect"}, {"type": "websocket.disconnect", "code": 1000}])

    async def receive() -> Message:
        return next(received)

    async def send(message: Message) -> None:
        sent.append(message)

    await app(Keeping(origins=("https://good.example",)))(scope, receive, send)
    return 200 if sent[0]["type"] == "websocket.accept" else 403


@pytest.mark.parametrize(
    ("subprotocols", "headers", "status"),
    [
        ((), {}, 403),
        ((), {"cookie": "session=x"}, 403),
        ((), {"authorization": "Bearer a.b"}, 200),
        (("realtime", "openai-insecure-api-key.a.b"), {}, 200),
    ],
    ids=["nothing", "cookie", "bearer", "subprotocol"],
)
async def test_a_socket_without_an_origin_needs_a_grant(
    subprotocols: tuple[str, ...], headers: dict[str, str], status: int
) -> None:
    assert await upgrade(None, subprotocols, **headers) == status


@pytest.mark.parametrize("address", ["/size%00", "/size?bot=%00", "/size?%00=1"])
async def test_a_nul_in_an_address_is_refused_in_words(address: str) -> None:
    async with straight() as client:
        answer = await client.post(address)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
        assert (await client.post("/size?bot=%2500")).status_code == 200


async def test_a_refused_socket_gets_words() -> None:
    async with served(app()) as (base_url, _):
        with pytest.raises(InvalidStatus) as refused:
            async with connect(base_url.replace("http", "ws") + "/v1/realtime", origin="https://evil.example"):  # type: ignore[arg-type]
                pass
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [({}, 200), ({"Cookie": "s=x"}, 403), ({"Sec-Fetch-Site": "cross-site"}, 403), ({"Sec-Fetch-Site": "none"}, 200)],
    ids=str,
)
async def test_a_write_that_names_no_page_may_carry_no_cookie(headers: dict[str, str], status: int) -> None:
    async with straight() as client:
        assert (await client.post("/size", headers=headers)).status_code == status


async def test_a_page_goes_out_with_its_policy() -> None:
    async with served(app()) as (base_url, _), httpx2.AsyncClient(trust_env=False) as client:
        page = await client.get(base_url)
        missing = await client.get(f"{base_url}/nothing")
    assert "script-src 'self';" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    assert page.headers["x-frame-options"] == "DENY"
    assert page.headers["permissions-policy"].startswith("microphone=(self)")
    assert "content-security-policy" not in missing.headers
    assert missing.headers["x-content-type-options"] == "nosniff"


async def test_one_stream_too_many_is_a_429_that_says_when_to_come_back() -> None:
    keeping = Keeping(crowd=CrowdLimits(per_person=2))
    async with plain_house(around=lambda inner: keep(inner, Signer(SECRET), keeping)) as at:
        key = {"Authorization": f"Bearer {at.grant()}"}
        body = {"stream": True, "messages": [{"role": "user", "content": "hang"}]}
        path = f"{at.base_url}/v1/chat/completions"
        async with httpx2.AsyncClient(trust_env=False) as client:
            async with client.stream("POST", path, json=body, headers=key) as one:
                async with client.stream("POST", path, json=body, headers=key) as two:
                    three = await client.post(path, json=body, headers=key)
                    elsewhere = await client.get(f"{at.base_url}/v1/models", headers=key)
                    at.core.go_on.set()
                    assert (one.status_code, two.status_code) == (200, 200)
                    await one.aread()
                    await two.aread()
            after = await client.post(path, json=body, headers=key)
    assert three.status_code == 429
    assert three.headers["retry-after"] == "2"
    assert "2 streams of this person are open already; try again in 2 s" in three.json()["error"]["message"]
    assert elsewhere.status_code == after.status_code == 200


@pytest.mark.parametrize(
    ("limits", "addresses", "says"),
    [
        (CrowdLimits(per_address=2), ["10.0.0.1"] * 3, "2 streams of this address are open already"),
        (CrowdLimits(total=2), ["10.0.0.1", "10.0.0.2", "10.0.0.3"], "the server is busy"),
        (CrowdLimits(per_address=2), ["127.0.0.1"] * 3, ""),
    ],
    ids=["per address", "in all", "our own voice"],
)
async def test_streams_at_once_are_counted_by_address_and_in_all(
    limits: CrowdLimits, addresses: list[str], says: str
) -> None:
    go_on, inside = asyncio.Event(), asyncio.Semaphore(0)

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        inside.release()
        await go_on.wait()
        await PlainTextResponse("an answer")(scope, receive, send)

    kept = keep(slow, Signer(SECRET), Keeping(crowd=limits))

    async def knock(address: str) -> httpx2.Response:
        transport = httpx2.ASGITransport(app=kept, client=(address, 5))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post("/v1/chat/completions")

    *first, last = [asyncio.create_task(knock(address)) for address in addresses]
    for _ in first if says else addresses:
        await inside.acquire()
    if says:
        await asyncio.wait({last})
    go_on.set()
    assert {(await one).status_code for one in first} == {200}
    told = await last
    assert told.status_code == (429 if says else 200)
    assert says in told.text
    assert ("retry-after" in told.headers) is bool(says)


def test_a_place_that_was_never_given_back_grows_old() -> None:
    now = [0.0]
    crowd = Crowd(CrowdLimits(per_person=1, longest_s=10.0), lambda: now[0])
    assert isinstance(crowd.enter("/p", {"person": "a"}), int)
    now[0] = 9.999
    assert crowd.enter("/p", {"person": "a"}) == "1 streams of this person are open already"
    now[0] = 10.0
    assert isinstance(crowd.enter("/p", {"person": "a"}), int)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.sampled_from(["/p", "/q"]), st.booleans())))
@settings(max_examples=100)
def test_no_limit_is_ever_passed_whoever_comes_and_goes(steps: list[tuple[str, str, str, bool]]) -> None:
    limits = CrowdLimits(per_person=2, per_address=3, total=4)
    crowd, inside = Crowd(limits, lambda: 0.0), []
    for person, address, path, leaves in steps:
        if leaves and inside:
            crowd.leave(inside.pop(0)[0])
            continue
        here = [held for held in inside if held[3] == path]
        full = (
            len(here) >= 4
            or sum(held[1] == person for held in here) >= 2
            or sum(held[2] == address for held in here) >= 3
        )
        place = crowd.enter(path, {"person": person, "address": address})
        assert isinstance(place, str) == full
        if isinstance(place, int):
            inside.append((place, person, address, path))
    assert len(crowd) == len(inside)


def test_the_public_names_are_these() -> None:
    assert sorted(llm_door.__all__) == [
        "BodyLimits",
        "Brain",
        "CONTENT_POLICY",
        "CrowdLimits",
        "DoorRefusal",
        "Keeping",
        "Pace",
        "PatientProtocol",
        "Person",
        "RequestRefused",
        "Session",
        "create_door",
        "keep",
        "single_user",
    ]


async def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    over = asyncio.Event()

    def watched(inner: ASGIApp) -> ASGIApp:
        kept = keep(inner, Signer(SECRET))

        async def asgi(scope: Scope, receive: Receive, send: Send) -> None:
            try:
                await kept(scope, receive, send)
            finally:
                over.set()

        return asgi

    async with plain_house(around=watched) as at:
        _, writer = await asyncio.open_connection("127.0.0.1", at.port)
        head = f"Host: localhost\r\nAuthorization: Bearer {at.grant()}\r\nContent-Length: 100\r\n\r\nhalf"
        writer.write(f"POST /v1/chat/completions HTTP/1.1\r\n{head}".encode())
        await writer.drain()
        writer.close()
        async with asyncio.timeout(30):
            await over.wait()
    assert not at.core.asks
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
