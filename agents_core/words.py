"""The words that thinking adds: endings, stand-ins, and how an answer is to sound.

Not the bots' words, which stand in their files. The one rule: the loop holds no English; whatever it says is here,
and a site replaces any of it in `house.toml` of its content folder.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agents_core.matter import Refusal

_HOUSE = Path(__file__).with_name("house.toml")


@dataclass(frozen=True, slots=True)
class House:
    """The house's words, a site's own over them."""

    endings: Mapping[str, str]
    stand_in: Mapping[str, str]
    brief: Mapping[str, str]
    words: Mapping[str, str]


def house_words(folder: Path, refusals: list[Refusal]) -> House:
    """The words in force; what is wrong in the site's own goes to `refusals`."""
    words: dict[str, dict[str, str]] = tomllib.loads(_HOUSE.read_text(encoding="utf-8"))
    own = folder / "house.toml"
    if own.is_file():
        try:
            given = tomllib.loads(own.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
            at = re.search(r"line (\d+)", str(fault))
            refusals.append(Refusal(own.name, int(at[1]) if at else 1, f"it is not TOML: {fault}", "Mend that line"))
            given = {}
        lines = own.read_text(encoding="utf-8", errors="replace").splitlines()
        for block, keys in given.items():
            for key, said in keys.items() if isinstance(keys, dict) else ():
                if key in words.get(block, {}) and isinstance(said, str):
                    words[block][key] = said
                else:
                    known = ", ".join(f"{b}.{k}" for b, ks in words.items() for k in ks)
                    line = next((n for n, text in enumerate(lines, 1) if text.lstrip().startswith(key)), 1)
                    refusals.append(
                        Refusal(own.name, line, f"there are no words `{block}.{key}`", f"The words are {known}")
                    )
    return House(words["endings"], words["stand_in"], words["brief"], words["words"])
