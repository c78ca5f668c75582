"""What every session shares: the models of listening, and what they make of one stretch of speech.

`Ear` is made once for the process and gives each session its `Listener`. It keeps no session's state. The one rule:
sound in which nobody spoke never reaches a recogniser, because recognisers invent words.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from asr.activity import Silero
from asr.errors import LanguageRefused
from asr.features import RATE_HZ
from asr.judge import Judgement, judge
from asr.recogniser import Recogniser, Transcript
from asr.smart_turn import SmartTurn
from models.lanes import Lane
from sound import Pcm, Samples

# Under 100 ms of voiced sound, or quieter than RMS 0.005, is nobody (design/listening.md, "Activity").
LEAST_VOICED = RATE_HZ // 10
LEAST_RMS = 0.005
# The quick ear is unsure under this mean log probability. On 120 short utterances in three rooms a quarter were; asking
# the careful ear for those alone took the word errors from 4.9 % to 3.9 %, for all of them to 4.0 %; at -0.8 to 4.4 %.
_UNSURE_LOG = -0.6


@dataclass(frozen=True, slots=True)
class Stretch:
    """Speech cut out of a stream: `samples` at 16 kHz with what surrounds it, of which `voiced` were a voice.

    Speech lies at `begin` to `end` of `samples`.
    """

    samples: Samples
    begin: int
    end: int
    voiced: int

    @property
    def somebody(self) -> bool:
        """Whether anybody can have said anything in it."""
        spoken = self.samples[self.begin : self.end]
        if self.voiced < LEAST_VOICED or not len(spoken):
            return False
        return float(np.sqrt(np.mean(np.square(spoken, dtype=np.float64)))) >= LEAST_RMS


@dataclass(frozen=True, slots=True)
class Understood:
    """A transcript with what it took and the judge's opinion: of the words alone until it is `judged`."""

    transcript: Transcript
    judgement: Judgement
    recognise_ms: float
    judged: bool = True


class Ear:
    """The shared models. `lane` is where they run; `careful` corrects the quick ear where that one was unsure.

    `language` is what sessions hear unless told otherwise; a recogniser that does not know it is refused at once.
    """

    def __init__(
        self,
        recogniser: Recogniser,
        lane: Lane,
        *,
        silero: Silero | None = None,
        smart_turn: SmartTurn | None = None,
        careful: Recogniser | None = None,
        language: str = "en",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.recogniser = recogniser
        self.lane = lane
        self.silero = silero or Silero()
        self.clock = clock
        self._smart_turn = smart_turn
        self._careful = careful
        self.check_language(language)
        self.language = language

    def check_language(self, language: str) -> None:
        """Raises `LanguageRefused`, in words."""
        known = self.recogniser.languages
        if known is not None and language not in known:
            raise LanguageRefused(language, self.recogniser.name, known)

    def warm(self) -> None:
        """One call of each model, so that the first person does not pay for it. Blocking, for the lane."""
        self.recogniser.warm()
        if self._careful is not None:
            self._careful.warm()
        if self._smart_turn is not None:
            self._smart_turn.warm()

    def understand(
        self,
        stretch: Stretch,
        *,
        language: str,
        hint: str = "",
        word_times: bool = False,
        wanted: Callable[[], bool] = lambda: True,
        early: Callable[[Understood], None] = lambda _: None,
    ) -> Understood:
        """Recognise and judge. Blocking, for the lane; once `wanted` says no, what is left of the work is not done.

        `early` is given the words before the sound is asked whether they are all, from the thread of the lane.
        """
        began = self.clock()
        if not stretch.somebody or not wanted():
            return nothing(language, "nothing heard")
        pcm = Pcm(stretch.samples, RATE_HZ)
        heard = self.recogniser.recognise(pcm, language=language, hint=hint, word_times=word_times)
        # A second look costs as much again and half: where somebody else waits for the cores, it is not taken.
        unsure = heard.mean_log_probability < _UNSURE_LOG and not self.lane.waiting
        if self._careful is not None and unsure and wanted():
            heard = self._careful.recognise(pcm, language=language, hint=hint, word_times=word_times)
        took_ms = round((self.clock() - began) * 1000, 1)
        words = judge(heard.text, language, sound=None)
        if self._smart_turn is None or not heard.text or words.verdict == "incomplete" or not wanted():
            return Understood(heard, words, took_ms)
        early(Understood(heard, words, took_ms, judged=False))
        sound = self._smart_turn.complete(pcm, speech_end=stretch.end)
        return Understood(heard, judge(heard.text, language, sound=sound), took_ms)

    def glance(self, stretch: Stretch, *, language: str, hint: str = "") -> Understood:
        """Recognise what there is while somebody is speaking; nobody judges it. Blocking, for the lane."""
        began = self.clock()
        if not stretch.somebody:
            return nothing(language, "")
        heard = self.recogniser.recognise(Pcm(stretch.samples, RATE_HZ), language=language, hint=hint)
        return guess(Understood(heard, Judgement("unsure", ""), round((self.clock() - began) * 1000, 1)))


def guess(understood: Understood) -> Understood:
    """What was understood, where speech goes on."""
    # The end of a stretch that goes on is often half a word, to which a full stop does not belong.
    heard = replace(understood.transcript, text=understood.transcript.text.rstrip(".…- "))
    return replace(understood, transcript=heard, judgement=Judgement("unsure", ""))


def nothing(language: str, decided_by: str) -> Understood:
    """No words, and why."""
    return Understood(Transcript("", language, no_speech=1.0), Judgement("complete", decided_by), 0.0)
