"""Skills: `skills/<name>.md`, a description and the instructions behind it.

Not tools, though one may bring some. The one rule: a site's file replaces the house's of the same name outright;
nothing is ever merged.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from agents_core.bots import Audience, Names
from agents_core.matter import Matter, Refused, read_file
from agents_core.offer import Skill
from agents_core.refusing import Many, validated

KIT = Path(__file__).parents[1] / "kit" / "skills"


class SkillMatter(BaseModel):
    """The front matter of a skill's file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    description: Annotated[str, Field(min_length=1, max_length=300)]
    tools: Names = Field(default=[])
    for_: Audience = Field(default=[], alias="for")


def read_skill(file: Path) -> tuple[Skill, Matter]:
    """The skill in `file`. Raises `Refused` and `Many`."""
    matter = read_file(file)
    known = validated(SkillMatter, matter.values, matter, {(): SkillMatter})
    if not matter.body:
        raise Many(
            [Refused(matter.body_line, "the body is empty", "Write under the front matter what the bot follows")]
        )
    description = " ".join(known.description.split())
    return Skill(file.stem, description, matter.body, tuple(known.tools), tuple(known.for_)), matter
