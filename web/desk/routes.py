"""The desk over HTTP: bots as fields, drafts, publishing, undoing, hearing.

It finds out who asks and hands the rest on. The one rule: whoever does not own the site gets the answer of an address
that leads nowhere.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from json import JSONDecodeError
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.responses import JSONResponse, Response

from database import is_away
from grant import error_response
from web.desk.errors import DeskError, NoSuchBot, NothingToUndo, Stale, Unfit, Unreadable
from web.desk.form import conflicts, form_of, label_of, refused
from web.desk.hearing import Hearing, NothingHeard
from web.desk.parts import DeskParts
from web.desk.shelf import Owner, Shelf
from web.desk.standing import standing

NO_STORE = {"Cache-Control": "no-store"}
_STATUS = {NoSuchBot: 404, Unreadable: 409, Stale: 409, Unfit: 422, NothingToUndo: 409}
Asked = Callable[[Owner], Awaitable[Response]]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Changes(_Body):
    """Fields to values; None is: as usual."""

    changes: dict[str, Any]


class Seen(_Body):
    """The digest of the file whose form was changed."""

    seen: str


class Hear(_Body):
    """The values on the screen that are not in the file; `steps` in place of the opening's, for the strip."""

    changes: dict[str, Any] = {}
    steps: int | None = None


def create_bots(parts: DeskParts, shelf: Shelf) -> APIRouter:
    """`/app/desk/api/bots…`."""
    router = APIRouter(include_in_schema=False, prefix="/app/desk/api")
    hearing = Hearing()

    @router.get("/bots")
    async def listed(request: Request) -> Response:
        async def answer(owner: Owner) -> Response:
            await parts.bots.fresh()
            drafts = await shelf.drafts(owner)
            rows = [{**standing(parts, slug, shelf.refusals(slug)), "draft": slug in drafts} for slug in shelf.slugs()]
            return _json({"bots": rows})

        return await for_owner(parts, request, answer)

    @router.get("/bots/{slug}")
    async def form(slug: str, request: Request) -> Response:
        async def answer(owner: Owner) -> Response:
            await parts.bots.fresh()
            opened = await shelf.opened(slug)
            told = {**form_of(parts, opened), **standing(parts, slug, shelf.refusals(slug))}
            return _json({**told, **await _drafted(shelf, owner, slug), "published": await _published(shelf, slug)})

        return await for_owner(parts, request, answer)

    @router.patch("/bots/{slug}/draft")
    async def change(slug: str, request: Request) -> Response:
        async def answer(owner: Owner) -> Response:
            asked = Changes.model_validate(await _body(request))
            await shelf.change(owner, slug, asked.changes)
            return _json(await _drafted(shelf, owner, slug))

        return await for_owner(parts, request, answer)

    @router.delete("/bots/{slug}/draft")
    async def discard(slug: str, request: Request) -> Response:
        async def answer(owner: Owner) -> Response:
            await shelf.discard(owner, slug)
            return _json(await _drafted(shelf, owner, slug))

        return await for_owner(parts, request, answer)

    @router.post("/bots/{slug}/publish")
    async def publish(slug: str, request: Request) -> Response:
        async def answer(owner: Owner) -> Response:
            asked = Seen.model_validate(await _body(request))
            try:
                await shelf.publish(owner, slug, asked.seen)
            except Unfit as fault:
                return _json({**_error(fault), "refusals": refused(fault.refusals, slug)}, 422)
            except Stale as fault:
                return _json({**_error(fault), "published": await _published(shelf, slug)}, 409)
            return _json({"published": await _published(shelf, slug), "note": await _voice_note(parts, slug)})

        return await for_owner(parts, request, answer)

    @router.post("/bots/{slug}/undo")
    async def undo(slug: str, request: Request) -> Response:
        async def answer(_owner: Owner) -> Response:
            await shelf.undo(slug)
            return _json({"published": await _published(shelf, slug)})

        return await for_owner(parts, request, answer)

    @router.post("/bots/{slug}/hear")
    async def hear(slug: str, request: Request) -> Response:
        async def answer(_owner: Owner) -> Response:
            asked = Hear.model_validate(await _body(request))
            steps = {} if asked.steps is None else {"voice.steps": asked.steps, "voice.opening": None}
            opened = await shelf.opened(slug)
            _, tried = await shelf.trial(opened, {**asked.changes, **steps})
            if tried.bot is None or tried.bot.voice is None:
                told = refused(tried.refusals, slug) or [{"key": "", "what": "This bot has no voice to hear."}]
                return _json({"error": {"message": told[0]["what"], "code": "refused"}, "refusals": told}, 422)
            heard = await hearing.hear(await parts.mouth(tried.bot.voice), tried.bot.voice)
            headers = {
                **NO_STORE,
                "X-First-Word-Ms": f"{heard.first_word_ms:.0f}",
                "X-Engine": heard.engine,
                "X-Note": heard.note.encode("ascii", "replace").decode()[:300].replace("\n", " "),
            }
            return Response(heard.wav, media_type="audio/wav", headers=headers)

        return await for_owner(parts, request, answer)

    return router


async def for_owner(parts: DeskParts, request: Request, answer: Asked) -> Response:
    """What an owner is answered; whatever is wrong in words, and nothing at all for anybody else."""
    owner = await parts.owner(request)
    if owner is None:
        return error_response(404, "there is no such page here", code="not_found", headers=NO_STORE)
    try:
        return await answer(owner)
    except DeskError as fault:
        return _json(_error(fault), _STATUS.get(type(fault), 400))
    except NothingHeard as fault:
        return error_response(422, str(fault), code="nothing_heard", headers=NO_STORE)
    except (ValidationError, JSONDecodeError, UnicodeDecodeError) as fault:
        what = fault.errors()[0]["msg"] if isinstance(fault, ValidationError) else "the body is no JSON"
        return error_response(400, what, code="bad_request", headers=NO_STORE)
    except Exception as fault:
        if not is_away(fault):
            raise
        what = "the database is away; nothing was changed. Try again in a moment"
        return error_response(503, what, code="database_away", headers={**NO_STORE, "Retry-After": "5"})


async def _body(request: Request) -> Any:
    return await request.json()


async def _drafted(shelf: Shelf, owner: Owner, slug: str) -> dict[str, Any]:
    """The draft, what the compile says of it, and where somebody else was sooner."""
    opened = await shelf.opened(slug)
    changes, was = await shelf.draft(owner, slug)
    _, tried = await shelf.trial(opened, changes)
    return {
        "draft": changes,
        "refusals": refused(tried.refusals, slug),
        "conflicts": conflicts(opened, changes, was),
        "digest": opened.digest,
    }


async def _published(shelf: Shelf, slug: str) -> dict[str, Any] | None:
    last = await shelf.last(slug)
    if last is None:
        return None
    opened = await shelf.opened(slug)
    fields = [label_of(key) for key in last["keys"]]
    return {"by": last["by"], "at_s": last["at_s"], "fields": fields, "undo": last["digest"] == opened.digest}


async def _voice_note(parts: DeskParts, slug: str) -> str:
    """What the owner should know of the voice that the next conversation gets."""
    bot = parts.bots.get(slug)
    return (await parts.mouth(bot.voice)).note if bot is not None and bot.voice is not None else ""


def _error(fault: DeskError) -> dict[str, Any]:
    return {"error": {"message": str(fault), "code": fault.code}}


def _json(told: Any, status: int = 200) -> Response:
    return JSONResponse(told, status_code=status, headers=NO_STORE)
