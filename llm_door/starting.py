"""What pressing start gives: a grant for one bot, one person and one room, and how the bot wishes to be heard.

It is the one place where a session turns into a grant. The one rule: every start mints its own grant for its own room;
nothing is kept and nothing is handed out twice.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from starlette.responses import JSONResponse

from agents_core import Bot
from grant import Signer, error_response
from llm_door.people import Person

# From a grant and its room: what a page needs to join that room at a LiveKit server.
RoomPass = Callable[[str, str], dict[str, Any]]


def begin(bot: Bot | None, person: Person, signer: Signer, room_pass: RoomPass | None = None) -> JSONResponse:
    """The answer to pressing start on a bot that can be spoken to; the same 404 for every other."""
    if bot is None or bot.voice is None or not person.may(bot.slug):
        return error_response(404, "there is no such bot here, or it is not yours to talk to", code="no_such_bot")
    room = f"room-{uuid.uuid4().hex}"
    token = signer.mint(
        bot=bot.slug,
        subject=person.subject,
        room=room,
        steps=bot.ceilings.steps,
        spend=bot.ceilings.spend,
        run_minutes=bot.ceilings.minutes,
    )
    card: dict[str, Any] = {
        "grant": token,
        "expires_at": signer.verify(token).expires_at,
        "bot": bot.slug,
        "name": bot.name,
        "room": room,
        "greeting": bot.voice.first,
        "voice": asdict(bot.voice),
    }
    if room_pass is not None:
        card["livekit"] = room_pass(token, room)
    # A grant is one person's for one conversation: no cache may hand it to anybody else.
    return JSONResponse(card, headers={"Cache-Control": "no-store"})
