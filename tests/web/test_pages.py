"""The addresses: what is served, under which headers, and what a value in a page cannot do."""

from __future__ import annotations

import gzip
import html
import re
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st

import web
from web import BotCard, RoomClient, create_pages
from web.files import StaticFiles
from web.markup import voice_page

GUIDE = BotCard("guide", "Guide", "Ask me anything.", "wave", "en-GB")


def client(*bots: BotCard, **ready: object) -> TestClient:
    app = FastAPI()
    app.include_router(create_pages(lambda: bots, (lambda: ready) if ready else None))
    return TestClient(app)


def test_the_room_offers_these_names() -> None:
    assert sorted(web.__all__) == [
        "Asker",
        "BotCard",
        "RoomClient",
        "VISUALS",
        "Who",
        "create_memories",
        "create_pages",
        "create_threads",
    ]


def test_the_first_page_lists_the_bots_and_leads_to_them() -> None:
    page = client(GUIDE, BotCard("host", "Maître d’"))
    text = page.get("/").text
    assert 'href="/app/voice/guide"' in text
    assert "Maître d’" in text


def test_no_bots_is_said_in_words() -> None:
    assert "no bot here yet" in client().get("/").text


def test_an_unknown_bot_is_a_page_in_words() -> None:
    reply = client(GUIDE).get("/app/voice/<script>")
    assert reply.status_code == 404
    assert "There is no bot named “&lt;script&gt;”" in reply.text


def test_a_bot_that_is_added_later_is_there_without_a_restart() -> None:
    bots: list[BotCard] = []
    app = FastAPI()
    app.include_router(create_pages(lambda: bots))
    page = TestClient(app)
    assert page.get("/app/voice/guide").status_code == 404
    bots.append(GUIDE)
    assert page.get("/app/voice/guide").status_code == 200


@pytest.mark.parametrize("path", ["/", "/app/voice/guide", "/app/voice/nobody"])
def test_pages_run_only_our_scripts_and_are_framed_by_nobody(path: str) -> None:
    reply = client(GUIDE).get(path)
    policy = reply.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert re.findall(r"<script(?![^>]*\bsrc=)", reply.text) == []
    assert re.findall(r"\son\w+=|\sstyle=", reply.text) == []
    assert re.findall(r'(?:src|href)="(?:https?:)?//', reply.text) == []


@given(st.text(min_size=1, max_size=40), st.text(max_size=60), st.lists(st.text(max_size=10), max_size=3).map(tuple))
@settings(max_examples=60)
def test_no_value_of_a_bot_leaves_its_place(name: str, first: str, voices: tuple[str, ...]) -> None:
    plain = voice_page(BotCard("a", "", ""), static="/static", modules=())
    text = voice_page(BotCard("a", name, first, voices=voices), static="/static", modules=())
    assert text.count("<") == plain.count("<")
    assert html.escape(first) in text


def test_an_unknown_shape_becomes_the_first_one() -> None:
    assert 'data-visual="aura"' in voice_page(BotCard("a", "A", visual="cube"), static="/s", modules=())


def test_everything_a_page_names_is_served_and_kept_for_a_year() -> None:
    page = client(GUIDE)
    named = set(re.findall(r'"(/static/[^"]+)"', page.get("/app/voice/guide").text))
    assert len(named) > 10
    for path in named:
        reply = page.get(path)
        assert reply.status_code == 200, path
        assert "immutable" in reply.headers["cache-control"]


def test_a_plain_address_is_asked_for_again_by_its_etag() -> None:
    page = client(GUIDE)
    first = page.get("/static/page.js")
    assert first.headers["cache-control"] == "no-cache"
    assert first.headers["content-type"].startswith("text/javascript")
    again = page.get("/static/page.js", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_client_that_cannot_unpack_gets_it_plain() -> None:
    page = client(GUIDE)
    packed = page.get("/static/style.css", headers={"accept-encoding": "gzip"})
    plain = page.get("/static/style.css", headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.text == plain.text


@pytest.mark.parametrize("path", ["../pages.py", "..%2Fpages.py", "nothing.js", "", "/etc/passwd"])
def test_nothing_outside_the_folder_is_served(path: str) -> None:
    assert client(GUIDE).get(f"/static/{path}").status_code == 404


def test_the_digest_follows_the_files(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("1")
    before = StaticFiles(tmp_path).digest
    (tmp_path / "a.js").write_text("2")
    assert StaticFiles(tmp_path).digest != before


def test_the_first_load_is_under_60_kb_compressed() -> None:
    files = StaticFiles(Path(web.__file__).parent / "static")
    page = gzip.compress(client(GUIDE).get("/app/voice/guide").content)
    assert sum(files.packed_bytes(name) for name in files.names if "/" not in name) + len(page) < 60_000


@pytest.mark.parametrize(("ready", "status"), [(True, 200), (False, 503)])
def test_readyz_tells_what_is_on_its_way(ready: bool, status: int) -> None:
    loading = [] if ready else [{"name": "a", "what": "hearing", "bytes": 1, "total_bytes": 2}]
    reply = client(GUIDE, ready=ready, loading=loading).get("/readyz")
    assert reply.status_code == status
    assert reply.json() == {"ready": ready, "loading": loading}


def test_a_page_that_may_join_rooms_gets_the_client_from_us_and_may_reach_that_server(tmp_path: Path) -> None:
    script = tmp_path / "livekit-client.umd.js"
    script.write_text("globalThis.LivekitClient = {};")
    app = FastAPI()
    app.include_router(create_pages(lambda: [GUIDE], rooms=RoomClient("wss://rooms.example:7443/", script)))
    served = TestClient(app)
    page = served.get("/app/voice/guide")
    assert 'data-rooms="yes"' in page.text
    assert "livekit-client" not in page.text  # fetched when a room is joined, not before
    policy = page.headers["content-security-policy"]
    assert "connect-src 'self' wss://rooms.example:7443 https://rooms.example:7443" in policy
    assert "script-src 'self';" in policy
    base = re.search(r"/static/[0-9a-f]+", page.text)
    assert base is not None
    assert served.get(f"{base[0]}/livekit-client.js").text == script.read_text()
