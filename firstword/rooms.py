"""The errors of every room. They are sentences written for people, so the command line shows them as they are.

The one rule: only what a room raises on purpose is here; anything else is a fault of ours and keeps its traceback.
"""

from __future__ import annotations

from agents_core import CoreError
from asr import AsrError
from database import DatabaseError
from firstword.errors import FirstwordError
from grant import GrantRefused
from models import ModelsError
from sound import SoundError
from tts import TtsError
from voice import VoiceError

ERRORS: tuple[type[Exception], ...] = (
    AsrError,
    CoreError,
    DatabaseError,
    FirstwordError,
    GrantRefused,
    ModelsError,
    SoundError,
    TtsError,
    VoiceError,
)
