"""Whose a failure is.

Not a retry loop: the line of providers is the only one. The one rule: pure, and every failure becomes a `Verdict`,
also one without a status (a thrown error that carries none would otherwise match no list).
"""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from agents_core.errors import Verdict

# A key refused for its rate rests a minute unless the provider says how long; one spent or revoked, an hour.
RATE_REST_S = 60.0
SPENT_REST_S = 3600.0
# A provider's sentence is shown to whoever asked; a page of HTML is not a sentence.
_SENTENCE_CHARS = 300
# A 400 is ours, unless its words are about the key or the money behind it (Anthropic's spent key is a 400).
_ABOUT_THE_KEY = re.compile(r"api.?key|credit|quota|billing|suspended|usage limits?|insufficient.funds|balance", re.I)
_SECRET = re.compile(r"\b(sk|pk|key|gsk|xai)-[\w-]{6,}|bearer\s+\S+", re.I)


def classify_status(status: int, body: str, *, retry_after: str | None = None, now: datetime | None = None) -> Verdict:
    """The verdict on a response that is not an answer."""
    sentence = said(body) or f"the provider answered with status {status}"
    if status == 429:
        rest_s = rest_asked(retry_after, now or datetime.now(UTC))
        return Verdict("key", RATE_REST_S if rest_s is None else rest_s, sentence)
    if status in (401, 402, 403) or (status == 400 and _ABOUT_THE_KEY.search(sentence)):
        return Verdict("key", SPENT_REST_S, sentence)
    if status == 404 or status == 408 or status >= 500 or status < 400:
        # 404 is a model they do not have. A redirect is not followed: it would carry the key to another host.
        return Verdict("provider", 0.0, sentence)
    return Verdict("ours", 0.0, sentence)


def provider_fault(sentence: str) -> Verdict:
    """The verdict on a provider that broke without a status: unreachable, silent, cut, not JSON, empty."""
    return Verdict("provider", 0.0, _clean(sentence))


def rest_asked(header: str | None, now: datetime) -> float | None:
    """`Retry-After` in seconds: a number, or a date (rounded up, the past is 0). None where it is nonsense."""
    if header is None:
        return None
    try:
        asked_s = float(header)
    except ValueError:
        try:
            until = parsedate_to_datetime(header)
        except ValueError:
            return None
        asked_s = math.ceil((until.replace(tzinfo=until.tzinfo or UTC) - now).total_seconds())
        return float(min(max(asked_s, 0), SPENT_REST_S))
    if not math.isfinite(asked_s) or asked_s < 0:
        return None
    return min(asked_s, SPENT_REST_S)


def said(body: str) -> str:
    """The provider's own sentence, out of whatever JSON it came in, without keys."""
    try:
        return _clean(_sentence(json.loads(body)))
    except ValueError:
        return "" if "<" in body[:200] else _clean(body)


def _sentence(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        return _sentence(value[0])
    if isinstance(value, dict):
        for key in ("error", "message", "detail", "msg", "error_description"):
            if value.get(key):
                return _sentence(value[key])
    return ""


def _clean(sentence: str) -> str:
    return _SECRET.sub("(key)", " ".join(sentence.split()))[:_SENTENCE_CHARS]
