"""Is that a person, or the assistant's own voice? Pure numbers and pure text; see README.md."""

from echo.backchannel import is_backchannel, is_reply, is_stop
from echo.bar import Bar, Judged
from echo.cancel import Canceller
from echo.leak import Leak, level_of
from echo.likeness import is_own, novel_words
from echo.voicing import pitch_hz

__all__ = [
    "Bar",
    "Canceller",
    "Judged",
    "Leak",
    "is_backchannel",
    "is_own",
    "is_reply",
    "is_stop",
    "level_of",
    "novel_words",
    "pitch_hz",
]
