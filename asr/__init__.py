"""Sound in: activity, end of turn, recognisers, the listener, `/v1/audio/transcriptions`; see README.md."""

from asr.activity import Activity, Silero, Tick
from asr.ear import Ear
from asr.errors import AsrError, EngineRefused, LanguageRefused
from asr.events import Judged, ListenEvent, SpeechEnded, SpeechPaused, SpeechStarted, Verdict, Word, Words
from asr.hear import Heard, hear, hear_on
from asr.judge import Judgement, judge
from asr.listener import Listener
from asr.recogniser import Recogniser, Transcript
from asr.settings import ListenSettings
from asr.smart_turn import SmartTurn
from asr.transcriptions import HearingSource, create_transcriptions
from asr.whisper import WhisperRecogniser

__all__ = [
    "Activity",
    "AsrError",
    "Ear",
    "EngineRefused",
    "Heard",
    "HearingSource",
    "Judged",
    "Judgement",
    "LanguageRefused",
    "ListenEvent",
    "ListenSettings",
    "Listener",
    "Recogniser",
    "Silero",
    "SmartTurn",
    "SpeechEnded",
    "SpeechPaused",
    "SpeechStarted",
    "Tick",
    "Transcript",
    "Verdict",
    "WhisperRecogniser",
    "Word",
    "Words",
    "create_transcriptions",
    "hear",
    "hear_on",
    "judge",
]
