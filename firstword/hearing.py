"""What this deployment hears with, made of its settings: the weights, the recogniser, the ear, a canceller before it.

The one rule: nothing is loaded before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from asr import Ear, SmartTurn, WhisperRecogniser
from firstword.errors import CannotStart
from firstword.settings import Settings
from models import Lane, Store

if TYPE_CHECKING:
    from voice.canceller import WebrtcCanceller

_NO_EXTRA = 'FIRSTWORD_WEBRTC_CANCELLER is set and the extra is not installed: pip install "firstword[livekit]"'


def store_for(settings: Settings) -> Store:
    """The weights of this deployment."""
    return Store(settings.models)


def recogniser_for(settings: Settings) -> WhisperRecogniser:
    """The local recogniser. Raises `WeightsMissing` and `EngineRefused`."""
    folder = store_for(settings).path(settings.listen_model)
    return WhisperRecogniser(folder, threads=settings.engine_threads, least_window_s=settings.listen_window_s)


def ear_for(settings: Settings, lane: Lane) -> Ear:
    """What every session hears with, on `lane`. Raises `WeightsMissing`, `EngineRefused` and `LanguageRefused`."""
    store = store_for(settings)
    smart_turn = None
    if store.present("smart-turn-v3.2"):
        smart_turn = SmartTurn(store.path("smart-turn-v3.2"), threads=settings.engine_threads)
    recogniser = recogniser_for(settings)
    return Ear(recogniser, lane, smart_turn=smart_turn, careful=recogniser.careful(), language=settings.language)


def canceller_for(settings: Settings) -> Callable[[], WebrtcCanceller] | None:
    """What makes a session's WebRTC canceller; None where it is not wanted. Raises `CannotStart` without the extra."""
    if not settings.webrtc_canceller:
        return None
    try:
        from voice.canceller import WebrtcCanceller
    except ImportError as missing:
        raise CannotStart(_NO_EXTRA) from missing
    return WebrtcCanceller
