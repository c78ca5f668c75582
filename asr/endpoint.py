"""Has the person finished? Pure: silence so far and the judgement in, a decision out.

It holds no sound and no clock. The one rule: every wait is a constant here, with its reason, and nothing waits past
`LONGEST_MS`.
"""

from __future__ import annotations

from asr.events import Verdict
from asr.judge import Judgement

# By the words, where the sound was not asked or the words are not whole. Speech that comes back reopens the turn, so
# that a wait may be shorter than some pauses are. Chosen on the practice lines of benchmarks/utterances.toml, of which
# 16 of 40 hold a pause of 300 to 900 ms. "Unsure" at 416 cut off 6.7 %; of 55 pauses after such words 18 were ends. For
# the slowest person it is doubled, and then as long as "incomplete".
WAIT_MS: dict[Verdict, float] = {"complete": 224.0, "unsure": 608.0, "incomplete": 1_216.0}
# By the sound, where the words are whole: the first row whose likelihood of the end is reached. Tried on pauses that
# were heard once with every number kept: practice and exam lines in three rooms, twice. Over 0.5 the number does not
# tell who goes on: with 192 ms from 0.7 up and 320 under it a turn ended 28 ms sooner, and 20 of the exam's 240
# utterances were cut off in place of 18. Under 0.5 most were ends all the same: 544 ms for all of them were too many.
GRADES: tuple[tuple[float, float], ...] = ((0.5, 224.0), (0.2, 448.0), (0.0, 544.0))
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


def graded_ms(judgement: Judgement) -> float:
    """The silence that such a judgement asks for, of anybody."""
    whole = judgement.decided_by in ("both", "sound") and judgement.verdict != "incomplete"
    if not whole or judgement.sound is None:
        return WAIT_MS[judgement.verdict]
    return next((ms for least, ms in GRADES if judgement.sound >= least), WAIT_MS["unsure"])


def wait_ms(judgement: Judgement, *, scale: float = 1.0, factor: float = 1.0) -> float:
    """The silence to wait for. `scale` is the bot's, `factor` the person's, which leaves unfinished phrases alone."""
    own = 1.0 if judgement.verdict == "incomplete" else factor
    return min(LONGEST_MS, graded_ms(judgement) * scale * own)


def ended(silence_ms: float, judgement: Judgement, *, scale: float = 1.0, factor: float = 1.0) -> bool:
    """Whether `silence_ms` of silence after words that were judged so ends the turn."""
    return silence_ms >= wait_ms(judgement, scale=scale, factor=factor)
