"""Minting and verifying grants, without a store.

The signature is itsdangerous', with a key derived from the deployment's secret under a label of its own. It is no
session and no password. The one rule: whatever is wrong with a token, the answer is the same, and so is the work done
to find out.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import time
import uuid
from collections.abc import Callable, Container, Mapping
from typing import Any

import itsdangerous
from itsdangerous.encoding import base64_decode, base64_encode

from grant.claims import LONGEST_S, Grant

_LABEL = "firstword grant v1"
# Clocks of two machines differ; five seconds either way is nobody's attack.
_LEEWAY_S = 5.0
# A token longer than this is none of ours: claims are short.
_LONGEST_TOKEN = 2_048
# Grants that are read once: more conversations than one process holds, in under 2 MB.
_MOST_KNOWN = 512
_NUMBERS = ("iat", "exp", "steps", "spend", "minutes")
_TEXTS = ("bot", "sub", "room", "jti")
_LARGEST = float(2**53)
_SEPARATORS = (",", ":")
# A full stop, and SHA-256 in base64 without its filling.
_SIGNATURE = 1 + 43


class GrantRefused(Exception):
    """The token opens nothing here. The message never says which check it failed."""

    def __init__(self) -> None:
        super().__init__("this grant is not valid (any more); ask for another one and try again")


class Signer:
    """Signs with `secret`; also honours `older` secrets, so that a secret can be changed while grants are out.

    `now` gives Unix seconds. Whoever is in `removed` holds nothing any more, whatever was minted for them: it is asked
    at each verification, so it must be something in memory.
    """

    def __init__(
        self,
        secret: str,
        *older: str,
        now: Callable[[], float] = time.time,
        removed: Container[str] = frozenset(),
    ) -> None:
        if not secret or not all(older):
            raise ValueError("the secret is empty; a grant signed with nothing protects nothing")
        self._now, self._removed = now, removed
        self._keys = [_key(each) for each in (secret, *older)]
        # What is read in place of a payload that nobody signed, so that a forged token costs the same time as an
        # expired one, and so that unsigned bytes are never decoded. One for each length, for the time goes with it.
        self._decoys: dict[int, bytes] = {}
        # Grants that opened: a conversation shows the same one with each question. Only the signature and the
        # reading are spared: whether it is live and its holder welcome is asked each time, and no wrong one is here.
        self._known: dict[str, Grant] = {}

    def mint(
        self,
        *,
        bot: str,
        subject: str,
        room: str,
        minutes: float = LONGEST_S / 60,
        steps: int = 12,
        spend: int = 500_000,
        run_minutes: float = 10.0,
    ) -> str:
        """A token for one bot, one person and one room, living `minutes` (at most 30)."""
        now = self._now()
        expires = now + min(minutes * 60, LONGEST_S)
        payload = _payload(_claims(bot, subject, room, now, expires, steps, spend, run_minutes))
        return self._keys[0].sign(payload).decode("ascii")

    def verify(self, token: str) -> Grant:
        """The grant in `token`. Raises `GrantRefused`, the same for every reason."""
        known = self._known.get(token)
        if known is not None and self._is_live(known) and known.subject not in self._removed:
            return known
        payload, signature = _split(token)
        # The signature covers the payload's very letters, and is compared as letters too: base64 has several spellings
        # of the same last bits, and itsdangerous takes them all; here one spelling opens and the others do not.
        genuine = False
        for key in self._keys:
            genuine |= hmac.compare_digest(b"." + key.get_signature(payload), signature)
        decoy = self._decoy(len(payload))
        try:
            grant = _read(json.loads(base64_decode(payload if genuine else decoy)))
        except (itsdangerous.BadData, KeyError, TypeError, ValueError, OverflowError, RecursionError):
            raise GrantRefused from None
        live, welcome = self._is_live(grant), grant.subject not in self._removed
        if not (genuine and live and welcome):
            raise GrantRefused
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[token] = grant
        return grant

    def _is_live(self, grant: Grant) -> bool:
        return grant.issued_at - _LEEWAY_S <= self._now() <= grant.expires_at + _LEEWAY_S

    def _decoy(self, length: int) -> bytes:
        """Claims that read well, about as long as a payload of `length` letters."""
        if length not in self._decoys:
            claims = _claims("", "", "", 1.0, 2.0, 12, 500_000, 10.0)
            spare = max(0, length * 3 // 4 - len(json.dumps(claims, separators=_SEPARATORS)))
            # Spread as a real grant's letters are: over the bot, the person and the room.
            short, rest = spare // 6, spare - 2 * (spare // 6)
            self._decoys[length] = _payload(
                {**claims, "bot": "d" * (short or 1), "sub": "d" * (short or 1), "room": "d" * (rest or 1)}
            )
        return self._decoys[length]


def _key(secret: str) -> itsdangerous.Signer:
    """The key for grants, derived once: itsdangerous would derive it anew at each signature."""
    options: dict[str, Any] = {"salt": _LABEL, "digest_method": hashlib.sha256}
    derived = itsdangerous.Signer(secret, key_derivation="hmac", **options).derive_key()
    return itsdangerous.Signer(derived, key_derivation="none", **options)


def _payload(claims: Mapping[str, object]) -> bytes:
    """Never compressed: what is signed is as long as it looks, and so is the time it takes to read."""
    return base64_encode(json.dumps(claims, separators=_SEPARATORS))


def _split(token: str) -> tuple[bytes, bytes]:
    """The payload, and the rest, by length alone; both empty where the token cannot be one of ours.

    By length, so that a token without a full stop in it takes as long to refuse as any other.
    """
    if len(token) > _LONGEST_TOKEN or not token.isascii():
        return b"", b""
    letters = token.encode("ascii")
    return letters[:-_SIGNATURE], letters[-_SIGNATURE:]


def _claims(
    bot: str, subject: str, room: str, issued: float, expires: float, steps: int, spend: int, minutes: float
) -> dict[str, object]:
    return {
        "bot": bot,
        "sub": subject,
        "room": room,
        "jti": uuid.uuid4().hex,
        "iat": round(issued, 3),
        "exp": round(expires, 3),
        "steps": steps,
        "spend": spend,
        "minutes": minutes,
    }


def _read(claims: Any) -> Grant:
    """The claims as a `Grant`. Raises `KeyError`, `TypeError` or `ValueError` where they mean nothing."""
    if not isinstance(claims, dict):
        raise TypeError("claims are a mapping")
    for name in _TEXTS:
        if not isinstance(claims[name], str) or not claims[name]:
            raise TypeError(name)
    for name in _NUMBERS:
        value = claims[name]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(name)
        if not math.isfinite(value) or not 0 <= value <= _LARGEST:
            raise ValueError(name)
    issued, expires = float(claims["iat"]), float(claims["exp"])
    # Whatever the token says, it lives at most 30 minutes from its issue.
    expires = min(expires, issued + LONGEST_S)
    return Grant(
        bot=claims["bot"],
        subject=claims["sub"],
        room=claims["room"],
        id=claims["jti"],
        issued_at=issued,
        expires_at=expires,
        steps=int(claims["steps"]),
        spend=int(claims["spend"]),
        minutes=float(claims["minutes"]),
    )
