"""Whatever a request says, no door answers with a fault of our own: the whole OpenAPI document, on a real server.

Only what thinks is a script: with a model each example of the chat door would be an answer of seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx2
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings

from firstword.thinking import SCRIPT

pytestmark = [pytest.mark.models, pytest.mark.timeout(300)]
CHAT = "/v1/chat/completions"
KNOWN = (
    "/app/voice/{bot}/start",
    CHAT,
    "/v1/models",
    "/v1/audio/speech",
    "/v1/audio/transcriptions",
    "/v1/realtime/calls",
    "/app/threads",
    "/app/memories",
)
# Nothing here takes a second; a door that waits for something that never comes is a fault too.
PATIENCE_S = 60


@pytest.fixture(scope="session")
def document(scripted_url: str) -> schemathesis.BaseSchema:
    """What the server says of itself."""
    with httpx2.Client(base_url=scripted_url, trust_env=False) as client:
        said = client.get("/openapi.json").json()
    assert [path for path in KNOWN if path not in said["paths"]] == []
    return schemathesis.openapi.from_dict(said)


@pytest.fixture(scope="session")
def grant(scripted_url: str) -> str:
    """A right one, from pressing start."""
    with httpx2.Client(base_url=scripted_url, trust_env=False) as client:
        return str(client.post("/app/voice/guide/start").json()["grant"])


Ask = Callable[[schemathesis.Case], None]


@pytest.fixture
def ask(scripted_url: str, grant: str) -> Iterator[Ask]:
    """Send a request with a grant and without; it is never a fault of ours, and what was begun ends."""
    with requests.Session() as session:
        session.trust_env = False

        def send(case: schemathesis.Case) -> None:
            for headers in ({"Authorization": f"Bearer {grant}"}, {}):
                answer = case.call(base_url=scripted_url, session=session, headers=headers, timeout=PATIENCE_S)
                assert answer.status_code < 500, answer.text
                if case.operation.path == CHAT and answer.status_code == 200:
                    assert not answer.stream_cut_short
                    ended(answer.headers["content-type"][0], answer.content)

        yield send


def ended(kind: str, body: bytes) -> None:
    """An answer is whole, streamed or not."""
    assert b'"finish_reason":"stop"' in body
    if kind.startswith("text/event-stream"):
        assert body.endswith(b"data: [DONE]\n\n")


def test_no_request_is_a_fault_of_ours(document: schemathesis.BaseSchema, ask: Ask) -> None:
    asked = set()
    for found in document.get_all_operations():
        operation = found.ok()

        @settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def each(case: schemathesis.Case) -> None:
            ask(case)

        each()
        asked.add(operation.path)
    assert asked.issuperset(KNOWN)


@pytest.mark.parametrize("mode", schemathesis.GenerationMode, ids=str)
def test_whatever_is_asked_of_the_chat_door_is_answered_to_its_end_or_refused(
    document: schemathesis.BaseSchema, ask: Ask, mode: schemathesis.GenerationMode
) -> None:
    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=document[CHAT]["POST"].as_strategy(generation_mode=mode))
    def each(case: schemathesis.Case) -> None:
        ask(case)

    each()


@pytest.mark.parametrize("stream", [True, False])
def test_the_chat_door_of_a_whole_house_answers(scripted_url: str, grant: str, stream: bool) -> None:
    body = {"stream": stream, "messages": [{"role": "user", "content": "What can you do?"}]}
    with httpx2.Client(base_url=scripted_url, trust_env=False, headers={"Authorization": f"Bearer {grant}"}) as client:
        answer = client.post(CHAT, json=body)
    assert answer.status_code == 200
    ended(answer.headers["content-type"], answer.content)
    assert answer.headers["content-type"].startswith("text/event-stream") is stream
    assert SCRIPT.split()[-1].encode() in answer.content
