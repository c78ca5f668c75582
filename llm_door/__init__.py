"""The OpenAI-shaped door to the core. See README.md."""

from llm_door.answer import Pace
from llm_door.door import Brain, create_door
from llm_door.errors import DoorRefusal, RequestRefused
from llm_door.people import Person, Session, single_user
from llm_door.starting import Opening, Openings

__all__ = [
    "Brain",
    "DoorRefusal",
    "Opening",
    "Openings",
    "Pace",
    "Person",
    "RequestRefused",
    "Session",
    "create_door",
    "single_user",
]
