"""Signed, short, storeless tokens. See README.md."""

from grant.claims import LONGEST_S, Grant
from grant.http import bearer, error_body, error_response, granted, refusal
from grant.route import BareGrantRoute, GrantRoute, StraightApp, holder
from grant.signer import GrantRefused, Signer

__all__ = [
    "LONGEST_S",
    "BareGrantRoute",
    "Grant",
    "GrantRefused",
    "GrantRoute",
    "Signer",
    "StraightApp",
    "bearer",
    "error_body",
    "error_response",
    "granted",
    "holder",
    "refusal",
]
