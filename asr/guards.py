"""Words nobody said: what a recogniser invents, taken out again.

Pure functions on text and numbers; no list of phrases, so that they work in every language. The one rule: what is
dropped is dropped whole or collapsed, never reworded.
"""

from __future__ import annotations

import zlib

# A token three times in a row is a decoder in a loop (case W5); "No, no, no." differs in its punctuation and stays.
_RUN = 3
# People do say a phrase three times ("Stop it. Stop it. Stop it."); four times is a loop.
_PHRASE_RUN = 4
_LONGEST_PHRASE = 12
# Text of which more than this is repetition says nothing.
_REPETITION = 0.6
# Of fewer words a repetition is a manner of speaking, of more it is how language is: a list repeats most of its words.
_LEAST_WORDS, _MOST_WORDS = 8, 30
# Whisper's own thresholds: silence is likely *and* the words are unlikely.
_NO_SPEECH, _NO_SPEECH_LOG = 0.6, -1.0
# Text that compresses this well is a loop where the words are unlikely too; seven lines of one list are people.
_COMPRESSION, _COMPRESSION_LOG = 2.4, -0.8


def believable(text: str, *, no_speech: float, mean_log_probability: float) -> str:
    """`text` without what cannot have been said; "" where nothing is left to believe."""
    if no_speech > _NO_SPEECH and mean_log_probability < _NO_SPEECH_LOG:
        return ""
    text = without_repeats(text)
    loop = compression(text) > _COMPRESSION and mean_log_probability < _COMPRESSION_LOG
    return "" if loop else text


def without_repeats(text: str) -> str:
    """Runs of one token or phrase collapsed, "" where they are most of the text; an exact second saying goes."""
    words = _said_once(text.split())
    kept, looped = _collapsed(words)
    if words and looped / len(words) > _REPETITION:
        return ""
    bare = [word.casefold().strip(".,!?;:…") for word in kept]
    if _LEAST_WORDS <= len(bare) <= _MOST_WORDS and 1 - len(set(bare)) / len(bare) > _REPETITION:
        return ""
    return " ".join(kept)


def _collapsed(words: list[str]) -> tuple[list[str], int]:
    """`words` with each run said once, and how many words the runs had."""
    folded = [word.casefold() for word in words]
    kept: list[str] = []
    at = looped = 0
    while at < len(words):
        for size in range(1, _LONGEST_PHRASE + 1):
            phrase = folded[at : at + size]
            times = 1
            while folded[at + times * size : at + (times + 1) * size] == phrase:
                times += 1
            if times >= (_RUN if size == 1 else _PHRASE_RUN):
                looped += times * size
                break
        else:
            size = times = 1
        kept.extend(words[at : at + size])
        at += times * size
    return kept, looped


def compression(text: str) -> float:
    """How well `text` compresses: length over compressed length. Speech is near 1, a loop is far over 2."""
    data = text.encode()
    return len(data) / len(zlib.compress(data)) if data else 1.0


def _said_once(words: list[str]) -> list[str]:
    """The phrase alone where `words` is one phrase said over and over, as a short window makes Whisper do.

    The last saying may be cut short where there were two whole ones before it.
    """
    folded = [word.casefold() for word in words]
    for size in range(1, len(words) // 2 + 1):
        if folded[size:] == folded[: len(words) - size]:
            whole, part = divmod(len(words), size)
            # Two words said twice ("Bye bye", "Come on, come on") are people; three and more are the decoder.
            return words[:size] if size >= _RUN and (not part or whole > 1) else words
    return words
