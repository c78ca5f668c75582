"""The turn that is being listened to: its number, its generation, where its sound lies, and how many parts stand.

Plain bookkeeping; it holds no sound and starts nothing. The one rule: speech that comes back before the answer was
heard continues the same turn under the next generation.
"""

from __future__ import annotations

from dataclasses import dataclass

from asr.features import RATE_HZ

# After this long the person has begun anew, whether or not anybody said that the answer was heard.
_REOPEN = 30 * RATE_HZ
# A turn of this many committed parts is closed: a television would talk for ever.
_MOST_PARTS = 4


@dataclass(slots=True)
class Turn:
    """Positions are samples at 16 kHz since the microphone was opened.

    `open`: somebody is speaking or merely pausing. `audio_start` is where the sound to recognise begins, pre-roll
    included; speech lies between `speech_start` and `speech_stop`, of which `voiced` samples were a voice.
    """

    number: int = 0
    generation: int = 0
    open: bool = False
    pausing: bool = False
    audio_start: int = 0
    speech_start: int = 0
    speech_stop: int = 0
    voiced: int = 0
    # Whether this generation's SpeechPaused, its final words and their judgement have been sent.
    announced: bool = False
    said: bool = False
    judged: bool = False
    # Committed parts that had words and whose answer was not heard: with none, there is nothing to reopen.
    parts: int = 0

    def begin(self, onset: int, *, floor: int, pre_roll: int) -> None:
        """Somebody speaks at `onset`: another turn, or the same one again. Nothing before `floor` is heard twice."""
        if 0 < self.parts < _MOST_PARTS and onset - self.speech_stop <= _REOPEN:
            self.resume()
        else:
            self.number += 1
            self.generation = 0
            self.parts = 0
            self.resume()
        # Sound that the turn before has used is not recognised again.
        self.audio_start = max(onset - pre_roll, floor, self.speech_stop if self.number > 1 or self.parts else 0)
        self.speech_start = self.speech_stop = onset
        self.voiced = 0
        self.open = True

    def resume(self) -> None:
        """The next generation: what was sent of the one before is void."""
        self.generation += 1
        self.pausing = self.announced = self.said = self.judged = False

    def commit(self, text: str) -> None:
        """The words stand. Where nobody has said anything there is nothing to reopen."""
        self.open = self.pausing = False
        if text:
            self.parts += 1

    def answered(self) -> None:
        """The answer was heard; an utterance that is open keeps its turn."""
        if not self.open:
            self.parts = 0
