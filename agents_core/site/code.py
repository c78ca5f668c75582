"""Tools of a site's own: a Python module beside the tool's file.

Not a sandbox: the module is the owner's, as trusted as the server. It has one coroutine `run(handed, arguments)` that
gives text, or anything JSON can hold. The one rule: a module that cannot be loaded is a refusal with its line, and the
last good tools go on.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents_core.matter import Refused
from agents_core.tools import Answered, Does, Handed


def load(file: Path, line: int) -> Does:
    """What the module does. Raises `Refused`, with the module's own line in its words."""
    name = f"firstword_site_{file.stem}_{abs(hash(str(file)))}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise Refused(line, f"there is no module `{file.name}` beside this file", "Put it there, or correct the name")
    module = importlib.util.module_from_spec(spec)
    try:
        # Compiled from its text: a cache beside it could be older than a file that changed within the same second.
        exec(compile(file.read_text("utf-8"), str(file), "exec"), module.__dict__)  # noqa: S102  (the owner's own)
    except Exception as fault:
        at = fault.lineno if isinstance(fault, SyntaxError) else traceback.extract_tb(fault.__traceback__)[-1].lineno
        what = f"`{file.name}` cannot be loaded: {type(fault).__name__}: {fault}, at its line {at}"
        raise Refused(line, what[:400], "Mend the module") from None
    run = getattr(module, "run", None)
    if not inspect.iscoroutinefunction(run) or len(inspect.signature(run).parameters) != 2:
        raise Refused(
            line, f"`{file.name}` has no `async def run(handed, arguments)`", "Write one; it gives text or plain values"
        )

    async def does(handed: Handed, arguments: Mapping[str, Any]) -> Answered:
        said = await run(handed, arguments)
        if isinstance(said, Answered):
            return said
        return Answered(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False, default=str))

    return does
