"""Words nobody said: what a recogniser invents, taken out again.

Pure functions on text and numbers; no list of phrases, so that they work in every language. The one rule: what is
dropped is dropped whole or collapsed, never reworded.
"""

from __future__ import annotations

import itertools
import zlib

# A token three times in a row is a decoder in a loop (case W5); "No, no, no." differs in its punctuation and stays.
_RUN = 3
# Text of which more than this is repetition says nothing.
_REPETITION = 0.6
# Under this many words a repetition is a manner of speaking.
_LEAST_WORDS = 5
# Whisper's own thresholds: silence is likely *and* the words are unlikely; text that compresses this well is a loop.
_NO_SPEECH, _NO_SPEECH_LOG = 0.6, -1.0
_COMPRESSION = 2.4


def believable(text: str, *, no_speech: float, mean_log_probability: float) -> str:
    """`text` without what cannot have been said; "" where nothing is left to believe."""
    if no_speech > _NO_SPEECH and mean_log_probability < _NO_SPEECH_LOG:
        return ""
    text = without_repeats(text)
    return "" if compression(text) > _COMPRESSION else text


def without_repeats(text: str) -> str:
    """Runs of one token collapsed, or "" where they are most of the text; an exact second saying is dropped."""
    words = _halved(text.split())
    kept: list[str] = []
    run_words = 0
    for _, group in itertools.groupby(words, key=str.casefold):
        run = list(group)
        if len(run) >= _RUN:
            run_words += len(run)
            run = run[:1]
        kept.extend(run)
    if words and run_words / len(words) > _REPETITION:
        return ""
    bare = [word.casefold().strip(".,!?;:…") for word in kept]
    if len(bare) >= _LEAST_WORDS and 1 - len(set(bare)) / len(bare) > _REPETITION:
        return ""
    return " ".join(kept)


def compression(text: str) -> float:
    """How well `text` compresses: length over compressed length. Speech is near 1, a loop is far over 2."""
    data = text.encode()
    return len(data) / len(zlib.compress(data)) if data else 1.0


def _halved(words: list[str]) -> list[str]:
    """Half of `words` where the second half says the first again, as a short window makes Whisper do."""
    half = len(words) // 2
    # Two words said twice ("Bye bye", "Come on, come on") are people; three and more are the decoder.
    if half >= _RUN and len(words) % 2 == 0:
        first = [word.casefold() for word in words[:half]]
        if first == [word.casefold() for word in words[half:]]:
            return words[:half]
    return words
