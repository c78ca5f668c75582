"""How much text is: words and width, where scripts without spaces count fairly.

Pure. The one rule: a CJK character is half a word and two columns wide, so that one minimum serves every script.
"""

from __future__ import annotations

import re

# Scripts that are written without spaces between words, with their marks: CJK, kana, Hangul is spaced and left out.
WIDE = r"\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60\U00020000-\U0003ffff"
_WIDE = re.compile(f"[{WIDE}]")
_WIDE_LETTER = re.compile(r"[\u3005-\u3007\u3031-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_WORD = re.compile(rf"[^\s{WIDE}]*[^\W_{WIDE}][^\s{WIDE}]*")


def count_words(text: str) -> float:
    """Words in `text`: runs with a letter or a digit in them, and half a word for each CJK character."""
    return len(_WORD.findall(text)) + len(_WIDE_LETTER.findall(text)) / 2


def width(text: str) -> int:
    """Columns of `text` without its outer spaces; CJK characters take two."""
    stripped = text.strip()
    return len(stripped) + len(_WIDE.findall(stripped))


def is_speakable(text: str) -> bool:
    """Whether there is anything in it to say: a letter or a digit of any script."""
    return any(character.isalnum() for character in text)
