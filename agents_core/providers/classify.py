"""Whose a failure is.

Not a retry loop: the line of providers is the only one. The one rule: pure, and every failure becomes a `Verdict`,
also one without a status (a thrown error that carries none would otherwise match no list).
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from agents_core.errors import Verdict
from agents_core.foreign import letters, read_json

# A key refused for its rate rests a minute unless the provider says how long; one spent or revoked, an hour.
RATE_REST_S = 60.0
SPENT_REST_S = 3600.0
# A provider's sentence is shown to whoever asked; a page of HTML is not a sentence.
_SENTENCE_CHARS = 300
_SENTENCE_KEYS = ("error", "message", "detail", "msg", "error_description")
# A 400 is ours, unless its words are about the key or the money behind it (Anthropic's spent key is a 400).
_ABOUT_THE_KEY = re.compile(r"api.?key|credit|quota|billing|suspended|usage limits?|insufficient.funds|balance", re.I)
# A key with no money behind it, where the status says only "too many".
_SPENT = "insufficient_quota"
# Google says in the body how long to wait, and in no header.
_RETRY_DELAY = re.compile(r'"retryDelay":\s*"(\d+(?:\.\d+)?)s"')
# Errors by name, as OpenAI and Anthropic document them, and the status each comes with outside a stream.
_STATUS = {
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "content_filter": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "insufficient_quota": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
# What the model that runs here is called in receipts and on the desk.
LOCAL = "local"
_SECRET = re.compile(r"\b(sk|pk|key|gsk|xai)-[\w-]{6,}|bearer\s+\S+", re.I)


def classify_status(status: int, body: str, *, retry_after: str | None = None, now: datetime | None = None) -> Verdict:
    """The verdict on a response that is not an answer."""
    sentence = said(body) or f"the provider answered with status {status}"
    in_body = _RETRY_DELAY.search(body)
    rest_s = rest_asked(retry_after or (in_body[1] if in_body else None), now or datetime.now(UTC))
    if status == 429:
        # OpenAI says both "too fast" and "no money left" with 429; only the first passes in a minute.
        spent = rest_s is None and _SPENT in body
        return Verdict("key", SPENT_REST_S if spent else RATE_REST_S if rest_s is None else rest_s, sentence)
    if status in (401, 402, 403) or (status == 400 and _ABOUT_THE_KEY.search(sentence)):
        return Verdict("key", SPENT_REST_S, sentence)
    if status in (404, 408) or status >= 500 or status < 400:
        # 404 is a model they do not have. A redirect is not followed: it would carry the key to another host.
        return Verdict("provider", 0.0, sentence)
    return Verdict("ours", 0.0, sentence)


def classify_event(error: object, data: str) -> Verdict:
    """The verdict on an error that came inside a stream, whose status was 200 by then.

    It is told by its code or its type, in the words of either shape; what is not known is the provider's.
    """
    fields = error if isinstance(error, dict) else {}
    for word in (fields.get("code"), fields.get("status"), fields.get("type")):
        status = word if isinstance(word, int) else _STATUS.get(str(word))
        if isinstance(status, int) and 400 <= status < 600:
            verdict = classify_status(status, data)
            return Verdict(verdict.whose, verdict.rest_s, said(data) or "the provider sent an error")
    return provider_fault(said(data) or "the provider sent an error")


def called(provider: str) -> str:
    """A provider's name as a person reads it in a sentence."""
    return "the model on this machine" if provider == LOCAL else provider


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
        return _clean(_sentence(read_json(body)))
    except ValueError:
        return "" if "<" in body[:200] else _clean(body)


def _sentence(value: Any) -> str:
    while not isinstance(value, str):
        if isinstance(value, list) and value:
            value = value[0]
        elif isinstance(value, dict):
            value = next((value[key] for key in _SENTENCE_KEYS if value.get(key)), "")
        else:
            return ""
    return value


def _clean(sentence: str) -> str:
    return _SECRET.sub("(key)", " ".join(letters(sentence).split()))[:_SENTENCE_CHARS]
