"""What can be wrong with weights, in words.

ModelsError
├── CatalogRefused     the catalog itself, or a name that is not in it
├── WeightsMissing     not on this machine; names the command that fetches them
└── WeightsRefused     fetched, but not what the catalog promises
"""

from __future__ import annotations


class ModelsError(RuntimeError):
    """Something about local weights; the message says which, why, and what to run."""


class CatalogRefused(ModelsError):
    """The catalog cannot be used, or knows no such name."""


class WeightsMissing(ModelsError):
    """The weights are not here."""


class WeightsRefused(ModelsError):
    """The weights could not be had whole."""
