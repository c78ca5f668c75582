"""A formula in LaTeX as characters that can be read: \\frac{a}{b} as a/b, x^2 as x², \\alpha as α.

Not a renderer: what is longer or harder than a listener can follow is a formula on the screen. The one rule: no
backslash is ever read aloud.
"""

from __future__ import annotations

import re
import unicodedata

# Said in place of a formula that cannot be followed by ear.
FORMULA = "a formula, on the screen"
# Longer than this nobody follows by ear.
LONGEST = 80

_SYMBOLS = {
    **dict(
        zip(
            [
                "alpha",
                "beta",
                "gamma",
                "delta",
                "epsilon",
                "zeta",
                "eta",
                "theta",
                "iota",
                "kappa",
                "lambda",
                "mu",
                "nu",
                "xi",
            ],
            "αβγδεζηθικλμνξ",
            strict=True,
        )
    ),
    **{unicodedata.name(letter).split()[-1].lower(): letter for letter in "αβγδεζηθικλμνξπρστυφχψω"},
    **{unicodedata.name(letter).split()[-1].title(): letter for letter in "ΓΔΘΛΞΠΣΦΨΩ"},
    "lambda": "λ",
    "Lambda": "Λ",
    "times": " × ",
    "cdot": " × ",
    "div": " ÷ ",
    "pm": " ± ",
    "le": " ≤ ",
    "leq": " ≤ ",
    "ge": " ≥ ",
    "geq": " ≥ ",
    "ne": " ≠ ",
    "neq": " ≠ ",
    "approx": " ≈ ",
    "to": " → ",
    "rightarrow": " → ",
    "infty": "∞",
    "degree": "°",
    "circ": "°",
    "ldots": "…",
    "dots": "…",
    "cdots": "…",
    "quad": " ",
    "qquad": " ",
    "left": "",
    "right": "",
    "displaystyle": "",
    "sin": "sin ",
    "cos": "cos ",
    "tan": "tan ",
    "log": "log ",
    "ln": "ln ",
    "%": "%",
    "$": "$",
    "&": "&",
    "#": "#",
    "_": "_",
    "{": "",
    "}": "",
    ",": " ",
    ";": " ",
    ":": " ",
    "!": "",
    " ": " ",
}
_RAISED = str.maketrans("0123456789+-n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ")
_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_PLAIN = re.compile(r"\\(?:text|mathrm|mathbf|mathit|mathsf|operatorname|textbf|boxed)\s*\{([^{}]*)\}")
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_ROOT = re.compile(r"\\sqrt\s*\{([^{}]*)\}")
_RAISE = re.compile(r"\^(?:\{([^{}]*)\}|(\w))")
_LOWER = re.compile(r"_(?:\{([^{}]*)\}|(\w))")
_COMMAND = re.compile(r"\\([A-Za-z]+|[^A-Za-z])")


def readable(latex: str) -> str:
    """`latex` without its dollars as text, or a few words that stand for it."""
    text = latex.strip()
    for _ in range(4):
        before = text
        text = _PLAIN.sub(r"\1", text)
        text = _RAISE.sub(lambda found: _raised(found.group(1) or found.group(2) or ""), text)
        text = _LOWER.sub(lambda found: _lowered(found.group(1) or found.group(2) or ""), text)
        text = _FRACTION.sub(lambda found: f"{_grouped(found.group(1))}/{_grouped(found.group(2))}", text)
        text = _ROOT.sub(lambda found: f"√{_grouped(found.group(1))}", text)
        if text == before:
            break
    known = all(name.group(1) in _SYMBOLS for name in _COMMAND.finditer(text))
    text = _COMMAND.sub(lambda found: _SYMBOLS.get(found.group(1), ""), text)
    text = " ".join(text.replace("{", "").replace("}", "").split())
    return text if known and 0 < len(text) <= LONGEST and not set("&\\") & set(text) else FORMULA


def _raised(power: str) -> str:
    return power.translate(_RAISED) if re.fullmatch(r"[+-]?(?:\d+|n)", power) else f"^{_grouped(power)}"


def _lowered(index: str) -> str:
    return index.translate(_LOWERED) if index.isdigit() else f" {index}"


def _grouped(part: str) -> str:
    part = part.strip()
    return part if re.fullmatch(r"[\w.²³α-ω]*|\\\w+", part) else f"({part})"
