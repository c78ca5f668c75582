"""`firstword runs`: the answers being made, which are rows; and a process that works off those nobody holds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from agents_core.store import Store
    from firstword.settings import Settings

T = TypeVar("T")


@click.group(short_help="List, show and cancel answers; work off those that nobody holds.")
def runs() -> None:
    """Every answer is a row, a run, whichever process makes it. These commands need no server, only its database."""


@runs.command("list", short_help="The runs that were begun last.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="how many")
@click.option("--json", "as_json", is_flag=True, help="print one object")
def list_(limit: int, as_json: bool) -> None:
    """The runs that were begun last, the latest first; not what was said in them."""
    found = _on_rows(lambda rows: rows.recent(limit))
    told = [{"id": r.id, "bot": r.bot, "state": r.state, "ending": r.ending, "attempt": r.attempt} for r in found]
    if as_json:
        click.echo(json.dumps({"runs": told}))
        return
    for run in told:
        click.echo(f"{run['id']:34} {run['bot']:16} {run['state']:10} {run['ending'] or ''}")


@runs.command(short_help="What became of a run, step by step.")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="print one object")
def show(run: str, as_json: bool) -> None:
    """What became of RUN: its state, its answer, and who took each step at what cost (in millionths)."""
    from dataclasses import asdict

    async def found(rows: Store) -> dict[str, object] | None:
        record = await rows.record(run)
        if record is None:
            return None
        return {**asdict(record), "steps": [asdict(step) for step in await rows.steps(run)]}

    told = _on_rows(found)
    if told is None:
        raise click.ClickException(f"there is no run {run!r}; `firstword runs list` shows the latest")
    if as_json:
        click.echo(json.dumps(told))
        return
    click.echo(f"{told['state']}{', ' + str(told['ending']) if told['ending'] else ''}, attempt {told['attempt']}")
    for step in told["steps"]:  # type: ignore[attr-defined]
        state = " (begun, not answered)" if step["open"] else " (broken off)" if step["cut"] else ""
        who = f"{step['provider']} {step['model']}".strip() or step["call_id"]
        click.echo(f"{step['n']:3} {step['kind']:6} {who:30} {step['spent']:8}{state}")
    click.echo(told["answer"] or told["reason"] or "")


@runs.command(short_help="Cancel a run, whichever process holds it.")
@click.argument("run")
def cancel(run: str) -> None:
    """Cancel RUN. The process that makes the answer notices within half a second."""
    if not _on_rows(lambda rows: rows.cancel(run)):
        raise click.ClickException(f"there is nothing to cancel: run {run!r} is over, or was never begun")
    click.echo("cancelled")


@runs.command(short_help="Take away old runs that are over.")
@click.option("--days", required=True, type=click.FloatRange(0), help="those begun longer ago than this")
def forget(days: float) -> None:
    """Take away runs that are over and were begun more than DAYS ago, with their steps. Spends stay for a month."""
    gone = _on_rows(lambda rows: rows.forget(days * 24 * 3600))
    click.echo(f"{gone} runs are gone")


@runs.command(short_help="Work off runs that nobody holds, until it is told to stop.")
def work() -> None:
    """Finish runs that were handed in, given back, or left by a process that died. A server does this too.

    On SIGTERM or Ctrl-C it claims nothing more, finishes what it holds within seconds, and gives back the rest.
    """
    from firstword.settings import load_settings

    asyncio.run(_work(load_settings()))


async def _work(settings: Settings) -> None:
    import signal

    from firstword.house import open_core

    stop = asyncio.Event()
    for told in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(told, stop.set)
    core = await open_core(settings)
    try:
        click.echo("working on runs that nobody holds (stop with Ctrl-C)")
        await stop.wait()
    finally:
        await core.close()


def _on_rows(what: Callable[[Store], Awaitable[T]]) -> T:
    """Do `what` on the rows of this deployment."""
    from agents_core.store import Store
    from firstword.settings import load_settings

    async def do() -> T:
        rows = Store(load_settings().database)
        try:
            return await what(rows)
        finally:
            await rows.close()

    return asyncio.run(do())
