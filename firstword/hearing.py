"""What this deployment hears with, made of its settings: the weights, the recogniser, the ear.

The one rule: nothing is loaded before it is asked for.
"""

from __future__ import annotations

from asr import Ear, SmartTurn, WhisperRecogniser
from firstword.settings import Settings
from models import Lane, Store


def store_for(settings: Settings) -> Store:
    """The weights of this deployment."""
    return Store(settings.models)


def recogniser_for(settings: Settings) -> WhisperRecogniser:
    """The local recogniser. Raises `WeightsMissing` and `EngineRefused`."""
    folder = store_for(settings).path(settings.listen_model)
    return WhisperRecogniser(folder, threads=settings.listen_threads, least_window_s=settings.listen_window_s)


def ear_for(settings: Settings, lane: Lane) -> Ear:
    """What every session hears with, on `lane`. Raises `WeightsMissing`, `EngineRefused` and `LanguageRefused`."""
    store = store_for(settings)
    smart_turn = None
    if store.present("smart-turn-v3.2"):
        smart_turn = SmartTurn(store.path("smart-turn-v3.2"), threads=settings.listen_threads)
    recogniser = recogniser_for(settings)
    return Ear(recogniser, lane, smart_turn=smart_turn, careful=recogniser.careful(), language=settings.language)
