"""Signing in against a provider that the test runs: who somebody is, what they may write, and who stays out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI, Request
from starlette.responses import JSONResponse

from database import Database
from firstword.serving import serving
from firstword.testing.identity import IdentityProvider
from grant import GrantRefused, Signer
from web.signin import Identity, Removed, create_signin, keep_signed_in, session_of
from web.signin.visitor import SIGNED_IN_S, read, safe_path, visitor_of, write

SECRET = "a secret for the tests of signing in, and no other"


@dataclass
class Site:
    url: str
    provider: IdentityProvider
    removed: Removed

    def browser(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(base_url=self.url, trust_env=False, follow_redirects=True)


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    provider = IdentityProvider("firstword", "a client's secret")
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'people.db'}")
    removed = Removed(database)
    await removed.open()
    app = FastAPI()

    async with serving(lambda _url: provider.app) as provider.base_url:

        def make(url: str) -> Any:
            owners = frozenset({"grace@example.org", "owner-subject"})
            identity = Identity(provider.base_url, "firstword", "a client's secret", url, owners)
            app.include_router(create_signin(identity, removed))
            asked = session_of(removed)

            @app.api_route("/app/voice/guide/start", methods=["POST"])
            async def start(request: Request) -> JSONResponse:
                person = await asked(request)
                return JSONResponse({"subject": person.subject if person else None})

            @app.get("/app/voice/guide")
            async def page() -> JSONResponse:
                return JSONResponse({"page": "guide"})

            return keep_signed_in(app, SECRET, secure=False)

        async with serving(make) as url:
            yield Site(url, provider, removed)
    await database.close()


def csrf(browser: httpx2.AsyncClient) -> dict[str, str]:
    return {"X-Firstword-Csrf": browser.cookies.get("firstword_csrf") or ""}


async def test_a_page_leads_to_the_provider_and_back_to_itself(site: Site) -> None:
    async with site.browser() as browser:
        page = await browser.get("/app/voice/guide")
        assert page.json() == {"page": "guide"}
        assert [str(one.url.path) for one in page.history] == [
            "/app/voice/guide",
            "/signin",
            "/authorize",
            "/signin/back",
        ]
        assert (await browser.get("/app/me")).json() == {"subject": "ada", "name": "Ada", "role": "person"}
        started = await browser.post("/app/voice/guide/start", headers=csrf(browser))
        assert started.json() == {"subject": "ada"}


async def test_nobody_is_nobody(site: Site) -> None:
    async with site.browser() as browser:
        assert (await browser.get("/app/me")).status_code == 401
        assert (await browser.post("/app/voice/guide/start")).json() == {"subject": None}
        assert (await browser.put("/app/people/removed/ada")).status_code == 401


@pytest.mark.parametrize("fault", ["nonce", "audience", "expired", "key", "token"])
async def test_what_the_provider_did_not_sign_for_us_now_signs_nobody_in(site: Site, fault: str) -> None:
    site.provider.faults.add(fault)
    async with site.browser() as browser:
        refused = await browser.get("/signin")
        assert refused.status_code == 400
        assert refused.json()["error"]["code"] == "sign_in_failed"
        assert (await browser.get("/app/me")).status_code == 401


async def test_an_answer_that_nobody_asked_for_signs_nobody_in(site: Site) -> None:
    async with site.browser() as browser:
        assert (await browser.get("/signin/back?code=x&state=y")).status_code == 400
        assert (await browser.get("/signin/back?error=access_denied")).status_code == 400
        assert (await browser.get("/app/me")).status_code == 401


async def test_a_provider_that_is_away_is_told_in_words(site: Site) -> None:
    app = FastAPI()
    identity = Identity("http://127.0.0.1:1", "firstword", "a client's secret", "http://127.0.0.1")
    app.include_router(create_signin(identity, site.removed))
    transport = httpx2.ASGITransport(app=keep_signed_in(app, SECRET, secure=False))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as browser:
        away = await browser.get("/signin")
        assert away.status_code == 502
        assert "try again later" in away.json()["error"]["message"]


@pytest.mark.parametrize("said", ["", "x", "é"])
async def test_every_write_by_cookie_says_the_token_of_its_page(site: Site, said: str) -> None:
    async with site.browser() as browser:
        await browser.get("/signin")
        for method, path in (
            ("POST", "/app/voice/guide/start"),
            ("POST", "/signout"),
            ("PUT", "/app/people/removed/x"),
        ):
            refused = await browser.request(method, path, headers=[(b"x-firstword-csrf", said.encode())])
            assert refused.status_code == 403, path
            assert refused.json()["error"]["code"] == "csrf"
        assert (await browser.get("/app/me")).status_code == 200


async def test_a_cookie_that_was_touched_is_none(site: Site) -> None:
    async with site.browser() as browser:
        await browser.get("/signin")
        held = browser.cookies.get("firstword_session") or ""
        browser.cookies.set("firstword_session", held[:-4] + "AAAA", domain="127.0.0.1")
        async with httpx2.AsyncClient(base_url=site.url, trust_env=False) as other:
            told = await other.get("/app/me", headers={"Cookie": f"firstword_session={held[:-4]}AAAA"})
            assert told.status_code == 401
            assert (await other.get("/app/me", headers={"Cookie": f"firstword_session={held}"})).status_code == 200


async def test_the_cookie_is_signed_same_site_and_no_scripts_business(site: Site) -> None:
    async with site.browser() as browser:
        back = (await browser.get("/signin?next=/app/me")).history[-1]
        cookies = [value.lower() for name, value in back.headers.multi_items() if name.lower() == "set-cookie"]
        session = next(one for one in cookies if one.startswith("firstword_session="))
        assert "httponly" in session
        assert "samesite=lax" in session
        assert "samesite=strict" in next(one for one in cookies if one.startswith("firstword_csrf="))


async def test_the_owner_removes_a_person_who_is_signed_out_and_stays_out(site: Site) -> None:
    async with site.browser() as ada, site.browser() as grace:
        await ada.get("/signin?next=/app/me")
        site.provider.claims = {"sub": "grace", "email": "Grace@example.org", "email_verified": True}
        assert (await grace.get("/signin?next=/app/me")).json()["role"] == "owner"
        assert (await ada.put("/app/people/removed/grace", headers=csrf(ada))).status_code == 404
        assert (await grace.put("/app/people/removed/ada", headers=csrf(grace))).status_code == 204
        assert (await grace.get("/app/people/removed")).json() == {"removed": ["ada"]}
        assert (await ada.get("/app/me")).status_code == 401
        site.provider.claims = {"sub": "ada"}
        again = await ada.get("/signin?next=/app/me")
        assert again.status_code == 403
        assert "removed" in again.json()["error"]["message"]
        assert (await ada.get("/app/me")).status_code == 401
        assert (await grace.delete("/app/people/removed/ada", headers=csrf(grace))).status_code == 204
        assert (await ada.get("/signin?next=/app/me")).json()["subject"] == "ada"


async def test_signing_out_is_for_good(site: Site) -> None:
    async with site.browser() as browser:
        await browser.get("/signin?next=/app/me")
        assert (await browser.post("/signout", headers=csrf(browser))).status_code == 204
        assert (await browser.get("/app/me")).status_code == 401


def test_an_address_that_nobody_verified_makes_no_owner() -> None:
    owners = frozenset({"ada@example.org", "sub-1"})
    for claims, role in (
        ({"sub": "x", "email": "ada@example.org", "email_verified": True}, "owner"),
        ({"sub": "x", "email": "ada@example.org"}, "person"),
        ({"sub": "x", "email": "ada@example.org", "email_verified": "true"}, "person"),
        ({"sub": "sub-1"}, "owner"),
    ):
        assert visitor_of(claims, owners, now_s=0.0).role == role


def test_who_signed_in_yesterday_signs_in_again_and_nonsense_is_nobody() -> None:
    session: dict[str, Any] = {"left": "over"}
    write(session, visitor_of({"sub": "ada"}, frozenset(), now_s=1_000.0))
    assert "left" not in session
    assert read(session, now_s=1_001.0) is not None
    assert read(session, now_s=1_000.0 + SIGNED_IN_S) is None
    assert read({"visitor": {"subject": "ada"}}) is None
    assert read({"visitor": "ada"}) is None


@pytest.mark.parametrize(
    ("asked", "goes"),
    [
        ("/app/voice/guide", "/app/voice/guide"),
        ("https://evil.example/", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/a\\b", "/"),
        ("/a\r\nSet-Cookie: x", "/"),
        ("", "/"),
    ],
)
def test_after_signing_in_nobody_is_sent_elsewhere(asked: str, goes: str) -> None:
    assert safe_path(asked) == goes


async def test_nobody_who_signs_in_is_in_a_log(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    caplog.set_level("DEBUG", "firstword")
    site.provider.claims = {"sub": "canary-sub", "name": "canary-name", "email": "canary@example.org"}
    async with site.browser() as browser:
        await browser.get("/signin?next=/app/me")
        held = browser.cookies.get("firstword_session") or ""
        site.provider.faults.add("nonce")
        await browser.get("/signin")
    # The test's own client tells of its requests too; what the server wrote is everything else.
    written = "\n".join(line.getMessage() for line in caplog.records if not line.name.startswith("httpx"))
    assert "canary" not in written
    assert held not in written
    assert "a client's secret" not in written


async def seen_by(removed: Removed, subject: str, *, out: bool) -> None:
    async with asyncio.timeout(30):
        while (subject in removed.seen) is not out:
            await asyncio.sleep(0.01)


async def test_a_removed_persons_grant_opens_nothing_here_at_once_and_elsewhere_soon(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'people.db'}"
    first, second = Database(url), Database(url)
    here, elsewhere = Removed(first), Removed(second, look_every_s=0.02)
    signers = [Signer(SECRET, removed=each.seen) for each in (here, elsewhere)]
    grant = signers[0].mint(bot="guide", subject="ada", room="r")
    try:
        await here.open()
        await elsewhere.open()
        assert [signer.verify(grant).subject for signer in signers] == ["ada", "ada"]
        await here.remove("ada", 1.0)
        with pytest.raises(GrantRefused):
            signers[0].verify(grant)
        await seen_by(elsewhere, "ada", out=True)
        with pytest.raises(GrantRefused):
            signers[1].verify(grant)
        await here.restore("ada")
        await seen_by(elsewhere, "ada", out=False)
        assert [signer.verify(grant).subject for signer in signers] == ["ada", "ada"]
    finally:
        await here.close()
        await elsewhere.close()
        await first.close()
        await second.close()


async def test_whoever_was_out_stays_out_while_the_database_is_away(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'people.db'}"
    database, other = Database(url), Database(url)
    removed, elsewhere = Removed(database, look_every_s=0.01), Removed(other)
    asked = asyncio.Queue[None]()

    async def nobody(*_: object, **__: object) -> None:
        asked.put_nowait(None)
        raise ConnectionRefusedError

    try:
        await removed.open()
        await removed.remove("ada", 1.0)
        there, database.act = database.act, nobody  # type: ignore[assignment, method-assign]
        async with asyncio.timeout(30):
            for _ in range(3):
                await asked.get()
        assert removed.seen == {"ada"}
        await elsewhere.remove("grace", 2.0)
        await elsewhere.restore("ada")
        database.act = there  # type: ignore[method-assign]
        await seen_by(removed, "grace", out=True)
        assert removed.seen == {"grace"}
    finally:
        await removed.close()
        await database.close()
        await other.close()
