"""Text turns in a room: which stream of `copilot.output` the words of an answer belong to.

Pure: Realtime events of a session in, what to do with streams out. The one rule: every turn that came in on
`copilot.input` gets exactly one stream, under its own id, with how it ended; also one that was never answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Ending = Literal["completed", "cancelled", "failed"]

# An error of this code is about an event that was sent: the turn itself. Others come along with it, as when what was
# said before cannot be read, and it is answered all the same.
_REFUSED = "invalid_value"
_WORDS = ("response.output_text.delta", "response.output_audio_transcript.delta")


@dataclass(frozen=True, slots=True)
class Begin:
    """Open the stream of `turn`; `item` is the answer's own id."""

    turn: str
    item: str = ""


@dataclass(frozen=True, slots=True)
class Write:
    """More words of `turn`'s answer."""

    turn: str
    text: str


@dataclass(frozen=True, slots=True)
class End:
    """Close the stream of `turn`: how it ended, and why in words where it failed."""

    turn: str
    status: Ending
    why: str = ""


Step = Begin | Write | End


class Turns:
    """The text turns of one conversation; `waiting` is the one that is not being answered yet."""

    def __init__(self) -> None:
        self.waiting = ""
        self._answering: dict[str, str] = {}

    def asked(self, turn: str) -> list[Step]:
        """A turn came in. One that still waits is not answered any more: the person went on."""
        steps = self._give_up("cancelled")
        self.waiting = turn
        return steps

    def take(self, event: dict[str, Any]) -> list[Step]:
        """What an event of the session means for the streams."""
        kind = event["type"]
        if kind == "response.output_item.added" and self.waiting:
            turn, self.waiting = self.waiting, ""
            self._answering[event["response_id"]] = turn
            return [Begin(turn, event["item"]["id"])]
        if kind in _WORDS and event["response_id"] in self._answering:
            return [Write(self._answering[event["response_id"]], event["delta"])]
        if kind == "response.done":
            return self._over(event["response"])
        if kind == "error" and self.waiting and event["error"]["code"] == _REFUSED:
            return self._give_up("failed", event["error"]["message"])
        return []

    def cancelled(self) -> list[Step]:
        """The person wants no answer to what they asked last."""
        return self._give_up("cancelled")

    def _over(self, response: dict[str, Any]) -> list[Step]:
        turn = self._answering.pop(response["id"], None)
        if turn is None:
            return []
        why = ((response["status_details"] or {}).get("error") or {}).get("message", "")
        return [End(turn, response["status"], why)]

    def _give_up(self, status: Ending, why: str = "") -> list[Step]:
        turn, self.waiting = self.waiting, ""
        return [Begin(turn), End(turn, status, why)] if turn else []
