"""The shelf: bots' files as owners change them. Drafts, publishing, undoing, and two owners at once.

It knows no HTTP. A draft is the fields somebody changed, not a copy of the file, so that two owners' changes to
different fields never meet. The one rule: a file is replaced whole, inside the transaction that keeps what it was
before, and only where it still is what its owner has seen.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, text, update

from agents_core import Bots, Refusal
from agents_core.compile import Tried, bot_file, bot_files, taken_over, try_bot
from agents_core.editing import BODY, FIELDS, CannotWrite, changed, written
from agents_core.matter import Refused, split
from database import Database
from web.desk.errors import NoSuchBot, NothingToUndo, Stale, Unfit, Unreadable
from web.desk.tables import DRAFTS, MIGRATIONS, PUBLISHED


@dataclass(frozen=True, slots=True)
class Owner:
    """Somebody who owns the site."""

    subject: str
    name: str


@dataclass(frozen=True, slots=True)
class Opened:
    """A bot's file as its owner sees it: `own` what it writes itself, `below` what holds where it says nothing."""

    slug: str
    data: bytes
    own: Mapping[str, Any]
    below: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """Of the file as it is."""
        return _digest(self.data)

    def said(self, key: str) -> Any:
        """What holds of a field."""
        usual = "" if key == BODY else FIELDS[key].usual
        return self.own.get(key, self.below.get(key, usual))


