"""Kept conversations: threads and lines, the person's own. See README.md."""

from voice.kept.conversation import Conversation
from voice.kept.keeping import Kept
from voice.kept.lines import KeptLine, KeptThread
from voice.kept.tables import MIGRATIONS

__all__ = ["MIGRATIONS", "Conversation", "Kept", "KeptLine", "KeptThread"]
