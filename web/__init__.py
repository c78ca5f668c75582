"""What people look at. See README.md."""

from web.bots import VISUALS, BotCard
from web.pages import create_pages

__all__ = ["VISUALS", "BotCard", "create_pages"]
