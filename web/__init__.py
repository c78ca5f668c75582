"""What people look at. See README.md."""

from web.bots import VISUALS, BotCard
from web.memories import create_memories
from web.pages import RoomClient, create_pages
from web.threads import Asker, Who, create_threads

__all__ = ["VISUALS", "Asker", "BotCard", "RoomClient", "Who", "create_memories", "create_pages", "create_threads"]
