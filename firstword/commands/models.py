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


@models.command(short_help="Examine the machine and the weights; measure memory.")
@click.option("--json", "as_json", is_flag=True, help="print one object")
@click.option("--quick", is_flag=True, help="leave out the measuring of memory, which loads everything")
def doctor(as_json: bool, quick: bool) -> None:
    """Examine: the machine, the optional parts, every weight against its sum, and the memory that the whole set takes.

    Exit code 1 where something that the default set needs is missing or wrong.
    """
    from firstword.weights import examine

    report = examine(measure=not quick)
    if as_json:
        click.echo(json.dumps(report))
    else:
        for line in report["lines"]:
            click.echo(line)
    if not report["well"]:
        raise click.exceptions.Exit(1)
