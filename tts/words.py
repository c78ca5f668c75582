"""How much text is: words and width, where scripts without spaces count fairly.

Pure. The one rule: one minimum serves every script. A CJK character is half a word and two columns wide; of the
alphabets without spaces (Thai, Lao, Burmese, Khmer, Tibetan), four letters are a word.
"""

from __future__ import annotations

import re

# Scripts that are written without spaces between words, with their marks: CJK and kana. Hangul is spaced and left out.
WIDE = r"\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60\U00020000-\U0003ffff"
# Alphabets that are written without spaces between words.
UNSPACED = r"\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
_WIDE = re.compile(f"[{WIDE}]")
_WIDE_LETTER = re.compile(r"[\u3005-\u3007\u3031-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_ANY = re.compile(r"[^\W_]")
# From its first letter or digit, so that a run of marks is not looked at from each of its characters.
_WORD = re.compile(rf"[^\W_{WIDE}{UNSPACED}][^\s{WIDE}{UNSPACED}]*")


def count_words(text: str) -> float:
    """Words in `text`: runs with a letter or a digit in them, and a part of one for each letter of unspaced scripts."""
    if text.isascii():
        return len(_WORD.findall(text))
    return len(_WORD.findall(text)) + len(_WIDE_LETTER.findall(text)) / 2 + len(_UNSPACED.findall(text)) / 4


def width(text: str) -> int:
    """Columns of `text` without its outer spaces; CJK characters take two."""
    stripped = text.strip()
    return len(stripped) if stripped.isascii() else len(stripped) + len(_WIDE.findall(stripped))


def is_speakable(text: str) -> bool:
    """Whether there is anything in it to say: a letter or a digit of any script."""
    return _ANY.search(text) is not None
