"""The OpenAI-shaped door to the core. See README.md."""

from llm_door.answer import Pace
from llm_door.bodies import BodyLimits
from llm_door.crowd import CrowdLimits
from llm_door.door import Brain, create_door
from llm_door.errors import DoorRefusal, RequestRefused
from llm_door.keeping import CONTENT_POLICY, Keeping, keep
from llm_door.patience import PatientProtocol
from llm_door.people import Person, Session, single_user

__all__ = [
    "CONTENT_POLICY",
    "BodyLimits",
    "Brain",
    "CrowdLimits",
    "DoorRefusal",
    "Keeping",
    "Pace",
    "PatientProtocol",
    "Person",
    "RequestRefused",
    "Session",
    "create_door",
    "keep",
    "single_user",
]
