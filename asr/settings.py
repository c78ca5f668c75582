"""How one session listens: a bag of options, each with its default and a sentence. Read it, know the behaviour."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ListenSettings:
    """Options of one `Listener`; a bot's file sets the first, the rest are for engineers."""

    # Scales every wait for the end of a turn (the bot's `voice.wait`); 0.5 to 3 makes sense.
    wait: float = 1.0
    # Sound of one utterance that is kept, in seconds; then it is committed.
    longest_s: float = 30.0
    # Whether words are guessed while somebody speaks; they feed the live line alone.
    partials: bool = True
    # At most one guess in this many milliseconds of sound.
    partial_every_ms: float = 400.0
    # Whether the words are recognised while somebody may only be pausing; else once the shortest wait is over.
    speculate: bool = True
    # Text that the person is likely to use: names, terms.
    hint: str = ""
    # Whether final words carry the times at which they were said; it costs a third of the recogniser's time again.
    word_times: bool = False
