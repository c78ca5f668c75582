"""Whatever a request says, no door answers with a fault of our own: the whole OpenAPI document, on a real server.

The chat door is left to its own tests, which ask a core that thinks of nothing: here each example would be an answer.
"""

from __future__ import annotations

import httpx2
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings

pytestmark = pytest.mark.models
KNOWN = (
    "/app/voice/{bot}/start",
    "/v1/models",
    "/v1/audio/speech",
    "/v1/audio/transcriptions",
    "/v1/realtime/calls",
    "/app/threads",
    "/app/memories",
)


@pytest.fixture(scope="session")
def document(house_url: str) -> schemathesis.BaseSchema:
    """What the server says of itself."""
    with httpx2.Client(base_url=house_url, trust_env=False) as client:
        said = client.get("/openapi.json").json()
    assert [path for path in KNOWN if path not in said["paths"]] == []
    schema = schemathesis.openapi.from_dict(said)
    return schema.exclude(path="/v1/chat/completions")


@pytest.fixture(scope="session")
def grant(house_url: str) -> str:
    """A right one, from pressing start."""
    with httpx2.Client(base_url=house_url, trust_env=False) as client:
        return str(client.post("/app/voice/guide/start").json()["grant"])


def test_no_request_is_a_fault_of_ours(document: schemathesis.BaseSchema, house_url: str, grant: str) -> None:
    asked = set()
    with requests.Session() as session:
        session.trust_env = False
        for found in document.get_all_operations():
            operation = found.ok()

            @settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
            @given(case=operation.as_strategy())
            def ask(case: schemathesis.Case) -> None:
                for headers in ({"Authorization": f"Bearer {grant}"}, {}):
                    answer = case.call(base_url=house_url, session=session, headers=headers, timeout=60)
                    assert answer.status_code < 500, answer.text

            ask()
            asked.add(operation.path)
    assert asked.issuperset(KNOWN)
