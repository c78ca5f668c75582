"""OpenAPI's schemas to JSON schemas that stand on their own.

Not a resolver: references are kept, because a schema may name itself, and what they name comes along as `$defs`. The
one rule: only what is inside the same file is ever followed; a reference to another file or address is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OWN = "#/components/schemas/"
# Said about how a value looks in a document, or to people; a model and a checker have no use for them.
_DROPPED = ("xml", "externalDocs", "example", "discriminator", "deprecated", "writeOnly")
_MOST_DEFINITIONS = 200


class SpecRefused(Exception):
    """The spec cannot be used: what is wrong, and what to do."""

    def __init__(self, what: str, instead: str) -> None:
        super().__init__(what)
        self.what, self.instead = what, instead


def pointed(document: Mapping[str, Any], reference: str) -> Any:
    """What a reference inside the document names. Raises `SpecRefused`."""
    if not reference.startswith("#/"):
        raise SpecRefused(f"`$ref: {reference}` points outside the file", "Put what it names into the file itself")
    value: Any = document
    for part in reference[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(value, Mapping) or key not in value:
            raise SpecRefused(f"`$ref: {reference}` names nothing in the file", "Correct it")
        value = value[key]
    return value


def resolved(document: Mapping[str, Any], value: Any) -> Any:
    """The value, with a reference at its top followed to its end."""
    seen = set()
    while isinstance(value, Mapping) and isinstance(value.get("$ref"), str):
        reference = value["$ref"]
        if reference in seen:
            raise SpecRefused(f"`$ref: {reference}` leads back to itself", "Break the circle")
        seen.add(reference)
        value = pointed(document, reference)
    return value


def standing_alone(document: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema in JSON schema's words, with every definition it reaches under `$defs`."""
    definitions: dict[str, Any] = {}
    translated = _translate(document, schema, definitions, 0)
    return {**translated, **({"$defs": definitions} if definitions else {})}


def _translate(document: Mapping[str, Any], schema: Any, definitions: dict[str, Any], depth: int) -> Any:
    if depth > 60:
        raise SpecRefused("a schema is nested deeper than 60 levels", "Flatten it, or leave the operation out")
    if not isinstance(schema, Mapping):
        return schema
    if isinstance(schema.get("$ref"), str):
        return _reference(document, schema, definitions, depth)
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _DROPPED or str(key).startswith("x-"):
            continue
        if key in ("properties", "patternProperties", "$defs", "dependentSchemas"):
            out[key] = {name: _translate(document, one, definitions, depth + 1) for name, one in dict(value).items()}
        elif key in ("allOf", "anyOf", "oneOf", "prefixItems"):
            out[key] = [_translate(document, one, definitions, depth + 1) for one in value]
        elif key in ("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"):
            out[key] = _translate(document, value, definitions, depth + 1)
        else:
            out[key] = value
    return _in_3_1(_without_read_only(document, out, schema))


def _reference(document: Mapping[str, Any], schema: Mapping[str, Any], definitions: dict[str, Any], depth: int) -> Any:
    reference = schema["$ref"]
    target = pointed(document, reference)
    if not reference.startswith(_OWN):
        return _translate(document, target, definitions, depth + 1)
    name = reference.removeprefix(_OWN)
    if name not in definitions:
        if len(definitions) >= _MOST_DEFINITIONS:
            raise SpecRefused(f"an operation reaches more than {_MOST_DEFINITIONS} schemas", "Leave it out")
        definitions[name] = {}  # before what is in it, which may name it again
        definitions[name] = _translate(document, target, definitions, 0)
    said = {key: schema[key] for key in ("description", "default") if key in schema}
    return {"$ref": f"#/$defs/{name}", **said}


def _without_read_only(document: Mapping[str, Any], out: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """What only the server may set is nothing to ask a model for."""
    given = schema.get("properties")
    if not isinstance(given, Mapping):
        return out
    shut = {name for name, one in given.items() if _says(document, one, "readOnly")}
    if shut:
        out["properties"] = {name: one for name, one in out["properties"].items() if name not in shut}
        out["required"] = [name for name in out.get("required", ()) if name not in shut]
    return out


def _says(document: Mapping[str, Any], schema: Any, key: str) -> bool:
    found = resolved(document, schema)
    return isinstance(found, Mapping) and found.get(key) is True


def _in_3_1(schema: dict[str, Any]) -> dict[str, Any]:
    """3.0's own words for what JSON schema says otherwise."""
    if schema.pop("nullable", False) is True:
        if isinstance(schema.get("type"), str):
            schema["type"] = [schema["type"], "null"]
        if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
    for side, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(schema.get(side), bool) and schema.pop(side) and plain in schema:
            schema[side] = schema.pop(plain)
    schema.pop("readOnly", None)
    return schema
