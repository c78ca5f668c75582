"""Grants: only what was minted verifies, and every refusal is the same."""

from __future__ import annotations

import hashlib
import json
import random
import string

import itsdangerous
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from itsdangerous import URLSafeSerializer
from itsdangerous.encoding import base64_encode

from grant import GrantRefused, Signer, bearer, granted
from grant.signer import _read as signer_read

SECRET = "a-secret-of-more-than-thirty-two-characters"
NOW = 1_800_000_000.0


def signer(*older: str, now: float = NOW, secret: str = SECRET) -> Signer:
    return Signer(secret, *older, now=lambda: now)


def mint(**claims: object) -> str:
    return signer().mint(**{"bot": "guide", "subject": "owner", "room": "r1", **claims})  # type: ignore[arg-type]


def forged(**changes: object) -> str:
    """A token with the right signature over claims that we would never mint."""
    claims = {"bot": "guide", "sub": "o", "room": "r", "jti": "x", "iat": NOW, "exp": NOW + 60, "steps": 1, "spend": 1}
    return signed(base64_encode(json.dumps({**claims, "minutes": 1.0, **changes})))


def signed(payload: bytes) -> str:
    """`payload` under the right signature, whatever it is."""
    key = itsdangerous.Signer(SECRET, salt="firstword grant v1", key_derivation="hmac", digest_method=hashlib.sha256)
    return key.sign(payload).decode()


def test_what_was_minted_verifies_with_all_it_says() -> None:
    held = signer().verify(mint(steps=3, spend=7, run_minutes=2.0))
    assert (held.bot, held.subject, held.room, held.steps, held.spend, held.minutes) == (
        "guide",
        "owner",
        "r1",
        3,
        7,
        2.0,
    )
    assert held.expires_at - held.issued_at == 1800


def test_two_mints_are_two_tokens() -> None:
    assert mint() != mint()


@pytest.mark.parametrize("later_s", [1805.1, 3600.0, -6.0])
def test_a_grant_outside_its_time_is_refused(later_s: float) -> None:
    token = mint()
    with pytest.raises(GrantRefused):
        signer(now=NOW + later_s).verify(token)


@pytest.mark.parametrize("later_s", [-4.0, 0.0, 1804.0], ids=["DT3 issued ahead", "at once", "just over"])
def test_clocks_may_differ_by_five_seconds(later_s: float) -> None:
    assert signer(now=NOW + later_s).verify(mint()).bot == "guide"


def test_an_old_secret_is_honoured_and_a_dropped_one_is_not() -> None:
    token = mint()
    fresh = "another-secret-of-more-than-thirty-two-characters"
    assert signer(SECRET, secret=fresh).verify(token).bot == "guide"
    with pytest.raises(GrantRefused):
        signer(secret=fresh).verify(token)


def test_ten_thousand_mutations_open_nothing() -> None:
    rng = random.Random(7)
    token = mint()
    alphabet = string.ascii_letters + string.digits + "-_.="
    opened = 0
    for _ in range(10_000):
        at = rng.randrange(len(token))
        changed = token[:at] + rng.choice(alphabet) + token[at + rng.randrange(2) :]
        if changed == token:
            continue
        try:
            signer().verify(changed)
            opened += 1
        except GrantRefused:
            pass
    assert opened == 0


def test_dt7_other_spellings_of_the_last_letter_are_refused() -> None:
    token = mint()
    others = [token[:-1] + letter for letter in string.ascii_letters + string.digits + "-_" if letter != token[-1]]
    for other in [*others, token + "=", token + "=="]:
        with pytest.raises(GrantRefused):
            signer().verify(other)


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": float("nan")},
        {"exp": float("inf")},
        {"exp": True},
        {"exp": str(NOW + 60)},
        {"iat": -1},
        {"spend": 2**54},
        {"steps": None},
        {"bot": ""},
        {"sub": 5},
    ],
    ids=str,
)
def test_claims_that_mean_nothing_are_refused_even_when_signed(changes: dict[str, object]) -> None:
    with pytest.raises(GrantRefused):
        signer().verify(forged(**changes))


