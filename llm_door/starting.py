"""What pressing start gives: a grant for one bot, one person and one room, and how the bot wishes to be heard.

It is the one place where a session turns into a grant. The one rule: every start mints its own grant for its own room;
nothing is kept and nothing is handed out twice.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from starlette.responses import JSONResponse

from agents_core.events import Ceilings
from grant import Signer, error_response
from llm_door.people import Person


@dataclass(frozen=True, slots=True)
class Opening:
    """What a page needs to begin with a bot. Everything here is shown to the person; there is no prompt in it.

    `greeting` is what the bot says first ("" where it waits); `voice` its settings as its file names them; `ceilings`
    are the bot's own, and go into the grant.
    """

    name: str
    greeting: str = ""
    voice: Mapping[str, object] = field(default_factory=dict)
    ceilings: Ceilings = field(default_factory=Ceilings)


# Gives a bot's opening, or None where no such bot is served.
Openings = Callable[[str], Opening | None]


def begin(bot: str, opening: Opening | None, person: Person, signer: Signer) -> JSONResponse:
    """The answer to pressing start."""
    if opening is None or not person.may(bot):
        return error_response(404, "there is no such bot here, or it is not yours to talk to", code="no_such_bot")
    room = f"room-{uuid.uuid4().hex}"
    token = signer.mint(
        bot=bot,
        subject=person.subject,
        room=room,
        steps=opening.ceilings.steps,
        spend=opening.ceilings.spend,
        run_minutes=opening.ceilings.minutes,
    )
    card = {
        "grant": token,
        "expires_at": signer.verify(token).expires_at,
        "bot": bot,
        "name": opening.name,
        "room": room,
        "greeting": opening.greeting,
        "voice": dict(opening.voice),
    }
    # A grant is one person's for one conversation: no cache may hand it to anybody else.
    return JSONResponse(card, headers={"Cache-Control": "no-store"})
