"""A small OpenID Connect provider, in place of a site's own: discovery, authorisation, tokens, keys.

Whoever comes is signed in at once as `claims` says. It is no provider for anybody real: it asks nobody for anything.
The one rule: what it signs is signed properly, and `faults` name what it then does wrong.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from typing import Any
from urllib.parse import urlencode

from fastapi import FastAPI, Form
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.responses import JSONResponse, RedirectResponse, Response


class IdentityProvider:
    """`base_url` is set once it is served. `faults`: "nonce", "audience", "expired", "key", "token"."""

    def __init__(self, client_id: str, client_secret: str) -> None:
        self.base_url = ""
        self.claims: dict[str, Any] = {"sub": "ada", "name": "Ada", "email": "ada@example.org", "email_verified": True}
        self.faults: set[str] = set()
        self._client = (client_id, client_secret)
        self._key = RSAKey.generate_key(2048, {"kid": "one"})
        self._other = RSAKey.generate_key(2048, {"kid": "one"})
        self._codes: dict[str, dict[str, str]] = {}
        self.app = FastAPI()
        self.app.get("/.well-known/openid-configuration")(self._about)
        self.app.get("/authorize")(self._authorize)
        self.app.post("/token")(self._token)
        self.app.get("/keys")(self._keys)

    async def _about(self) -> JSONResponse:
        at = self.base_url
        return JSONResponse(
            {
                "issuer": at,
                "authorization_endpoint": f"{at}/authorize",
                "token_endpoint": f"{at}/token",
                "jwks_uri": f"{at}/keys",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
                "code_challenge_methods_supported": ["S256"],
            }
        )

    async def _authorize(self, redirect_uri: str, state: str, nonce: str, code_challenge: str) -> RedirectResponse:
        code = secrets.token_urlsafe(16)
        self._codes[code] = {"nonce": nonce, "challenge": code_challenge, "redirect_uri": redirect_uri}
        return RedirectResponse(f"{redirect_uri}?{urlencode({'code': code, 'state': state})}", status_code=302)

    async def _token(self, code: str = Form(), code_verifier: str = Form(), redirect_uri: str = Form()) -> Response:
        asked = self._codes.pop(code, None)
        digest = hashlib.sha256(code_verifier.encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or asked["challenge"] != challenge or asked["redirect_uri"] != redirect_uri:
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        if "token" in self.faults:
            return JSONResponse({"error": "server_error"}, status_code=400)
        now = int(time.time())
        claims = {
            **self.claims,
            "iss": self.base_url,
            "aud": "somebody-else" if "audience" in self.faults else self._client[0],
            "iat": now - (7200 if "expired" in self.faults else 0),
            "exp": now + (-3600 if "expired" in self.faults else 300),
            "nonce": "another" if "nonce" in self.faults else asked["nonce"],
        }
        key = self._other if "key" in self.faults else self._key
        signed = jwt.encode({"alg": "RS256", "kid": "one"}, claims, key)
        told = {"access_token": "unused", "token_type": "Bearer", "expires_in": 300, "id_token": signed}
        return JSONResponse(told)

    async def _keys(self) -> JSONResponse:
        return JSONResponse({"keys": [self._key.as_dict(private=False)]})
