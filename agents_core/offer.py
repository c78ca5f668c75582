"""The offer: which tools and skills one run may use.

Not the registry and not the prompt: it takes what a bot names, leaves out what the asker may not have, and says what
is there at each moment. The one rule: what is withheld is absent from the prompt and from the tool list in the same
breath, because both are made from this one value.

A skill is one line until the bot opens it. Which are open is read off the run's own steps, so a run that another
process takes over knows it too; the tools a skill brings are offered only from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agents_core.audience import Held, may
from agents_core.foreign import read_json
from agents_core.loop import Step
from agents_core.site.commands import Command, said
from agents_core.tools import Answered, Handed, Tool, Toolbox

OPEN_SKILL = "open_skill"


@dataclass(frozen=True, slots=True)
class Skill:
    """Something a bot knows: a line in the prompt, a body behind it, and the tools it brings when it is opened."""

    name: str
    description: str
    body: str
    tools: tuple[str, ...] = ()
    audience: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """What one run may use. `brought` are the tools of each skill, offered once it is open."""

    tools: tuple[Tool, ...] = ()
    skills: tuple[Skill, ...] = ()
    brought: Mapping[str, tuple[Tool, ...]] = field(default_factory=dict)
    commands: Mapping[str, Command] = field(default_factory=dict)

    def asked(self, text: str, surface: str) -> str:
        """What is asked: `text`, or the prompt of the command it begins with, where that may be used here."""
        return said(text, {name: one for name, one in self.commands.items() if surface in one.surfaces})

    @property
    def is_repeatable(self) -> bool:
        """Whether nothing of what is shown at first must not happen twice."""
        return all(tool.repeats for tool in self.tools)

    def repeatable(self) -> Offer:
        """The same without tools that must not happen twice, for a run that nothing can be written of."""
        brought = {name: tuple(one for one in tools if one.repeats) for name, tools in self.brought.items()}
        return replace(self, tools=tuple(tool for tool in self.tools if tool.repeats), brought=brought)

    def box(self, steps: tuple[Step, ...]) -> Toolbox:
        """The tools that are there after `steps`."""
        tools = list(self.tools)
        if self.skills:
            tools.append(self._opener())
        for name in self.opened(steps):
            tools.extend(self.brought.get(name, ()))
        return Toolbox(tuple(tools))

    def opened(self, steps: tuple[Step, ...]) -> tuple[str, ...]:
        """The skills that were opened in these steps, in that order."""
        answered = {step.call_id for step in steps if step.kind == "tool"}
        asked = [_skill_named(call.arguments) for step in steps for call in step.calls if _opens(call, answered)]
        mine = {skill.name for skill in self.skills}
        return tuple(dict.fromkeys(name for name in asked if name in mine))

    def lines(self) -> str:
        """A line a skill, for the prompt; empty where there is none."""
        return "\n".join(f"- {skill.name}: {skill.description}" for skill in self.skills)

    def _opener(self) -> Tool:
        bodies = {skill.name: skill.body for skill in self.skills}

        async def does(_handed: Handed, arguments: Mapping[str, Any]) -> Answered:
            return Answered(bodies[arguments["name"]])

        name = {"type": "string", "enum": list(bodies), "description": "the skill's name"}
        schema = {"type": "object", "properties": {"name": name}, "required": ["name"], "additionalProperties": False}
        return Tool(OPEN_SKILL, "Read what a skill says before you answer about what it covers.", does, schema)


NOTHING = Offer()


def offer(
    tools: Iterable[Tool],
    skills: Iterable[Skill],
    registry: Mapping[str, Tool],
    held: Held,
    commands: Iterable[Command] = (),
) -> Offer:
    """What somebody who holds these words is offered of a bot's `tools`, `skills` and `commands`."""
    kept = tuple(skill for skill in skills if may(skill.audience, held))
    own = tuple(tool for tool in tools if may(tool.audience, held))
    brought = {
        skill.name: tuple(
            registry[name] for name in skill.tools if name in registry and may(registry[name].audience, held)
        )
        for skill in kept
    }
    mine = {command.name: command for command in commands if may(command.audience, held)}
    return Offer(own, kept, brought, mine)


def _opens(call: Any, answered: set[str]) -> bool:
    return call.name == OPEN_SKILL and call.id in answered


def _skill_named(arguments: str) -> str:
    try:
        given = read_json(arguments)
    except ValueError:
        return ""
    name = given.get("name") if isinstance(given, dict) else ""
    return name if isinstance(name, str) else ""
