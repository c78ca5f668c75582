"""Sound out: speakable text, the cut for a fast start, engines, the speaker, `/v1/audio/speech`; see README.md."""

from tts.cut import Cutter, pieces
from tts.endpoint_engine import EndpointEngine
from tts.engine import Engine, Voice
from tts.errors import NoVoice, SpeechFault, SplitFailed, TtsError, UnknownVoice
from tts.frames import Frame, Piece
from tts.handle import SpeechHandle, Spoken
from tts.kokoro_engine import KokoroEngine
from tts.piper_engine import PiperEngine
from tts.reading import spoken
from tts.sentences import sentences
from tts.speakable import Speakable, speakable
from tts.speaker import Speaker
from tts.speech import SpeechSource, create_speech
from tts.split import split_voice
from tts.supertonic_engine import SupertonicEngine

__all__ = [
    "Cutter",
    "EndpointEngine",
    "Engine",
    "Frame",
    "KokoroEngine",
    "NoVoice",
    "Piece",
    "PiperEngine",
    "Speakable",
    "Speaker",
    "SpeechFault",
    "SpeechHandle",
    "SpeechSource",
    "SplitFailed",
    "Spoken",
    "SupertonicEngine",
    "TtsError",
    "UnknownVoice",
    "Voice",
    "create_speech",
    "pieces",
    "sentences",
    "speakable",
    "split_voice",
    "spoken",
]
