"""Who answers. See the room's README.md."""

from agents_core.providers.anthropic import AnthropicProvider
from agents_core.providers.base import Chunk, Profile, Provider, Question, Whole, Words
from agents_core.providers.line import Line, Patience
from agents_core.providers.local import LocalProvider
from agents_core.providers.openai import OpenAIProvider
from agents_core.providers.script import ScriptProvider

__all__ = [
    "AnthropicProvider",
    "Chunk",
    "Line",
    "LocalProvider",
    "OpenAIProvider",
    "Patience",
    "Profile",
    "Provider",
    "Question",
    "ScriptProvider",
    "Whole",
    "Words",
]
