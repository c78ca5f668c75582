"""The owner's desk. Its addresses are in `pages`, `routes` and `rooms`; what becomes of a file in `shelf`."""

from web.desk.pages import create_desk_pages
from web.desk.parts import DeskParts, EngineOffer, Mouth, Thinker
from web.desk.rooms import create_rooms, create_sharing
from web.desk.routes import create_bots
from web.desk.shelf import Owner, Shelf
from web.desk.talks import Talks

__all__ = [
    "DeskParts",
    "EngineOffer",
    "Mouth",
    "Owner",
    "Shelf",
    "Talks",
    "Thinker",
    "create_bots",
    "create_desk_pages",
    "create_rooms",
    "create_sharing",
]
