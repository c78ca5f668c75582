"""A bot's file as fields, and back into the file with every other byte as it was."""

from agents_core.editing.form import BODY, FIELDS, CannotWrite, Field, changed, written

__all__ = ["BODY", "FIELDS", "CannotWrite", "Field", "changed", "written"]