def test_no_grant_lives_longer_than_thirty_minutes_whatever_it_says() -> None:
    token = forged(exp=NOW + 10 * 3600)
    assert signer().verify(token).expires_at == NOW + 1800
    with pytest.raises(GrantRefused):
        signer(now=NOW + 2000).verify(token)


@given(st.text(max_size=200))
@settings(max_examples=200)
def test_any_text_is_refused_and_nothing_else_is_raised(text: str) -> None:
    with pytest.raises(GrantRefused):
        signer().verify(text)


def test_every_refusal_says_the_same() -> None:
    words = set()
    for token in ("", "x", mint()[:-2], forged(exp=True), "é" * 30):
        with pytest.raises(GrantRefused) as refused:
            signer().verify(token)
        words.add(str(refused.value))
    assert len(words) == 1


def test_a_browser_brings_it_in_a_subprotocol() -> None:
    token = mint()
    assert bearer({}, ["realtime", f"openai-insecure-api-key.{token}"]) == token
    assert granted(signer(), {"authorization": f"Bearer {token}"}).room == "r1"
    assert bearer({"authorization": "Basic abc"}) == ""


def test_the_work_is_the_same_whatever_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """A forged token is not answered sooner than an expired one: both reach the reading of the claims, once."""
    late = signer(now=NOW + 4000)
    read: list[object] = []
    monkeypatch.setattr("grant.signer._read", lambda claims: read.append(claims) or signer_read(claims))
    for token in (mint(), mint()[:-1] + "!", "no-dot", "", "é", "x" * 5000):
        with pytest.raises(GrantRefused):
            late.verify(token)
    assert len(read) == 6


def test_no_payload_is_ever_decompressed() -> None:
    bomb = URLSafeSerializer("x").dump_payload({"a": "0" * 100_000})
    assert bomb.startswith(b".")
    for token in (f"{bomb.decode()}.c2lnbmF0dXJl", signed(bomb)):
        with pytest.raises(GrantRefused):
            signer().verify(token)


def test_whoever_was_removed_holds_nothing_from_the_next_look_on() -> None:
    removed: set[str] = set()
    checking = Signer(SECRET, now=lambda: NOW, removed=removed)
    token = mint(subject="ada")
    assert checking.verify(token).subject == "ada"
    removed.add("ada")
    assert checking.verify(mint(subject="grace")).subject == "grace"
    with pytest.raises(GrantRefused):
        checking.verify(token)
    removed.clear()
    assert checking.verify(token).subject == "ada"


def test_an_empty_secret_signs_nothing() -> None:
    with pytest.raises(ValueError, match="empty"):
        Signer("")
    with pytest.raises(ValueError, match="empty"):
        Signer(SECRET, "")


def test_a_grant_that_opened_before_is_still_asked_whether_it_is_live_and_its_holder_welcome() -> None:
    at, removed = [NOW], set[str]()
    held = Signer(SECRET, now=lambda: at[0], removed=removed)
    token = held.mint(bot="guide", subject="ann", room="r1", minutes=1)
    assert held.verify(token) == held.verify(token)
    for late_s in (66.0, -6.0):
        at[0] = NOW + late_s
        with pytest.raises(GrantRefused):
            held.verify(token)
    at[0] = NOW
    removed.add("ann")
    with pytest.raises(GrantRefused):
        held.verify(token)
    removed.clear()
    assert held.verify(token).subject == "ann"
    with pytest.raises(GrantRefused):
        held.verify(token[:-1] + ("A" if token[-1] != "A" else "B"))


def test_of_many_grants_that_opened_few_are_kept_and_all_open() -> None:
    held = signer()
    tokens = [held.mint(bot="guide", subject="ann", room=f"r{n}") for n in range(1200)]
    for n, token in [*enumerate(tokens)] * 2:
        assert held.verify(token).room == f"r{n}"
    assert 0 < len(held._known) <= 512
