"""Thinking: runs, the loop, providers, bots. See README.md."""

from agents_core.bots import Bot, BotVoice
from agents_core.compile import all_files, check_bots, compile_folder
from agents_core.core import Core
from agents_core.deadline import Alarm, Deadline
from agents_core.embedding import MiniLM
from agents_core.errors import AskRefused, ContentRefused, CoreError, OverLimit, ProviderFault, Uncounted, UnknownBot
from agents_core.events import (
    Act,
    Ask,
    Busy,
    Ceilings,
    Component,
    Delta,
    Done,
    Ending,
    Event,
    Failed,
    Line,
    Passages,
    Started,
    Trace,
    Usage,
)
from agents_core.library import Bots
from agents_core.limits import WINDOWS
from agents_core.matter import Refusal
from agents_core.providers import (
    AnthropicProvider,
    LocalProvider,
    OpenAIProvider,
    Patience,
    Profile,
    Provider,
    Question,
    ScriptProvider,
    Whole,
    Words,
)
from agents_core.recall import Memory
from agents_core.tally import Tally
from agents_core.tools import Answered, Handed, Tool

__all__ = [
    "WINDOWS",
    "Act",
    "Alarm",
    "Answered",
    "AnthropicProvider",
    "Ask",
    "AskRefused",
    "Bot",
    "BotVoice",
    "Bots",
    "Busy",
    "Ceilings",
    "Component",
    "ContentRefused",
    "Core",
    "CoreError",
    "Deadline",
    "Delta",
    "Done",
    "Ending",
    "Event",
    "Failed",
    "Handed",
    "Line",
    "LocalProvider",
    "Memory",
    "MiniLM",
    "OpenAIProvider",
    "OverLimit",
    "Passages",
    "Patience",
    "Profile",
    "Provider",
    "ProviderFault",
    "Question",
    "Refusal",
    "ScriptProvider",
    "Started",
    "Tally",
    "Tool",
    "Trace",
    "Uncounted",
    "UnknownBot",
    "Usage",
    "Whole",
    "Words",
    "all_files",
    "check_bots",
    "compile_folder",
]
