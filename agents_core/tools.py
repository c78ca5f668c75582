"""Tools: what a bot can do.

Not the loop, which decides when one is called, and not the offer, which decides whose it is. A tool is one entry: its
name, what the model is told, the JSON schema of its arguments, and what it does. The schema that is shown is the schema
that is checked. The one rule: a call never raises; whatever is wrong with it is a sentence for the model to read.

A personal tool is handed the run and never a person. Whom a run is about stands on its row, so there is no parameter
into which a model could write somebody else.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Protocol

import jsonschema_rs

from agents_core.events import Act, Component, Passages
from agents_core.foreign import letters, read_json
from agents_core.loop import Call

# OpenAI's own bound on a function's name; every other server takes the same letters.
TOOL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
# A tool that waits longer holds up somebody who listens; the run's own minutes are the outer bound.
CALL_S = 10.0
# What a model is given of an answer: a few thousand tokens. More would push the conversation out of a small window.
ANSWER_CHARS = 12_000
# Arguments are a line of JSON. A model that writes more is going round in circles.
_ARGUMENT_CHARS = 64_000

Schema = Mapping[str, Any]
NO_ARGUMENTS: Schema = {"type": "object", "properties": {}, "additionalProperties": False}


class Desk(Protocol):
    """What the house knows and keeps of people. Each asks by run: whom it is about stands on the run's own row."""

    async def about(self, run: str) -> Mapping[str, Any] | None:
        """What is known of whom the run is about; None where there is nobody, {} where nothing is known."""

    async def raise_ticket(self, run: str, call: str, title: str, text: str) -> str:
        """Write a ticket for whom the run is about, once for each call. Gives its number."""


@dataclass(frozen=True, slots=True)
class Handed:
    """What a tool is handed beside its arguments: where the run is, and no identity at all."""

    run: str
    call: str
    bot: str
    surface: str
    room: str
    language: str
    desk: Desk


@dataclass(frozen=True, slots=True)
class Answered:
    """What a tool gave: words for the model, and what goes to whoever listens. `failed` is for the trace."""

    text: str
    events: tuple[Passages | Component | Act, ...] = ()
    failed: bool = False


Does = Callable[[Handed, Mapping[str, Any]], Awaitable[Answered]]


@dataclass(frozen=True, slots=True)
class Tool:
    """One entry of the registry.

    `audience` is asked of the asker. `repeats` False marks one that must not happen twice: "about to call" is written
    before it, and a resumed run says that it is unknown whether it happened. `busy` is what a listener is told
    meanwhile.
    """

    name: str
    description: str
    does: Does
    parameters: Schema = field(default_factory=lambda: NO_ARGUMENTS)
    audience: tuple[str, ...] = ()
    personal: bool = False
    repeats: bool = True
    busy: str = ""

    def shown(self) -> dict[str, Any]:
        """The tool in OpenAI's shape."""
        function = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": function}


class Toolbox(Mapping[str, Tool]):
    """The tools that are offered at one moment of one run. What is not in it does not exist."""

    def __init__(self, tools: Iterator[Tool] | tuple[Tool, ...] = ()) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def shown(self) -> tuple[dict[str, Any], ...]:
        """Every tool in OpenAI's shape, in a fixed order, so that a provider that keeps prefixes reads them once."""
        return tuple(self._tools[name].shown() for name in sorted(self._tools))

    async def call(self, call: Call, handed: Handed, *, limit_s: float = CALL_S) -> Answered:
        """What the call comes to. Never raises, except where it is cancelled."""
        tool = self._tools.get(call.name)
        if tool is None:
            return failed(f"there is no tool named {call.name[:80]!r}; {self._instead()}")
        arguments = arguments_of(call.arguments, tool.parameters)
        if isinstance(arguments, str):
            return failed(f"{call.name}: {arguments}")
        try:
            async with asyncio.timeout(limit_s):
                answered = await tool.does(handed, arguments)
        except TimeoutError:
            return failed(f"{call.name} did not answer within {limit_s:g} seconds")
        except Exception as fault:
            # A site's own module may raise anything; the run goes on, and the model says that it did not work.
            return failed(f"{call.name} did not work ({type(fault).__name__})")
        text = letters(answered.text[:ANSWER_CHARS])
        return replace(answered, text=text if len(answered.text) <= ANSWER_CHARS else f"{text}\n(cut here)")

    def _instead(self) -> str:
        return f"there are {', '.join(sorted(self._tools))}" if self._tools else "answer without one"

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)


def failed(what: str) -> Answered:
    """An error for the model to read."""
    return Answered(f"error: {what}", failed=True)


def unknown(call: Call) -> Answered:
    """For a call that must not be repeated and whose outcome was not written: somebody died between the two."""
    return failed(
        f"{call.name} was begun and it is unknown whether it happened; do not call it again, and say that somebody "
        "has to look"
    )


def arguments_of(written: str, schema: Schema) -> dict[str, Any] | str:
    """The arguments a model wrote, checked against the tool's schema; or a sentence saying what is wrong with them.

    Properties the schema does not name are dropped, unless it says that any may come.
    """
    if len(written) > _ARGUMENT_CHARS:
        return "the arguments are too long"
    try:
        given = read_json(written) if written.strip() else {}
    except ValueError:
        return "the arguments are not JSON"
    if not isinstance(given, dict):
        return "the arguments are not an object"
    known = schema.get("properties", {})
    if schema.get("additionalProperties", False) is False:
        given = {name: value for name, value in given.items() if name in known}
    try:
        fault = next(_checker(json.dumps(schema, sort_keys=True)).iter_errors(given), None)
    except ValueError:
        # Nested deeper than it looks, or with half a letter in it.
        return "the arguments hold what cannot be read"
    if fault is None:
        return given
    where = ".".join(str(part) for part in fault.instance_path)
    return f"{where + ': ' if where else ''}{fault.message[:300]}"


@lru_cache(maxsize=512)
def _checker(schema: str) -> Any:
    return jsonschema_rs.validator_for(json.loads(schema), validate_formats=True)
