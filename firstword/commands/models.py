"""`firstword models`: list, fetch and examine the weights."""

from __future__ import annotations

import json

import click


@click.group(short_help="List, fetch and examine the weights.")
def models() -> None:
    """The weights: what there is, what is here, and whether it is whole."""


@models.command("list", short_help="What the catalog has, and what is here.")
@click.option("--json", "as_json", is_flag=True, help="print one object")
def list_(as_json: bool) -> None:
    """What the catalog has: name, what for, size, licence, and whether it is here."""
    from firstword.weights import listing

    rows = listing()
    if as_json:
        click.echo(json.dumps({"models": rows}))
        return
    for row in rows:
        here = "here" if row["present"] else ("default" if row["default"] else "")
        click.echo(f"{row['name']:26} {row['bytes'] / 1e6:7.1f} MB  {row['licence']:14} {here:8} {row['what_for']}")


@models.command(short_help="Fetch weights and verify them.")
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="print one object at the end")
def pull(names: tuple[str, ...], as_json: bool) -> None:
    """Fetch NAMES (the default set where none is given), verify their sums, and prepare them."""
    from firstword.weights import fetch

    done = fetch(names, quiet=as_json)
    if as_json:
        click.echo(json.dumps({"pulled": done}))


@models.command(short_help="Examine the machine and the weights; ask the providers.")
@click.option("--json", "as_json", is_flag=True, help="print one object")
@click.option("--quick", is_flag=True, help="leave out the measuring of memory, which loads everything")
@click.option("--providers", is_flag=True, help="ask everybody who is configured to think, each key by itself")
@click.option("--drill", is_flag=True, help="ask a provider that breaks on purpose, in every way there is")
def doctor(as_json: bool, quick: bool, providers: bool, drill: bool) -> None:
    """Examine: the machine, the optional parts, every weight against its sum, and the memory that the whole set takes.

    With --providers it asks the configured line instead, and says what that comes to for somebody who asks now; what
    costs money is asked only where FIRSTWORD_LIVE is true. With --drill it says what each fault of a provider would do
    to somebody's turn.

    Exit code 1 where something that the default set needs is missing or wrong, or nobody answers.
    """
    if providers or drill:
        _ask_around(as_json, providers, drill)
        return
    from firstword.weights import examine

    report = examine(measure=not quick)
    if as_json:
        click.echo(json.dumps(report))
    else:
        for line in report["lines"]:
            click.echo(line)
    if not report["well"]:
        raise click.exceptions.Exit(1)


def _ask_around(as_json: bool, providers: bool, drill: bool) -> None:
    import asyncio

    from agents_core import Patience
    from firstword import drill as drills
    from firstword.settings import load_settings

    tried = asyncio.run(drills.configured(load_settings())) if providers else []
    turned = asyncio.run(drills.drill()) if drill else []
    if as_json:
        click.echo(json.dumps({"providers": drills.as_json(tried), "drill": drills.as_json(turned)}))
    else:
        lines = drills.tried_in_words(tried, Patience()) if providers else []
        for line in [*lines, *drills.turned_in_words(turned)]:
            click.echo(line)
    if providers and not any(one.first_word_ms is not None for one in tried):
        raise click.exceptions.Exit(1)
