"""What can stop the program before it does its work, in words.

FirstwordError
├── SettingsRefused    a setting is wrong, unknown, or unsafe
└── CannotStart        the machine, a port or a file is not as needed
"""

from __future__ import annotations


class FirstwordError(Exception):
    """Said to the person who ran the command, as one sentence or a list of them; exit code 2."""


class SettingsRefused(FirstwordError):
    """A setting cannot be used; the message names it, why, and what to write."""


class CannotStart(FirstwordError):
    """Something outside the settings is in the way."""
