"""`firstword worker`: conversations in the rooms of a LiveKit server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from firstword.settings import Settings


@click.command(short_help="Hold conversations in the rooms of a LiveKit server.")
@click.option(
    "--drain",
    "drain_s",
    default=60.0,
    show_default=True,
    type=click.FloatRange(1, 3600),
    help="seconds that conversations have to come to a quiet moment when it is stopped",
)
def worker(drain_s: float) -> None:
    """Join the rooms that a LiveKit server sends this worker to, and answer there.

    It needs LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET, the server's FIRSTWORD_SECRET, and the server itself
    at FIRSTWORD_DOOR_URL. With FIRSTWORD_LIVEKIT_AUDIO=true it hears and speaks; else it reads and writes. On SIGTERM
    or Ctrl-C it takes no more rooms and leaves each one in its next quiet moment.
    """
    from firstword.settings import load_settings

    asyncio.run(_work(load_settings(), drain_s))


async def _work(settings: Settings, drain_s: float) -> None:
    import signal

    from firstword.livekit import opened_worker

    stop = asyncio.Event()
    for told in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(told, stop.set)
    what = "sound and text" if settings.livekit_audio else "text"

    def ready() -> None:
        click.echo(f"waiting for rooms of {settings.livekit_url}, with {what} (stop with Ctrl-C)")

    async with opened_worker(settings, on_ready=ready) as worker:
        running = asyncio.create_task(worker.run())
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait([running, stopping], return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            stopping.cancel()
        else:
            click.echo("taking no more rooms; leaving those that there are in their next quiet moment")
            await worker.stop(drain_s)
        await running
