"""Signing in with OpenID Connect. The routes are in `routes.py`, what keeps the site in `keeper.py`."""

from web.signin.keeper import keep_signed_in
from web.signin.removed import Removed
from web.signin.routes import Identity, create_signin, owner_of, session_of

__all__ = ["Identity", "Removed", "create_signin", "keep_signed_in", "owner_of", "session_of"]
