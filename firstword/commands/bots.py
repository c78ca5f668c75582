"""`firstword bots`: check and show the bots."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.group(short_help="Check and show the bots.")
def bots() -> None:
    """The bots: markdown files in the content folder."""


@bots.command(short_help="Refuse what is wrong, all at once, with file and line.")
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--json", "as_json", is_flag=True, help="print one object")
def check(folder: Path | None, as_json: bool) -> None:
    """Check every file under FOLDER (FIRSTWORD_CONTENT). Exit code 1 where one is refused."""
    from agents_core import check_bots
    from firstword.settings import load_settings

    found = check_bots(folder or load_settings().content)
    if as_json:
        click.echo(json.dumps({"refusals": [refusal.as_json() for refusal in found]}))
    else:
        for refusal in found:
            click.echo(str(refusal))
        click.echo(f"{len(found)} refused" if found else "all bots are well")
    if found:
        raise click.exceptions.Exit(1)


@bots.command(short_help="What a bot is, once compiled.")
@click.argument("slug")
@click.option("--json", "as_json", is_flag=True, help="print one object")
def show(slug: str, as_json: bool) -> None:
    """Show the bot SLUG as the server understands it, defaults included."""
    from firstword.house import known_bot
    from firstword.settings import load_settings

    bot = known_bot(load_settings(), slug).as_json()
    if as_json:
        click.echo(json.dumps(bot, ensure_ascii=False))
        return
    for key, value in bot.items():
        click.echo(f"{key}: {json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value}")
