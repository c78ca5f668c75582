"""A listener's noises: what people say to show that they listen, not to take the turn. Per language, as data.

The one rule: only an utterance made of nothing else counts; "okay, stop" is somebody speaking.
"""

from __future__ import annotations

import re

# As recognisers write them: the same hum comes out as "mhm", "mm-hmm", "hmm" or "uh-huh".
_NOISES: dict[str, str] = {
    "en": "mhm mm mmm mmhm mmhmm hmm hmmm hm um uh uhm huh uhuh yeah yes yep yup okay ok right sure aha ah oh ooh wow",
    "de": "mhm hm hmm mm aha ja jaja genau okay ok achso ach ah oh klar stimmt",
    "fr": "mhm hm hmm mm ouais oui voilà ok okay ah oh hein bien",
    "es": "mhm hm hmm mm ajá sí ya vale ok claro ah oh bien",
    "it": "mhm hm hmm mm sì già ok okay certo ah eh bene",
    "nl": "mhm hm hmm mm ja oké ok precies ah oh klopt",
    "pt": "mhm hm hmm mm sim tá ok certo ah oh pois",
}
# Noises of more than one word; each counts as one.
_PHRASES: dict[str, tuple[str, ...]] = {
    "en": ("i see", "got it", "all right", "of course", "right on", "i know"),
    "de": ("ach so", "alles klar", "ich verstehe", "na klar"),
    "fr": ("je vois", "bien sûr", "d accord"),
    "es": ("ya veo", "por supuesto", "de acuerdo"),
    "it": ("ho capito", "va bene", "certo che sì"),
    "nl": ("ik snap het", "dat klopt"),
    "pt": ("pois é", "entendi"),
}
# Those that answer a question when nothing is said but them.
_REPLIES: dict[str, str] = {
    "en": "yeah yes yep yup okay ok right sure",
    "de": "ja jaja genau okay ok klar stimmt",
    "fr": "ouais oui ok okay",
    "es": "sí vale ok claro",
    "it": "sì ok okay certo",
    "nl": "ja oké ok klopt",
    "pt": "sim tá ok certo",
}
# Words that ask for the turn; said alone they are a person's, even where the assistant has just used them. Recognisers
# write "start" and "stopped" for a "stop" that was spoken over something.
_STOPS: dict[str, str] = {
    "en": "stop start stopped wait no hold on hang hey sorry excuse me pause enough quiet please listen",
    "de": "stopp halt warte warten nein moment entschuldigung sorry genug bitte hör zu",
    "fr": "stop attends attendez non pardon excuse excusez moi arrête arrêtez silence",
    "es": "para alto espera espere no perdón disculpa disculpe basta momento",
    "it": "stop ferma aspetta aspetti no scusa scusi basta momento",
    "nl": "stop wacht nee sorry pardon genoeg even",
    "pt": "para espera espere não desculpa desculpe chega momento",
}
# What goes with such a call without being one.
_FILLERS = (
    "a an the one just me it up here now there minute moment second sec bitte un une uno momento moment s'il vous"
)
# Somebody laughs, in any language that these letters are used for.
_LAUGHTER = re.compile(r"(?:h?[aeio]h|h[aeio]){2,}|ha|he|hah|heh")
# Or hums, and the recogniser spells it: "M.H.N."
_HUM = re.compile(r"[mhn]{1,4}")
# One noise may be doubled ("yeah yeah", "uh huh"); more than this is a sentence.
_MOST_NOISES = 3


def is_backchannel(text: str, language: str = "en") -> bool:
    """Whether `text` is nothing but a listener's noise in `language` (ISO 639-1). Unknown languages have none."""
    code = language.partition("-")[0].lower()
    plain = " ".join(_words(text))
    for phrase in _PHRASES.get(code, ()):
        plain = re.sub(rf"\b{phrase}\b", "_", plain)
    noises = ["_", *_NOISES.get(code, "").split()]
    words = plain.split()
    said = [word for word in words if not _LAUGHTER.fullmatch(word) and not (noises[1:] and _HUM.fullmatch(word))]
    return bool(words) and len(said) <= _MOST_NOISES and all(word in noises for word in said)


def is_stop(text: str, language: str = "en") -> bool:
    """Whether `text` is nothing but a call to stop."""
    stops, fillers = _STOPS.get(language.partition("-")[0].lower(), "").split(), _FILLERS.split()
    said = _words(text)
    short = len(said) <= _MOST_NOISES + 1
    return short and any(word in stops for word in said) and all(word in stops + fillers for word in said)


def is_reply(text: str, language: str = "en") -> bool:
    """Whether a noise in `text` would answer a question."""
    replies = _REPLIES.get(language.partition("-")[0].lower(), "").split()
    return any(word in replies for word in _words(text))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text.casefold())
