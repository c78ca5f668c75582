"""What can be wrong with listening.

AsrError
├── EngineRefused      weights that cannot be loaded; names the file
└── LanguageRefused    a language that the recogniser does not know
"""

from __future__ import annotations

from collections.abc import Iterable


class AsrError(RuntimeError):
    """Listening cannot go on; the message says what, where, and what to do."""


class EngineRefused(AsrError):
    """Weights that cannot be loaded."""

    def __init__(self, what: str, why: object) -> None:
        super().__init__(f"{what} cannot be loaded ({why}); run: firstword models pull")


class LanguageRefused(AsrError):
    """A language that the recogniser does not know."""

    def __init__(self, language: str, name: str, known: Iterable[str]) -> None:
        super().__init__(
            f"{name} does not understand {language!r}, only {', '.join(sorted(known))}; "
            f"choose one of those, or a recogniser for many languages, such as whisper-base"
        )
