"""What can be wrong with sound.

SoundError
└── NotSound      the bytes are not a recording we can read
"""

from __future__ import annotations


class SoundError(ValueError):
    """Sound that cannot be used; the message says which, why, and what to do."""


class NotSound(SoundError):
    """A file or a body that is no recording: missing, empty, or of another kind."""
