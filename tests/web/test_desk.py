"""The desk over HTTP: drafts, refusals beside their fields, publishing, undoing, two owners, and who is not one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from desk_house import GUIDE, DeskHouse, desk_house
from sqlalchemy import Connection, inspect

from agents_core import Tally
from agents_core.editing import BODY, FIELDS
from database import Database
from models import Progress, WeightsRefused
from sound.wav import read_recording
from web.desk import Thinker
from web.desk.labels import SECTIONS
from web.desk.tables import MIGRATIONS

API = "/app/desk/api"


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[DeskHouse]:
    async with desk_house(tmp_path) as house:
        yield house


async def form(house: DeskHouse, who: str = "ada", slug: str = "guide") -> dict[str, Any]:
    async with house.client(who) as client:
        return dict((await client.get(f"{API}/bots/{slug}")).json())


async def change(house: DeskHouse, changes: dict[str, Any], who: str = "ada", slug: str = "guide") -> dict[str, Any]:
    async with house.client(who) as client:
        return dict((await client.patch(f"{API}/bots/{slug}/draft", json={"changes": changes})).json())


async def publish(house: DeskHouse, seen: str, who: str = "ada", slug: str = "guide") -> Any:
    async with house.client(who) as client:
        return await client.post(f"{API}/bots/{slug}/publish", json={"seen": seen})


def test_every_field_of_the_grammar_has_one_place_at_the_desk() -> None:
    placed = [key for fields in SECTIONS.values() for key in fields]
    assert sorted(placed) == sorted([*FIELDS, BODY])


async def test_models_and_migrations_agree(database_url: str) -> None:
    database = Database(database_url)
    await database.bring_up(MIGRATIONS)

    def look(db: Connection) -> dict[str, set[str]]:
        return {name: {column["name"] for column in inspect(db).get_columns(name)} for name in MIGRATIONS.tables.tables}

    found = await database.act(look, reads=True)
    await database.close()
    assert found == {name: {each.name for each in table.columns} for name, table in MIGRATIONS.tables.tables.items()}


@pytest.mark.parametrize("who", ["mallory", ""])
async def test_whoever_does_not_own_the_site_finds_no_desk(here: DeskHouse, who: str) -> None:
    await change(here, {"voice.speed": 1.2})
    async with here.client(who) as client:
        for method, path in [
            *[("GET", f"/app/desk{room}") for room in ("", "/bots/guide", "/conversations", "/health")],
            *[("GET", f"{API}{path}") for path in ("/bots", "/bots/guide", "/talks", "/talks/x", "/health")],
            *[("POST", f"{API}/bots/guide/{verb}") for verb in ("publish", "undo", "hear")],
            *[("POST", f"{API}/health/{verb}") for verb in ("ask", "drill", "models/minilm-l6/pull")],
            *[(verb, f"{API}/bots/guide/draft") for verb in ("PATCH", "DELETE")],
            ("GET", f"{API}/health/diagnosis"),
        ]:
            reply = await client.request(method, path, json={} if method != "GET" else None)
            assert reply.status_code == 404, path
            assert "guide" not in reply.text.lower()
        assert "/app/desk" not in (await client.get("/")).text
    assert (await form(here))["draft"] == {"voice.speed": 1.2}
    async with here.client() as client:
        assert 'href="/app/desk"' in (await client.get("/")).text


async def test_bots_are_listed_with_who_what_and_why_not(here: DeskHouse) -> None:
    (here.folder / "bots" / "broken.md").write_text("---\nname: Broken\nsurfaces: [voce]\n---\nYou are broken.\n")

    async def listed() -> dict[str, Any]:
        async with here.client() as client:
            await here.bots.fresh(now=True)
            return {row["slug"]: row for row in (await client.get(f"{API}/bots")).json()["bots"]}

    rows = await listed()
    assert (rows["guide"]["can"], rows["guide"]["who"], rows["guide"]["spends"]) == (True, "anyone", "0.05 an answer")
    assert rows["host"]["who"] == "customers"
    assert not rows["broken"]["can"]
    assert "voce" in rows["broken"]["why"]
    here.thinkers = [Thinker("dear", "big", True, "it costs money, and FIRSTWORD_LIVE is not true")]
    assert "costs money" in (await listed())["guide"]["why"]
    here.ready["ready"] = False
    assert (await listed())["guide"]["why"] == "The models are getting ready."
    here.ready["ready"] = True
    here.thinkers = [Thinker("local", "tiny", False)]
    here.file().write_bytes(GUIDE.replace(b"0.9", b"9"))
    row = (await listed())["guide"]
    assert row["can"]
    assert "last good version" in row["why"]


async def test_a_bad_value_is_refused_beside_its_field_in_the_words_of_the_compile(here: DeskHouse) -> None:
    told = await change(here, {"voice.speed": "fast", "skills": ["nothing-such"], "surfaces": ["support"], "body": ""})
    refused = {each["key"]: each["what"] for each in told["refusals"]}
    assert refused["voice.speed"].startswith("`voice.speed` is `fast`, which is not a number.")
    assert refused["skills"].startswith("there is no skill `nothing-such`")
    assert "`voice:` says how the bot sounds, but `surfaces:` does not have `voice`" in refused["surfaces"]
    assert refused["body"].startswith("the body is empty")
    reply = await publish(here, told["digest"])
    assert reply.status_code == 422
    assert {each["key"] for each in reply.json()["refusals"]} == {"voice.speed", "skills", "surfaces", "body"}
    assert here.file().read_bytes() == GUIDE


async def test_publishing_changes_the_line_and_no_other_and_the_next_conversation_has_it(here: DeskHouse) -> None:
    told = await change(here, {"voice.speed": 1.25, "voice.first": "Good evening."})
    assert (await form(here))["draft"] == {"voice.speed": 1.25, "voice.first": "Good evening."}
    assert here.file().read_bytes() == GUIDE
    reply = await publish(here, told["digest"])
    assert reply.status_code == 200
    made = GUIDE.replace(b"speed: 0.9", b"speed: 1.25").replace(b"Hello, I am the guide.", b"Good evening.")
    assert here.file().read_bytes() == made
    assert here.bots["guide"].voice is not None
    assert here.bots["guide"].voice.first == "Good evening."
    now = await form(here)
    assert now["draft"] == {}
    assert (now["published"]["by"], now["published"]["fields"]) == ("Ada", ["First sentence", "Speed"])


async def test_undoing_puts_the_very_bytes_back_as_far_as_it_was_published_here(here: DeskHouse) -> None:
    for speed in (1.1, 1.2):
        told = await change(here, {"voice.speed": speed})
        assert (await publish(here, told["digest"])).status_code == 200
    async with here.client("grace") as client:
        assert (await client.post(f"{API}/bots/guide/undo")).status_code == 200
        assert here.file().read_bytes() == GUIDE.replace(b"0.9", b"1.1")
        assert (await client.post(f"{API}/bots/guide/undo")).status_code == 200
        assert here.file().read_bytes() == GUIDE
        reply = await client.post(f"{API}/bots/guide/undo")
        assert (reply.status_code, reply.json()["error"]["code"]) == (409, "nothing_to_undo")
    assert here.bots["guide"].voice is not None
    assert here.bots["guide"].voice.speed == 0.9


async def test_undoing_never_loses_what_was_changed_elsewhere(here: DeskHouse) -> None:
    told = await change(here, {"voice.speed": 1.1})
    await publish(here, told["digest"])
    here.file().write_bytes(by_hand := here.file().read_bytes() + b"\nBy hand.\n")
    async with here.client() as client:
        reply = await client.post(f"{API}/bots/guide/undo")
    assert reply.status_code == 409
    assert "changed elsewhere" in reply.json()["error"]["message"]
    assert here.file().read_bytes() == by_hand


async def test_of_two_owners_the_second_is_told_and_nothing_is_lost(here: DeskHouse) -> None:
    seen = (await form(here))["digest"]
    await change(here, {"voice.speed": 1.1, "name": "Ada's guide"})
    await change(here, {"voice.speed": 1.5, "voice.visual": "wave"}, "grace")
    assert (await publish(here, seen)).status_code == 200
    reply = await publish(here, seen, "grace")
    assert reply.status_code == 409
    assert reply.json()["published"]["by"] == "Ada"
    hers = await form(here, "grace")
    assert hers["draft"] == {"voice.speed": 1.5, "voice.visual": "wave"}
    assert hers["conflicts"] == {"voice.speed": 1.1}
    assert (await publish(here, hers["digest"], "grace")).status_code == 200
    made = here.file().read_bytes()
    assert b"speed: 1.5" in made
    assert b"visual: wave" in made
    assert b"name: Ada's guide   # as people see it" in made


async def test_of_two_who_publish_at_the_same_moment_one_is_first(here: DeskHouse) -> None:
    seen = (await form(here))["digest"]
    await change(here, {"voice.speed": 1.1})
    await change(here, {"voice.speed": 1.5}, "grace")
    replies = await asyncio.gather(publish(here, seen), publish(here, seen, "grace"))
    assert sorted(reply.status_code for reply in replies) == [200, 409]
    last = await here.shelf.last("guide")
    assert last is not None
    assert (b"1.1" if last["by"] == "Ada" else b"1.5") in here.file().read_bytes()
    assert sum([bool((await form(here, who))["draft"]) for who in ("ada", "grace")]) == 1


async def test_a_value_put_back_is_no_change_and_a_draft_can_be_thrown_away(here: DeskHouse) -> None:
    await change(here, {"voice.speed": 1.1})
    assert (await change(here, {"voice.speed": 0.9}))["draft"] == {}
    await change(here, {"name": "Other"})
    async with here.client() as client:
        assert (await client.delete(f"{API}/bots/guide/draft")).json()["draft"] == {}
    assert here.file().read_bytes() == GUIDE


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b"[]", 400), (b'{"changes": {"voice.sped": 1}}', 409), (b'{"changes": {"tools": "x"}}', 409)],
)
async def test_what_is_no_change_is_refused_in_words(here: DeskHouse, body: bytes, status: int) -> None:
    async with here.client() as client:
        reply = await client.patch(f"{API}/bots/guide/draft", content=body)
        assert reply.status_code == status
        assert reply.json()["error"]["message"]
        assert (await client.get(f"{API}/bots/..%2F..%2Fetc")).status_code == 404
        assert (await client.get(f"{API}/bots/nobody")).status_code == 404


async def test_a_file_that_cannot_be_read_as_fields_says_so_with_its_line(here: DeskHouse) -> None:
    here.file().write_bytes(b"---\nname: [Guide\n---\nYou are.\n")
    async with here.client() as client:
        reply = await client.get(f"{API}/bots/guide")
    assert reply.status_code == 409
    assert "line" in reply.json()["error"]["message"]


async def test_it_is_heard_with_the_values_on_the_screen_and_timed(here: DeskHouse) -> None:
    async with here.client() as client:
        saved = await client.post(f"{API}/bots/guide/hear", json={"changes": {}})
        quick = await client.post(f"{API}/bots/guide/hear", json={"changes": {"voice.speed": 1.8}})
        assert quick.headers["content-type"] == "audio/wav"
        assert float(quick.headers["x-first-word-ms"]) >= 0
        assert quick.headers["x-engine"] == "tone"
        slow, fast = read_recording(saved.content).duration_s, read_recording(quick.content).duration_s
        assert fast == pytest.approx(slow / 2, rel=0.15)
        other = await client.post(f"{API}/bots/guide/hear", json={"changes": {"voice.engine": "bell"}})
        assert other.headers["x-note"] == "there is no engine bell"
        bad = await client.post(f"{API}/bots/guide/hear", json={"changes": {"voice.speed": 9}})
        assert bad.status_code == 422
        assert bad.json()["refusals"][0]["key"] == "voice.speed"
    assert here.file().read_bytes() == GUIDE


async def test_conversations_are_counted_and_read_only_where_their_person_opened_them(here: DeskHouse) -> None:
    talk = here.kept.begin("lin", "guide")
    talk.said("a", "user", "What do you know of my landlord?")
    talk.said("b", "assistant", "Nothing.")
    await here.kept.scribe.written()
    here.tallies = {"guide": Tally({"answered": 3, "cancelled": 1}, 250_000)}
    for ms in (400.0, 200.0, 300.0):
        await here.talks.first_word("guide", ms)
    async with here.client() as client, here.client("lin") as lin, here.client("mallory") as mallory:

        async def told() -> dict[str, Any]:
            return dict((await client.get(f"{API}/talks")).json()["bots"][0])

        row = await told()
        assert (row["conversations"], row["answers"], row["spent"]) == (1, 4, 0.25)
        assert row["first_word_ms"] == {"median": 300.0, "p95": 400.0, "times": 3}
        assert "landlord" not in str(row)
        assert (await client.get(f"{API}/talks/{talk.thread}")).status_code == 404
        assert (await mallory.put(f"/app/shared/{talk.thread}")).status_code == 404
        assert (await lin.put(f"/app/shared/{talk.thread}")).status_code == 204
        assert (await lin.get("/app/shared")).json() == {"shared": [talk.thread]}
        assert [each["thread"] for each in (await told())["shared"]] == [talk.thread]
        lines = (await client.get(f"{API}/talks/{talk.thread}")).json()["lines"]
        assert [line["text"] for line in lines] == ["What do you know of my landlord?", "Nothing."]
        assert (await lin.delete(f"/app/shared/{talk.thread}")).status_code == 204
        assert (await client.get(f"{API}/talks/{talk.thread}")).status_code == 404
        assert (await told())["shared"] == []


async def test_what_a_person_forgets_is_gone_from_the_desk_too(here: DeskHouse) -> None:
    talk = here.kept.begin("lin", "guide")
    talk.said("a", "user", "A secret of mine.")
    await here.kept.scribe.written()
    async with here.client() as client, here.client("lin") as lin:
        await lin.put(f"/app/shared/{talk.thread}")
        await here.kept.forget("lin", talk.thread)
        assert (await client.get(f"{API}/talks")).json()["bots"][0]["shared"] == []
        assert (await client.get(f"{API}/talks/{talk.thread}")).status_code == 404


async def test_weights_are_fetched_from_the_desk_with_progress(here: DeskHouse) -> None:
    async def model(name: str) -> dict[str, Any]:
        async with here.client() as client:
            rows = (await client.get(f"{API}/health")).json()["models"]
        return next(dict(row) for row in rows if row["name"] == name)

    async def state(name: str, wanted: str) -> dict[str, Any]:
        for _ in range(500):
            told = await model(name)
            if told["pull"] and told["pull"]["state"] == wanted:
                return told
            await asyncio.sleep(0.01)
        raise AssertionError(f"{name} was never {wanted}")

    def fails(_name: str, progress: Progress) -> object:
        progress(7, 10)
        raise WeightsRefused("the index did not give it")

    here.fetch = fails
    async with here.client() as client:
        assert (await client.post(f"{API}/health/models/nothing/pull")).status_code == 404
        assert (await client.post(f"{API}/health/models/minilm-l6/pull")).status_code == 200
    told = await state("minilm-l6", "failed")
    assert (told["pull"]["bytes"], told["pull"]["total_bytes"]) == (7, 10)
    assert told["pull"]["said"] == "the index did not give it"
    assert not told["present"]


async def test_the_database_away_is_said_and_loses_nothing(here: DeskHouse) -> None:
    told = await change(here, {"voice.speed": 1.1})
    broken = here.shelf._database

    async def away(*_given: Any, **_more: Any) -> Any:
        raise TimeoutError

    broken.act = away  # type: ignore[method-assign]
    reply = await publish(here, told["digest"])
    del broken.act  # type: ignore[method-assign]
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "database_away")
    assert here.file().read_bytes() == GUIDE
    assert (await form(here))["draft"] == {"voice.speed": 1.1}
