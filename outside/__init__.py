"""Addresses that content names, asked safely. See README.md."""

from outside.addresses import is_metadata, is_public
from outside.errors import UrlRefused
from outside.guard import GuardedTransport, guarded_client

__all__ = ["GuardedTransport", "UrlRefused", "guarded_client", "is_metadata", "is_public"]
