"""Ten thousand wrong grants, one answer; and any request at all, never a 5xx."""

from __future__ import annotations

import random
import string

import httpx2
import pytest
import schemathesis
from door_house import SECRET, FakeCore, house
from fastapi import FastAPI
from hypothesis import HealthCheck, settings

from grant import Signer
from llm_door import Keeping, create_door, keep

LETTERS = string.ascii_letters + string.digits + "-_.=~ é"


def mutated(token: str, chance: random.Random) -> str:
    """`token` with one to three letters changed, left out, put in or swapped, or cut, or turned round."""
    letters = list(token)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(letters)) if letters else 0
        match chance.randrange(6):
            case 0:
                letters[at : at + 1] = chance.choice(LETTERS)
            case 1:
                del letters[at : at + 1]
            case 2:
                letters.insert(at, chance.choice(LETTERS))
            case 3:
                letters[at : at + 2] = letters[at : at + 2][::-1]
            case 4:
                del letters[at:]
            case 5:
                letters = letters[at:] + letters[:at]
    return "".join(letters)


async def test_ten_thousand_mutated_grants_are_one_status_and_one_body() -> None:
    chance = random.Random(7)
    signer = Signer(SECRET)
    app = FastAPI()
    app.include_router(create_door(FakeCore(), signer))
    right = [signer.mint(bot="guide", subject=f"person-{n}", room="r") for n in range(20)]
    seen = set()
    transport = httpx2.ASGITransport(app=keep(app, signer))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        for n in range(10_000):
            wrong = mutated(right[n % len(right)], chance)
            if wrong.strip() in right:
                continue
            headers = [(b"authorization", b"Bearer " + wrong.encode())]
            answer = await client.get("/v1/models", headers=headers)
            seen.add((answer.status_code, answer.content, tuple(sorted(answer.headers.items()))))
    assert len(seen) == 1
    assert next(iter(seen))[0] == 401


async def test_a_right_grant_is_let_in_where_the_wrong_ones_were_not() -> None:
    async with house() as at, httpx2.AsyncClient(base_url=at.base_url, trust_env=False) as client:
        assert (await client.get("/v1/models", headers={"Authorization": f"Bearer {at.grant()}"})).status_code == 200
        assert (await client.get("/v1/models", headers={"Authorization": f"Bearer {at.grant()}x"})).status_code == 401


_SIGNER = Signer(SECRET)
_APP = FastAPI()
_APP.include_router(create_door(FakeCore(), _SIGNER))
schema = schemathesis.openapi.from_asgi("/openapi.json", keep(_APP, _SIGNER, Keeping(hosts=("*",))))


@pytest.mark.parametrize("granted", [True, False], ids=["with a grant", "without"])
@schema.parametrize()
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_k14_no_request_is_a_5xx(case: schemathesis.Case, granted: bool) -> None:
    token = _SIGNER.mint(bot="guide", subject="ada", room="r")
    headers = {"Authorization": f"Bearer {token}"} if granted else {}
    answer = case.call(headers=headers)
    assert answer.status_code < 500, answer.text
