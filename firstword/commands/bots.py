"""`firstword bots`: check and show the bots."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from agents_core import Core, Memory

_T = TypeVar("_T")


@click.group(short_help="Check and show the bots.")
def bots() -> None:
    """The bots: markdown files in the content folder."""


@bots.command(short_help="Refuse what is wrong, all at once, with file and line.")
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--json", "as_json", is_flag=True, help="print one object")
def check(folder: Path | None, as_json: bool) -> None:
    """Check every file under FOLDER (FIRSTWORD_CONTENT). Exit code 1 where one is refused."""
    import time

    from agents_core import all_files, compile_folder
    from firstword.settings import load_settings

    place = folder or load_settings().content
    began_s = time.perf_counter()
    compiled = compile_folder(place)
    took_s = time.perf_counter() - began_s
    found, files = compiled.refusals, len(all_files(place))
    if as_json:
        refusals = [refusal.as_json() for refusal in found]
        click.echo(json.dumps({"files": files, "bots": sorted(compiled.bots), "refusals": refusals}))
    else:
        for refusal in found:
            click.echo(str(refusal))
        refused = f"{len(found)} refusals in {len({r.file for r in found})} of them" if found else "all is well"
        click.echo(f"{files} files in {took_s:.2f} s: {refused}")
    if found:
        raise click.exceptions.Exit(1)


@bots.command(short_help="What a bot is, once compiled.")
@click.argument("slug")
@click.option("--json", "as_json", is_flag=True, help="print one object")
def show(slug: str, as_json: bool) -> None:
    """Show the bot SLUG as the server understands it, defaults included."""
    from firstword.house import known_bots
    from firstword.settings import load_settings

    bots = known_bots(load_settings(), slug)
    if as_json:
        click.echo(json.dumps(bots[slug].as_json(), ensure_ascii=False))
        return
    from firstword.shown import shown

    click.echo("\n".join(shown(bots[slug], bots)))


@bots.command(short_help="What people asked the staff for.")
@click.option("--json", "as_json", is_flag=True, help="print one object")
def tickets(as_json: bool) -> None:
    """The tickets that bots wrote, newest first."""
    from dataclasses import asdict

    found = _in_core(lambda core: core.desk.tickets())
    if as_json:
        click.echo(json.dumps({"tickets": [asdict(ticket) for ticket in found]}, ensure_ascii=False))
        return
    for ticket in found:
        click.echo(f"#{ticket.number}  {ticket.subject or 'nobody'} to {ticket.bot}: {ticket.title}\n    {ticket.text}")
    if not found:
        click.echo("no tickets")


@bots.command(short_help="What a bot remembers of somebody; forget it.")
@click.argument("slug")
@click.argument("person")
@click.option("--forget", type=int, multiple=True, help="forget this one, by its number")
@click.option("--forget-all", is_flag=True, help="forget everything, earlier questions too")
@click.option("--json", "as_json", is_flag=True, help="print one object")
def memories(slug: str, person: str, forget: tuple[int, ...], forget_all: bool, as_json: bool) -> None:
    """What the bot SLUG keeps of PERSON, newest first."""
    from dataclasses import asdict

    async def work(core: Core) -> list[Memory]:
        for number in forget:
            if not await core.memories.forget(person, slug, number):
                raise click.ClickException(f"{slug} remembers no number {number} of {person}")
        if forget_all:
            await core.memories.forget_all(person, slug)
        return await core.memories.of(person, slug)

    found = _in_core(work)
    if as_json:
        click.echo(json.dumps({"memories": [asdict(memory) for memory in found]}, ensure_ascii=False))
        return
    for memory in found:
        click.echo(f"{memory.id:6}  {memory.said}")
    if not found:
        click.echo(f"{slug} remembers nothing of {person}")


def _in_core(work: Callable[[Core], Awaitable[_T]]) -> _T:
    """Do something with the core's rows, and close it."""
    import asyncio

    from agents_core import Core
    from firstword.settings import load_settings

    settings = load_settings()

    async def run() -> _T:
        if not settings.database_url:
            settings.data.mkdir(parents=True, exist_ok=True)
        core = await Core.open(content=settings.content, database_url=settings.database, worker=False)
        try:
            return await work(core)
        finally:
            await core.close()

    return asyncio.run(run())
