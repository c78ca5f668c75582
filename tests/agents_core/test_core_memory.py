"""What a bot remembers of whom, what its tools may know, and who may ask it: through whole runs, on real rows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from core_house import BOT, Told, ask, content, told

from agents_core import Ask, AskRefused, Busy, Core, Delta, Failed, Passages, Trace, Whole
from agents_core.embedding import WIDTH, MiniLM, Vector
from agents_core.loop import Call
from agents_core.recall import FLOOR, MOST_RECALLED, nearest
from models import Store, default_folder

Opens = Callable[..., Awaitable[Core]]
PEOPLE = """
[ann]
holds = ["customer", "role:staff"]
about = { plan = "gold" }
[bob]
holds = ["customer"]
"""
PAGES = "---\ntitle: Sending\n---\nWe send on Mondays.\n"


class ByLetters:
    """Vectors from letters: the same words are near, others far. For rows and rules, not for meaning."""

    name = "letters"

    async def embed(self, text: str) -> Vector:
        vector = np.zeros(WIDTH, dtype=np.float32)
        for word in text.lower().split():
            vector[crc32(word.strip("?.,").encode()) % WIDTH] += 1
        return vector / max(float(np.linalg.norm(vector)), 1e-9)


@pytest.fixture
async def opens(tmp_path: Path) -> AsyncIterator[Opens]:
    cores: list[Core] = []

    async def open_(*providers: Told, head: str = "", embedder: object = None, **files: str) -> Core:
        folder = content(tmp_path / "site", guide=BOT.replace("surfaces", f"{head}surfaces"))
        (folder / "people.toml").write_text(PEOPLE, "utf-8")
        for name, text in files.items():
            file = folder / f"{name.replace('__', '/')}.md"
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")
        core = await Core.open(
            content=folder,
            database_url=f"sqlite+aiosqlite:///{tmp_path / 'core.db'}",
            providers=providers,
            embedder=embedder,  # type: ignore[arg-type]
            worker=False,
        )
        cores.append(core)
        return core

    yield open_
    for core in cores:
        await core.close()


def by(person: str, text: str, room: str = "r1") -> Ask:
    return replace(ask(text), asker=person, subject=person, room=room)


def last(provider: Told) -> str:
    return str(provider.asked[-1].messages[-1]["content"])


async def test_a_tool_is_called_its_words_go_to_the_model_and_its_passages_to_the_listener(opens: Opens) -> None:
    provider = Told([Whole((Call("c", "search_site", '{"query": "sending"}'),))], ["On Mondays."])
    core = await opens(provider, head="tools: [search_site]\n", pages__sending=PAGES)
    events = await told(core, ask())
    assert [event for event in events if isinstance(event, Busy)] == [Busy("reading the site")]
    assert [event for event in events if isinstance(event, Passages)] == [Passages(("Sending",), ("/sending",))]
    assert "We send on Mondays." in last(provider)
    assert "".join(event.text for event in events if isinstance(event, Delta)) == "On Mondays."


@pytest.mark.parametrize(
    ("person", "known"),
    [
        pytest.param("ann", '{"plan": "gold"}', id="what-is-known-of-them"),
        pytest.param("bob", "Nothing is known of them.", id="nothing-is-known"),
        pytest.param("", "There is nobody to ask about: whoever this is has not signed in.", id="nobody"),
    ],
)
async def test_a_personal_tool_is_told_whom_by_the_run_and_not_by_the_model(
    opens: Opens, person: str, known: str
) -> None:
    provider = Told([Whole((Call("c", "about_me", '{"person": "ann", "subject": "ann", "run": "1"}'),))], ["Ok."])
    await told(await opens(provider, head="tools: [about_me]\n"), by(person, "Who am I?"))
    assert last(provider) == known


async def test_a_ticket_belongs_to_whom_the_run_is_about_and_is_written_once(opens: Opens) -> None:
    arguments = '{"title": "Lost parcel", "text": "It never came.", "subject": "bob"}'
    provider = Told(
        [Whole((Call("x", "raise_ticket", arguments),))], [Whole((Call("x", "raise_ticket", arguments),))], ["Ok"]
    )
    core = await opens(provider, head="tools: [raise_ticket]\n")
    await told(core, replace(by("staff", "Write it down"), subject="ann"))
    tickets = await core.desk.tickets()
    assert [(ticket.number, ticket.subject, ticket.title) for ticket in tickets] == [
        (2, "ann", "Lost parcel"),
        (1, "ann", "Lost parcel"),
    ]
    assert await core.desk.tickets("bob") == []
    run = tickets[0].run
    again = {await core.desk.raise_ticket(run, "7", "Lost", "It") for _ in range(3)}
    assert again == {"3"}


@pytest.mark.parametrize(
    ("head", "asker", "subject", "refused"),
    [
        pytest.param("for: customer\n", "bob", "bob", None, id="for-a-customer"),
        pytest.param("for: customer\n", "eve", "eve", "answers other people", id="for-no-customer"),
        pytest.param("for: [authenticated]\n", "", "", "signed in", id="for-nobody"),
        pytest.param("for: role:staff\nserves: customer\n", "ann", "bob", None, id="staff-about-a-customer"),
        pytest.param("for: role:staff\nserves: customer\n", "ann", "eve", "not to be asked", id="about-no-customer"),
        pytest.param("for: role:staff\nserves: customer\n", "bob", "bob", "answers other", id="a-customer-alone"),
    ],
)
async def test_for_is_asked_of_the_asker_and_serves_of_the_subject(
    opens: Opens, head: str, asker: str, subject: str, refused: str | None
) -> None:
    core = await opens(Told(["Yes."]), head=head)
    asked = replace(ask(), asker=asker, subject=subject)
    if refused is None:
        assert await told(core, asked)
        return
    with pytest.raises(AskRefused, match=refused):
        await told(core, asked)


async def test_a_skill_that_is_opened_brings_its_tools_in_the_same_run(opens: Opens) -> None:
    provider = Told(
        [Whole((Call("c1", "open_skill", '{"name": "sending"}'),))],
        [Whole((Call("c2", "search_site", '{"query": "send"}'),))],
        ["Mondays."],
    )
    skill = "---\ndescription: how we send\ntools: [search_site]\n---\nSay the day.\n"
    core = await opens(provider, head="skills: [sending]\n", skills__sending=skill, pages__sending=PAGES)
    events = await told(core, ask())
    offered = [{tool["function"]["name"] for tool in asked.tools} for asked in provider.asked]
    assert offered == [{"open_skill"}, {"open_skill", "search_site"}, {"open_skill", "search_site"}]
    assert "Say the day." in str(provider.asked[1].messages)
    (trace,) = [event for event in events if isinstance(event, Trace)]
    assert trace.prompt_version.startswith("guide-")


async def test_a_bot_that_forgets_is_told_nothing_and_thread_only_its_thread(opens: Opens) -> None:
    for memory in ("none", "thread"):
        provider = Told(["Ok."])
        core = await opens(provider, head=f"memory: {memory}\n", embedder=ByLetters())
        await told(core, by("ann", "I like green tea.", "r1"))
        await told(core, by("ann", "What do I like?", "r2"))
        assert last(provider) == "What do I like?"
        assert await core.memories.of("ann", "guide") == []


async def test_person_reads_what_the_subject_asked_before_elsewhere_and_nobody_elses(opens: Opens) -> None:
    provider = Told(["Ok."])
    core = await opens(provider, head="memory: person\n")
    for text, person, room in (
        ("I like green tea.", "ann", "r1"),
        ("I like CANARY.", "bob", "r1"),
        ("And I am seven feet tall.", "ann", "r2"),
        ("Said in this very room.", "ann", "r3"),
    ):
        await told(core, by(person, text, room))
    await told(core, by("ann", "What do I like?", "r3"))
    assert "- I like green tea.\n- And I am seven feet tall.\n\nWhat do I like?" in last(provider)
    assert "CANARY" not in last(provider)
    assert "very room" not in last(provider)
    await core.memories.forget_all("ann", "guide")
    await told(core, by("ann", "What do I like?", "r4"))
    assert last(provider) == "What do I like?"


async def test_recall_is_kept_of_answered_runs_and_theirs_to_read_and_forget(opens: Opens) -> None:
    provider = Told(["Ok."])
    core = await opens(provider, head="memory: person+recall\n", embedder=ByLetters())
    for text in ("I like green tea.", "Yes, please.", "I like green tea.", "My dog is called Rex."):
        await told(core, by("ann", text, "r1"))
    await told(core, by("bob", "My dog is called CANARY.", "r1"))
    await core.close()
    core = await opens(provider, head="memory: person+recall\n", embedder=ByLetters())
    kept = await core.memories.of("ann", "guide")
    assert [memory.said for memory in kept] == ["My dog is called Rex.", "I like green tea."]
    await told(core, by("ann", "How is my dog called?", "r2"))
    assert "My dog is called Rex." in last(provider)
    assert "CANARY" not in last(provider)
    for not_theirs in (("bob", kept[0].id), ("ann", 2**63), ("ann", -1)):
        assert not await core.memories.forget(not_theirs[0], "guide", not_theirs[1])
    assert await core.memories.forget("ann", "guide", kept[0].id)
    assert [memory.said for memory in await core.memories.of("ann", "guide")] == ["I like green tea."]
    assert await core.memories.forget_all("ann", "guide") == 1
    assert await core.memories.of("ann", "guide") == []


async def test_two_models_vectors_are_never_compared(opens: Opens) -> None:
    provider = Told(["Ok."])
    core = await opens(provider, head="memory: person+recall\n", embedder=ByLetters())
    await told(core, by("ann", "My dog is called Rex.", "r1"))
    await core.close()
    other = ByLetters()
    other.name = "another"
    core = await opens(provider, head="memory: person+recall\n", embedder=other)
    await told(core, by("ann", "How is my dog called?", "r1"))
    assert last(provider) == "How is my dog called?"


def test_a_nearest_neighbour_below_the_floor_is_none_and_there_are_never_too_many() -> None:
    asked = np.zeros(WIDTH, dtype=np.float32)
    asked[0] = 1
    far, near = np.zeros_like(asked), np.zeros_like(asked)
    far[0], near[0] = FLOOR - 0.01, FLOOR + 0.01
    assert nearest(asked, [far, near, far]) == [1]
    assert len(nearest(asked, [near] * 9)) == MOST_RECALLED


@pytest.mark.models
async def test_a_saying_is_nearer_to_its_question_than_to_any_other() -> None:
    store = Store(default_folder())
    if not store.present("minilm-l6"):
        pytest.skip("the weights of minilm-l6 are not here; `firstword models pull minilm-l6` fetches them")
    minilm = MiniLM(store.path("minilm-l6"))
    said = ["My dog is called Rex and he is seven.", "I am allergic to nuts.", "We are moving to Lyon in spring."]
    kept = [await minilm.embed(one) for one in said]
    assert all(abs(float(np.linalg.norm(vector)) - 1) < 1e-5 and vector.shape == (WIDTH,) for vector in kept)
    for text, expected in (
        ("What is my dog's name?", [0]),
        ("Can I eat this almond cake?", [1]),
        ("Where will we live next year?", [2]),
        ("Tell me about the weather.", []),
        ("Thank you, goodbye.", []),
    ):
        assert nearest(await minilm.embed(text), kept) == expected, text


async def test_a_skill_that_is_asked_for_in_no_json_is_a_bad_call_and_the_run_goes_on(opens: Opens) -> None:
    provider = Told([Whole((Call("c1", "open_skill", "[" * 50_000),))], ["Mondays."])
    skill = "---\ndescription: how we send\n---\nSay the day.\n"
    core = await opens(provider, head="skills: [sending]\n", skills__sending=skill)
    events = await told(core, ask())
    assert [event.text for event in events if isinstance(event, Delta)] == ["Mondays."]
    assert "not JSON" in last(provider)


class Blurts(ByLetters):
    """Fails with what it was given in its words."""

    async def embed(self, text: str) -> Vector:
        raise ValueError(f"cannot place {text!r}")


async def test_what_breaks_a_turn_is_logged_by_its_name_and_place_and_not_by_its_words(
    opens: Opens, caplog: pytest.LogCaptureFixture
) -> None:
    remembers = "memory: person+recall\n"
    core = await opens(Told(["Ok."]), head=remembers, embedder=ByLetters())
    await told(core, by("ann", "My dog is called Rex.", "r1"))
    await core.close()
    core = await opens(Told(["Ok."]), head=remembers, embedder=Blurts())
    events = await told(core, by("ann", "What of CANARY?", "r2"))
    assert isinstance(events[-1], Failed)
    assert "a turn broke: ValueError" in caplog.text
    assert "in embed" in caplog.text
    assert "CANARY" not in caplog.text + events[-1].message
