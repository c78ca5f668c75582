"""Signed, short, storeless tokens. See README.md."""

from grant.claims import LONGEST_S, Grant
from grant.http import bearer, error_body, error_response, granted, refusal
from grant.signer import GrantRefused, Signer

__all__ = [
    "LONGEST_S",
    "Grant",
    "GrantRefused",
    "Signer",
    "bearer",
    "error_body",
    "error_response",
    "granted",
    "refusal",
]
