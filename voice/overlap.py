"""Words over an answer: whose are they?

Pure text and numbers: the words, how unsure the recogniser was, how much voice there was, and what the assistant said.
It decides no turn. The one rule: playback is paused meanwhile, so that it costs little to say "not yet", and an answer
is only lost to what is surely somebody.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from asr.events import Words
from echo import is_backchannel, is_own, is_reply, is_stop, novel_words

# Ours; a listener's noise; nothing that was understood; somebody's; or too little to tell, and they may go on.
Whose = Literal["own", "nobody", "nothing", "person", "untold"]

# Words need a voice: "Stop." has a pitch for 0.10 to 0.14 s, a cough for at most 0.10, a click or a key for 0.02. Two
# words need two: the least in 200 people who said something else was 0.16 s, and "uh-huh" with 0.10 is "That's how.".
WORD_S = 0.08
_VOICED_WORDS = 2
# On loudspeakers a short sound is heard with scraps of our own words in it, and "uh-huh" becomes "about is"; there only
# a plain call to stop is taken from so little. "Wait a moment" has 0.4 s of pitch and "uh-huh" 0.1 to 0.22, of which a
# leak hides half; what has at most one word that we did not just say must be a sentence ("I see" has 0.26).
PHRASE_S, SENTENCE_S = 0.18, 0.26
_NOVEL = 2
# Playback is paused, so nothing is lost by waiting for the final words: a laugh is "Thank you" first and then nothing.
_SURE_WORDS = 3
# A recogniser writes letters for a laugh ("P-P-P-P") and says that it heard no speech: by 0.46 to 0.93 of 1 in laughs
# made for this, by 0.02 to 0.44 where somebody said something at any level down to 0.05.
NO_SPEECH = 0.5
# A word or two that it guessed are a noise it has no word for: "uh-huh" is "Bye." at -1.3, "hmm" is "them." at -1.2,
# and "Hold on." is itself at -0.7. A call to stop is believed further: "Stop." is "Stop." or "start." at -0.8 to -1.28.
_FEW_WORDS, GUESSED_LOG, GUESSED_STOP_LOG = 2, -1.1, -1.3
# What recognisers write where nobody said anything (cases V10, W1): our own voice, all but taken out, is "You" with a
# chance of no speech of 0.37 to 0.52. Nobody who wants to be let in says that alone, however often.
_INVENTED = frozenset({"you"})
# A hum is "Thanks." at -0.78 and a door "Bye, bye, bye.", after "Bye." at -0.86; spoken clearly they are -0.71 to -0.78
# and -0.82 to -1.02, so that no doubt tells them apart. Who says them over an answer does not ask for the turn, unless
# they were asked something.
_PARTING = frozenset({"thanks", "thank you", "bye"})
# One syllable over and over: people laugh so, and stammering recognisers write so.
_STAMMER = re.compile(r"\W*(\w{1,3})(?:\W*\1){3,}\W*\w{0,2}\W*")


@dataclass(frozen=True, slots=True)
class Over:
    """What is known beside the words.

    `said`: by the assistant, so far; `asked`: it ends on a question and is all but over; `voiced_s`: so much of the
    candidate had a person's pitch; `leaks`: our own voice may be in what was recognised.
    """

    said: str
    language: str = "en"
    asked: bool = False
    voiced_s: float = float("inf")
    leaks: bool = False


def whose(words: Words, over: Over) -> Whose:
    """Whose `words` are."""
    text = spoken(words.text)
    stop = is_stop(text, over.language)
    partial = words.kind == "partial"
    if partial and not stop and len(text.split()) < _SURE_WORDS:
        return "untold"
    leaks = over.leaks and not stop
    if is_own(text, over.said, leaks=leaks):
        return "untold" if partial else "own"
    nothing = not text or _doubtful(words, text, stop=stop)
    if nothing or _listens(text, over):
        return "untold" if partial else "nothing" if nothing else "nobody"
    enough_s = WORD_S if stop else WORD_S * min(_VOICED_WORDS, len(text.split()))
    if leaks:
        enough_s = PHRASE_S if novel_words(text, over.said) >= _NOVEL else SENTENCE_S
    return "person" if over.voiced_s >= enough_s else "untold"


def spoken(text: str) -> str:
    """`text`, or "" where there is no word in it: recognisers write "." and "..." for a breath."""
    return text.strip() if any(c.isalnum() for c in text) else ""


def _doubtful(words: Words, text: str, *, stop: bool) -> bool:
    """The recogniser does not believe it itself."""
    guessed = (
        words.mean_log_probability < (GUESSED_STOP_LOG if stop else GUESSED_LOG) and len(text.split()) <= _FEW_WORDS
    )
    invented = _once(text) in _INVENTED
    return invented or words.no_speech > NO_SPEECH or guessed or _STAMMER.fullmatch(text.casefold()) is not None


def _listens(text: str, over: Over) -> bool:
    """A listener's noise, or a thank you; "yes" is one as well, unless it answers a question."""
    if _once(text) in _PARTING:
        return not over.asked
    return is_backchannel(text, over.language) and not (over.asked and is_reply(text, over.language))


def _once(text: str) -> str:
    """The words of `text`, each once: "Bye, bye, bye." is "bye"."""
    return " ".join(dict.fromkeys(re.findall(r"\w+", text.casefold())))
