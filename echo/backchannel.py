"""A listener's noises: what people say to show that they listen, not to take the turn. Per language, as data.

The one rule: only an utterance made of nothing else counts; "okay, stop" is somebody speaking.
"""

from __future__ import annotations

import re

_NOISES: dict[str, str] = {
    "en": "mhm mm hmm hm uh huh uhuh yeah yep yup okay ok right sure aha ah oh",
    "de": "mhm hm aha ja jaja genau okay ok achso ach ah oh",
    "fr": "mhm hm ouais oui voilà ok okay ah oh hein",
    "es": "mhm hm ajá sí ya vale ok claro ah oh",
    "it": "mhm hm sì già ok okay certo ah eh",
    "nl": "mhm hm ja oké ok precies ah oh",
    "pt": "mhm hm sim tá ok certo ah oh",
}
# One noise may be doubled ("yeah yeah", "uh huh"); more words than this are a sentence.
_MOST_WORDS = 3


def is_backchannel(text: str, language: str = "en") -> bool:
    """Whether `text` is nothing but a listener's noise in `language` (ISO 639-1). Unknown languages have none."""
    words = re.findall(r"[^\W\d_]+", text.casefold())
    noises = _NOISES.get(language.partition("-")[0].lower(), "").split()
    return 0 < len(words) <= _MOST_WORDS and all(word in noises for word in words)
