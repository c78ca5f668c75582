"""What can go wrong on the way outside.

UrlRefused    an address that content named may not be asked; the message says why and what the owner can do
"""

from __future__ import annotations


class UrlRefused(Exception):
    """Not asked, and nothing was sent."""
