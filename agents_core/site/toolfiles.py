"""Tool files: `tools/<name>.md`, an OpenAPI spec with an allow-list, or a module the site ships.

Not the built-in tools. The one rule: whatever a tool will need is looked at when its file is read: the spec, each
operation, the module, the schema, the key in the environment.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import jsonschema_rs
from pydantic import BaseModel, ConfigDict, Field
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from agents_core.bots import Audience, Names
from agents_core.matter import Matter, Refused, read_file
from agents_core.refusing import Many, validated
from agents_core.site.code import load
from agents_core.site.openapi import tools_of
from agents_core.site.schema import SpecRefused
from agents_core.tools import TOOL_NAME, Tool

# A key is written `$NAME` and read from the environment, so that no file of a site holds a secret.
_FROM_ENVIRONMENT = re.compile(r"\$([A-Z][A-Z0-9_]*)")
_SPEC_BYTES = 4 * 1024 * 1024


class ToolMatter(BaseModel):
    """The front matter of a tool's file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    openapi: Annotated[str, Field(max_length=200)] = ""
    operations: Names = Field(default=[])
    server: Annotated[str, Field(max_length=300)] = ""
    headers: dict[str, str] = Field(default={}, max_length=20)
    module: Annotated[str, Field(max_length=200)] = ""
    arguments: dict[str, Any] = Field(default={}, max_length=40)
    required: Names = Field(default=[])
    personal: bool = False
    repeats: bool = True
    busy: Annotated[str, Field(max_length=80)] = ""
    for_: Audience = Field(default=[], alias="for")


# Keys that say nothing for the other kind of tool.
_OF_OPENAPI = ("operations", "server", "headers")
_OF_A_MODULE = ("arguments", "required", "personal", "repeats")


def read_tools(
    file: Path, environment: Mapping[str, str] = os.environ, *, private_hosts: frozenset[str] = frozenset()
) -> list[Tool]:
    """The tools of `file`: one for a module, one an operation for a spec. Raises `Refused` and `Many`."""
    matter = read_file(file)
    known = validated(ToolMatter, matter.values, matter, {(): ToolMatter})
    if bool(known.openapi) == bool(known.module):
        instead = "Write `openapi: <file>` with `operations:`, or `module: <file>.py`"
        raise Many([Refused(2, "the tool is neither one spec nor one module", instead)])
    idle = _OF_A_MODULE if known.openapi else _OF_OPENAPI
    faults = [
        Refused(
            matter.line((key,)),
            f"`{key}:` says nothing for a tool with `{'openapi' if known.openapi else 'module'}:`",
            "Take it out",
        )
        for key in idle
        if key in matter.values
    ]
    if faults:
        raise Many(faults)
    if known.openapi:
        return _of_spec(file, known, matter, environment, private_hosts)
    return [_of_module(file, known, matter)]


def _of_module(file: Path, known: ToolMatter, matter: Matter) -> Tool:
    if not TOOL_NAME.fullmatch(file.stem.replace("-", "_")):
        raise Refused(1, f"`{file.stem}` cannot be a tool's name", "Use a-z, 0-9 and hyphens")
    if not matter.body:
        raise Refused(matter.body_line, "the body is empty", "Write what the model is told: what it is for, and when")
    schema = {
        "type": "object",
        "properties": known.arguments,
        "required": list(known.required),
        "additionalProperties": False,
    }
    try:
        jsonschema_rs.validator_for(schema)
    except (jsonschema_rs.ValidationError, ValueError) as fault:
        what = str(fault).splitlines()[0][:300]
        raise Refused(matter.line(("arguments",)), f"`arguments:` is no JSON schema: {what}", "Mend it") from None
    for n, name in enumerate(known.required):
        if name not in known.arguments:
            line = matter.line(("required", n))
            raise Refused(line, f"`{name}` is required and is no argument", "Add it to `arguments:`")
    return Tool(
        name=file.stem.replace("-", "_"),
        description=" ".join(matter.body.split()),
        does=load(_beside(file, known.module, matter, "module"), matter.line(("module",))),
        parameters=schema,
        audience=tuple(known.for_),
        personal=known.personal,
        repeats=known.repeats,
        busy=known.busy,
    )


def _of_spec(
    file: Path, known: ToolMatter, matter: Matter, environment: Mapping[str, str], private_hosts: frozenset[str]
) -> list[Tool]:
    line = matter.line(("openapi",))
    if not known.operations:
        instead = "Write `operations: [name, …]`: what is not on the list does not exist"
        raise Refused(line, "no operation is allowed", instead)
    if re.match(r"https?:", known.openapi):
        instead = (
            "Fetch it once, keep it beside this file, and name that: what a tool may do then changes only with you"
        )
        raise Refused(line, "the spec is an address", instead)
    document = _document(_beside(file, known.openapi, matter, "openapi"), line)
    headers = {
        name: _filled(value, environment, matter.line(("headers", name))) for name, value in known.headers.items()
    }
    try:
        tools = tools_of(
            file.stem.replace("-", "_"),
            document,
            known.operations,
            server=known.server,
            headers=headers,
            audience=tuple(known.for_),
            private_hosts=private_hosts,
        )
    except SpecRefused as fault:
        raise Refused(line, f"`{known.openapi}`: {fault.what}", fault.instead) from None
    except (TypeError, AttributeError, KeyError, ValueError, RecursionError) as fault:
        raise Refused(
            line, f"`{known.openapi}` is no whole spec ({fault})"[:300], "Check it with a validator"
        ) from None
    return tools


def _document(spec: Path, line: int) -> Mapping[str, Any]:
    if not spec.is_file():
        raise Refused(line, f"there is no file `{spec.name}` beside this one", "Put the spec there")
    if spec.stat().st_size > _SPEC_BYTES:
        raise Refused(line, f"`{spec.name}` is larger than 4 MiB", "Keep the operations that are allowed")
    text = spec.read_text("utf-8", errors="replace")
    try:
        document = json.loads(text) if spec.suffix == ".json" else YAML(typ="safe", pure=True).load(text)
    except (ValueError, YAMLError, RecursionError) as fault:
        what = str(fault).splitlines()[0][:200]
        raise Refused(line, f"`{spec.name}` cannot be read: {what}", "Mend it") from None
    if not isinstance(document, Mapping):
        raise Refused(line, f"`{spec.name}` is no OpenAPI spec", "Name one")
    return document


def _filled(value: str, environment: Mapping[str, str], line: int) -> str:
    for name in _FROM_ENVIRONMENT.findall(value):
        if not environment.get(name):
            raise Refused(line, f"`${name}` is not in the environment", "Set it where the server is started")
    return _FROM_ENVIRONMENT.sub(lambda found: environment[found[1]], value)


def _beside(file: Path, name: str, matter: Matter, key: str) -> Path:
    """A file in the same folder: a name, no way out of it."""
    if Path(name).name != name or name.startswith("."):
        raise Refused(matter.line((key,)), f"`{name}` is not a file beside this one", "Write its name alone")
    return file.parent / name