class Shelf:
    """The files of `bots`, with drafts and what was published in `database`. `now` gives Unix seconds. `open` first."""

    def __init__(self, bots: Bots, database: Database, *, now: Callable[[], float] = time.time) -> None:
        self.bots = bots
        self._database = database
        self._now = now

    async def open(self) -> None:
        """Bring the tables up to date. Raises `DatabaseError`s in words."""
        await self._database.bring_up(MIGRATIONS)

    def slugs(self) -> list[str]:
        """Every bot that has a file, in order of name."""
        return [file.stem for file in bot_files(self.bots.folder) if file.suffix == ".md"]

    async def opened(self, slug: str) -> Opened:
        """The file of a bot. Raises `NoSuchBot` and `Unreadable`."""
        return await asyncio.to_thread(self._opened, slug)

    async def trial(self, opened: Opened, changes: Mapping[str, Any]) -> tuple[bytes, Tried]:
        """The file with changes made, and what the compile would say of it. Raises `Unreadable`."""

        def work() -> tuple[bytes, Tried]:
            data = _changed(opened, changes)
            return data, try_bot(self.bots.compiled, self.bots.folder, opened.slug, data)

        return await asyncio.to_thread(work)

    async def draft(self, owner: Owner, slug: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """What an owner has changed and not published, and what each field said when they changed it."""
        row = await self._database.act(lambda db: _draft(db, slug, owner.subject), reads=True)
        return (json.loads(row.changes), json.loads(row.was)) if row else ({}, {})

    async def drafts(self, owner: Owner) -> set[str]:
        """The bots that an owner has a draft of."""
        asked = select(DRAFTS.c.bot).where(DRAFTS.c.owner == owner.subject)
        return await self._database.act(lambda db: {str(one) for one in db.scalars(asked)}, reads=True)

    async def change(self, owner: Owner, slug: str, delta: Mapping[str, Any]) -> None:
        """Put changes beside those that are there. A field that says again what its file says is no change.

        Raises `NoSuchBot` and `Unreadable`.
        """
        opened = await self.opened(slug)
        await asyncio.to_thread(_changed, opened, delta)

        def work(db: Connection) -> None:
            row = _draft(db, slug, owner.subject)
            changes, was = (json.loads(row.changes), json.loads(row.was)) if row else ({}, {})
            for key, value in delta.items():
                was.setdefault(key, opened.said(key))
                changes[key] = value
                usual = opened.below.get(key, "" if key == BODY else FIELDS[key].usual)
                if opened.said(key) == (usual if value is None else value):
                    del changes[key], was[key]
            _write_draft(db, slug, owner.subject, changes, was, self._now())

        await self._database.act(work)

    async def discard(self, owner: Owner, slug: str) -> None:
        """Throw a draft away."""
        await self._database.act(lambda db: _write_draft(db, slug, owner.subject, {}, {}, 0.0))

    async def publish(self, owner: Owner, slug: str, seen: str) -> None:
        """Make an owner's draft the file. `seen` is the digest of the file that they changed.

        Raises `NoSuchBot`, `Unreadable`, `Stale` where somebody was sooner, and `Unfit`.
        """
        opened = await self.opened(slug)
        changes, _ = await self.draft(owner, slug)
        data, tried = await self.trial(opened, changes)
        if opened.digest != seen:
            raise Stale("somebody has published this bot since you opened it; your changes are kept")
        if tried.refusals:
            raise Unfit(tried.refusals)
        row = {"bot": slug, "owner": owner.subject, "name": owner.name[:80], "before": opened.data, "undone": 0}

        def work(db: Connection) -> None:
            _alone(db, slug)
            if _digest(self._file(slug).read_bytes()) != seen:
                raise Stale("somebody has published this bot since you opened it; your changes are kept")
            values = {**row, "digest": _digest(data), "keys": json.dumps(sorted(changes)), "at_s": self._now()}
            db.execute(insert(PUBLISHED).values(**values))
            _write_draft(db, slug, owner.subject, {}, {}, 0.0)
            _replace(self._file(slug), data)

        if data != opened.data:
            await self._database.act(work)
        else:
            await self.discard(owner, slug)
        await self.bots.fresh(now=True)

    async def undo(self, slug: str) -> None:
        """Put the file back as it was before the last publishing. Raises `NoSuchBot` and `NothingToUndo`."""

        def work(db: Connection) -> None:
            _alone(db, slug)
            last = _last(db, slug)
            if last is None:
                raise NothingToUndo("nothing that was published here is left to undo")
            if _digest(self._file(slug).read_bytes()) != last.digest:
                raise NothingToUndo("the file was changed elsewhere since; undoing would lose that")
            db.execute(update(PUBLISHED).where(PUBLISHED.c.id == last.id).values(undone=1))
            _replace(self._file(slug), bytes(last.before))

        self._file(slug)
        await self._database.act(work)
        await self.bots.fresh(now=True)

    async def last(self, slug: str) -> dict[str, Any] | None:
        """Who published last, when, and which fields; None where nobody did."""
        row = await self._database.act(lambda db: _last(db, slug), reads=True)
        if row is None:
            return None
        return {"by": row.name, "at_s": row.at_s, "keys": json.loads(row.keys), "digest": row.digest}

    def refusals(self, slug: str) -> list[Refusal]:
        """What the file as it stands is refused for."""
        own = self._file(slug).relative_to(self.bots.folder).as_posix()
        return [each for each in self.bots.refusals if each.file == own]

    def _file(self, slug: str) -> Path:
        if slug not in self.slugs():
            raise NoSuchBot("there is no such bot here")
        return bot_file(self.bots.folder, slug)

    def _opened(self, slug: str) -> Opened:
        data = self._file(slug).read_bytes()
        try:
            own = written(split(data))
            theirs = taken_over(self.bots.folder, slug, data)
        except Refused as fault:
            raise Unreadable(f"line {fault.line} of the file: {fault}; {fault.instead}") from None
        below: dict[str, Any] = {f"endings.{name}": words for name, words in self.bots.house.endings.items()}
        for key, field in FIELDS.items():
            value: Any = theirs
            for name in field.path:
                value = value.get(name) if isinstance(value, dict) else None
            if value is not None and key not in ("tools", "skills"):
                below[key] = value
        return Opened(slug, data, own, below)


def _changed(opened: Opened, changes: Mapping[str, Any]) -> bytes:
    try:
        return changed(opened.data, changes, opened.below)
    except (CannotWrite, Refused) as fault:
        raise Unreadable(str(fault)) from None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _replace(file: Path, data: bytes) -> None:
    """The whole file or none of it; who may read it stays."""
    part = file.with_name(f".{file.name}.part")
    with part.open("wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    shutil.copymode(file, part)
    part.replace(file)


def _alone(db: Connection, slug: str) -> None:
    """One publishing of a bot at a time. SQLite has one writer anyway."""
    if db.dialect.name == "postgresql":
        db.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:slug, 11))"), {"slug": slug})


def _draft(db: Connection, slug: str, owner: str) -> Row[Any] | None:
    return db.execute(select(DRAFTS).where(DRAFTS.c.bot == slug, DRAFTS.c.owner == owner)).one_or_none()


def _write_draft(
    db: Connection, slug: str, owner: str, changes: Mapping[str, Any], was: Mapping[str, Any], at_s: float
) -> None:
    db.execute(delete(DRAFTS).where(DRAFTS.c.bot == slug, DRAFTS.c.owner == owner))
    if changes:
        row = {"bot": slug, "owner": owner, "changes": json.dumps(changes), "was": json.dumps(was), "at_s": at_s}
        db.execute(insert(DRAFTS).values(**row))


def _last(db: Connection, slug: str) -> Row[Any] | None:
    asked = select(PUBLISHED).where(PUBLISHED.c.bot == slug, PUBLISHED.c.undone == 0)
    return db.execute(asked.order_by(PUBLISHED.c.id.desc()).limit(1)).one_or_none()
