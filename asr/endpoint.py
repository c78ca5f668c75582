"""Has the person finished? Pure: silence so far and the judge's verdict in, a decision out.

It holds no sound and no clock. The one rule: every wait is a constant here, with its reason, and nothing waits past
`LONGEST_MS`.
"""

from __future__ import annotations

from asr.events import Verdict

# Whole ticks of the detector: 7, 17 and 38. On the practice lines of benchmarks/utterances.toml, in three rooms, these
# cut off 2.5 % of 120 utterances; 16 lines of 40 hold a pause of 300 to 900 ms. At 160 ms for "complete" it was 2.5 %
# too, but on the exam 7.5 % against 1.7 %; at 288 ms 0.8 %, for 64 ms more on every turn. "Unsure" at 416 ms cut off
# 6.7 %. Speech that comes back reopens the turn, so that a wait may be shorter than some pauses are.
WAIT_MS: dict[Verdict, float] = {"complete": 224.0, "unsure": 544.0, "incomplete": 1_216.0}
# A person who is silent for longer than this has finished, whatever the last word was.
LONGEST_MS = 2_500.0
# Silence after which the words so far are recognised: one window of Silero. Where speech goes on they were made for
# nothing; where it does not, words, judge and first sound are there before the shortest wait is over.
RECOGNISE_MS = 32.0
# Silence after which somebody is said to pause: three windows of Silero. Shorter gaps lie inside words.
PAUSE_MS = 80.0

# A word alone ("No", "Okay") is often the first of several ("No, thank you": 190 to 290 ms between).
_WORD_ALONE_MS, _WORD_ALONE = 450.0, 1.4
# Among people soft sounds are lost: what is a pause there is longer than it was, and words are cut in two.
_CROWDED = 1.5

# Where a person's pauses are unknown they are taken to be like this; the waits above fit somebody with such pauses.
_TYPICAL_MS = 300.0
# Somebody who never pauses inside a turn drifts to this, which gives the shortest waits.
_FLUENT_MS = 150.0
# At 0.7 a whole sentence waits 157 ms; under that the words are not there yet.
_LEAST_FACTOR, _MOST_FACTOR = 0.7, 2.0
# A shorter gap is a consonant, which says nothing of how somebody pauses.
_CONSONANT_MS = 150.0
# One pause moves the average by a quarter: four or five pauses are enough to know somebody, and as many to forget.
_FORGETS = 0.25
_FLUENT_FORGETS = 0.1


class Pauses:
    """One person's own pauses inside their turns: an average that forgets."""

    def __init__(self) -> None:
        self._mean_ms = _TYPICAL_MS
        self._seen = False

    def heard(self, pause_ms: float) -> None:
        """They paused this long and went on."""
        if pause_ms < _CONSONANT_MS:
            return
        self._seen = True
        self._mean_ms += _FORGETS * (min(pause_ms, LONGEST_MS) - self._mean_ms)

    def finished(self) -> None:
        """They finished a turn; one without a pause says that they do not pause."""
        if not self._seen:
            self._mean_ms += _FLUENT_FORGETS * (_FLUENT_MS - self._mean_ms)
        self._seen = False

    @property
    def factor(self) -> float:
        """What their waits are multiplied by, 0.7 to 2."""
        return min(_MOST_FACTOR, max(_LEAST_FACTOR, self._mean_ms / _TYPICAL_MS))


def manner(verdict: Verdict, *, voiced_ms: float, crowded: bool) -> float:
    """What the wait is multiplied by for how the utterance was heard: `voiced_ms` of it were a voice.

    Only a whole sentence is waited for so shortly that it matters.
    """
    if verdict != "complete":
        return 1.0
    return (_WORD_ALONE if voiced_ms < _WORD_ALONE_MS else 1.0) * (_CROWDED if crowded else 1.0)


def wait_ms(verdict: Verdict, *, scale: float = 1.0, factor: float = 1.0) -> float:
    """The silence to wait for. `scale` is the bot's, `factor` the person's, which leaves unfinished phrases alone."""
    own = 1.0 if verdict == "incomplete" else factor
    return min(LONGEST_MS, WAIT_MS[verdict] * scale * own)


def ended(silence_ms: float, verdict: Verdict, *, scale: float = 1.0, factor: float = 1.0) -> bool:
    """Whether `silence_ms` of silence after words of this verdict ends the turn."""
    return silence_ms >= wait_ms(verdict, scale=scale, factor=factor)
