"""Who a browser belongs to: what the signed cookie holds, and whether a write with it was meant.

Values and pure checks. The one rule: a cookie alone never writes anything; whoever writes also says the token that
only our own pages can read.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

# A working day; then the identity provider is asked again, which mostly takes no click.
SIGNED_IN_S = 12 * 3600.0
CSRF_HEADER = "x-firstword-csrf"
CSRF_COOKIE = "firstword_csrf"
Role = Literal["owner", "person"]
_KEY = "visitor"


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody signed in. `subject` is the identity provider's own name for them, `csrf` what their writes say."""

    subject: str
    name: str
    role: Role
    csrf: str
    at_s: float


def visitor_of(claims: Mapping[str, Any], owners: frozenset[str], *, now_s: float) -> Visitor:
    """Whom the identity provider describes. `owners` are subjects, or addresses that the provider has verified."""
    subject = str(claims["sub"])[:200]
    email = str(claims.get("email") or "") if claims.get("email_verified") is True else ""
    role: Role = "owner" if subject in owners or (email and email.lower() in owners) else "person"
    name = str(claims.get("name") or claims.get("preferred_username") or "")[:80]
    return Visitor(subject, name, role, secrets.token_urlsafe(24), now_s)


def write(session: dict[str, Any], visitor: Visitor) -> None:
    """Sign `visitor` in: nothing that the browser held before stays."""
    session.clear()
    session[_KEY] = asdict(visitor)


def read(session: Mapping[str, Any], *, now_s: float | None = None) -> Visitor | None:
    """Who is signed in, or None."""
    held = session.get(_KEY)
    if not isinstance(held, dict):
        return None
    try:
        visitor = Visitor(**held)
    except TypeError:
        return None
    age_s = (time.time() if now_s is None else now_s) - visitor.at_s
    return visitor if age_s < SIGNED_IN_S else None


def meant(visitor: Visitor, said: str) -> bool:
    """Whether a write said the visitor's own token."""
    return hmac.compare_digest(visitor.csrf.encode(), said.encode())


def safe_path(path: str) -> str:
    """Where to go after signing in: a path of our own, never another site's."""
    fine = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and "\\" not in path
    return path if fine else "/"
