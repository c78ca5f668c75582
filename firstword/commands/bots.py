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
    import time

    from agents_core.compile import all_files, compile_folder
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
