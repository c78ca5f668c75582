"""Minting and verifying grants, without a store.

The signature is itsdangerous', with a key derived from the deployment's secret under a label of its own. It is no session
and no password. The one rule: whatever is wrong with a token, the answer is the same.
"""

from __future__ import annotations

import hmac
import math
import time
import uuid
from collections.abc import Callable
from typing import Any

from itsdangerous import BadData, URLSafeSerializer

from grant.claims import LONGEST_S, Grant

_LABEL = "firstword grant v1"
# Clocks of two machines differ; five seconds either way is nobody's attack.
_LEEWAY_S = 5.0
# A token longer than this is none of ours: claims are short.
_LONGEST_TOKEN = 2_048
_NUMBERS = ("iat", "exp", "steps", "spend", "minutes")
_LARGEST = float(2**53)


class GrantRefused(Exception):
    """The token opens nothing here. The message never says which check it failed."""

    def __init__(self) -> None:
        super().__init__("this grant is not valid (any more); ask for another one and try again")


class Signer:
    """Signs with `secret`; also honours `older` secrets, so that a secret can be changed while grants are out.

    `now` gives Unix seconds.
    """

    def __init__(self, secret: str, *older: str, now: Callable[[], float] = time.time) -> None:
        if not secret:
            raise ValueError("the secret is empty; a grant signed with nothing protects nothing")
        self._now = now
        # itsdangerous signs with the last key of the list and verifies with all of them.
        self._serializer = URLSafeSerializer([*older, secret], salt=_LABEL, signer_kwargs={"key_derivation": "hmac"})
        self._keys = (secret, *older)

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
        claims = {
            "bot": bot,
            "sub": subject,
            "room": room,
            "jti": uuid.uuid4().hex,
            "iat": round(now, 3),
            "exp": round(now + min(minutes * 60, LONGEST_S), 3),
            "steps": steps,
            "spend": spend,
            "minutes": run_minutes,
        }
        token = self._serializer.dumps(claims)
        return token.decode("ascii") if isinstance(token, bytes) else token

    def verify(self, token: str) -> Grant:
        """The grant in `token`. Raises `GrantRefused`, the same for every reason."""
        try:
            claims = self._open(token)
            grant = _read(claims)
        except (BadData, KeyError, TypeError, ValueError, OverflowError, RecursionError) as fault:
            raise GrantRefused from fault
        now = self._now()
        if not grant.issued_at - _LEEWAY_S <= now <= grant.expires_at + _LEEWAY_S:
            raise GrantRefused
        return grant

    def _open(self, token: str) -> dict[str, Any]:
        if len(token) > _LONGEST_TOKEN:
            raise ValueError("too long")
        claims = self._serializer.loads(token.encode("ascii"))
        # base64 has several spellings of the same last bits, and itsdangerous takes them all: only ours is taken here.
        canonical = [
            URLSafeSerializer(key, salt=_LABEL, signer_kwargs={"key_derivation": "hmac"}).dumps(claims)
            for key in self._keys
        ]
        given = token.encode("ascii")
        matches = [hmac.compare_digest(given, one.encode() if isinstance(one, str) else one) for one in canonical]
        if not any(matches):
            raise ValueError("not the canonical form")
        if not isinstance(claims, dict):
            raise TypeError("claims are a mapping")
        return claims


def _read(claims: dict[str, Any]) -> Grant:
    for name in ("bot", "sub", "room", "jti"):
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
