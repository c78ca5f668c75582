"""The guard on addresses that content names: specs, endpoints, whatever a file or a model may spell.

It is a transport for httpx2, so every request passes it, redirects too. It reads no answer. The one rule: what was
checked is what is connected to: a name is resolved once, every address of it is judged, and the connection is made to
that address with the name kept for TLS and for `Host`.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from ipaddress import ip_address

import httpx2

from outside.addresses import Address, is_metadata, is_public
from outside.errors import UrlRefused

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
_DEFAULT_PORTS = {"http": 80, "https": 443}
_REDIRECTS = 3
_TIMEOUT_S = 10.0


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """The addresses of `host` as this machine knows them. Raises `OSError`."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(one[4][0]) for one in found]


async def checked(url: httpx2.URL, *, allowed: frozenset[str], resolve: Resolve) -> Address:
    """The address to connect to for `url`. Raises `UrlRefused` in words. `allowed` hosts may be private."""
    if url.scheme not in _DEFAULT_PORTS:
        raise UrlRefused(f"{url.scheme}: is not asked; write an address with http or https")
    if url.userinfo:
        raise UrlRefused("an address with a name and a password in it is not asked; put the key into a header")
    host = url.host.rstrip(".").lower()
    try:
        named = await resolve(host, url.port or _DEFAULT_PORTS[url.scheme])
        addresses = [ip_address(one.partition("%")[0]) for one in named]
    except (OSError, ValueError) as fault:
        raise UrlRefused(f"{host} leads nowhere ({type(fault).__name__})") from fault
    if not addresses:
        raise UrlRefused(f"{host} leads nowhere")
    for address in addresses:
        if is_metadata(address):
            raise UrlRefused(f"{host} leads to a cloud's own secrets, and is never asked")
        if host not in allowed and not is_public(address):
            raise UrlRefused(
                f"{host} is not on the public internet; if it should be asked, allow it by name in the settings"
            )
    return addresses[0]


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Checks each request and sends it to the address that was checked."""

    def __init__(
        self,
        allowed: Iterable[str] = (),
        *,
        resolve: Resolve = system_resolve,
        inner: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._allowed = frozenset(host.rstrip(".").lower() for host in allowed)
        self._resolve = resolve
        self._inner = inner or httpx2.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Ask, if that may be asked. Raises `UrlRefused`."""
        address = await checked(request.url, allowed=self._allowed, resolve=self._resolve)
        # The `Host` header was written from the name when the request was made, and stays.
        extensions = {**request.extensions, "sni_hostname": request.url.host}
        there = httpx2.Request(
            request.method,
            request.url.copy_with(host=str(address)),
            headers=request.headers,
            stream=request.stream,
            extensions=extensions,
        )
        return await self._inner.handle_async_request(there)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._inner.aclose()


def guarded_client(
    allowed: Iterable[str] = (), *, resolve: Resolve = system_resolve, timeout_s: float = _TIMEOUT_S
) -> httpx2.AsyncClient:
    """A client for addresses that content names. `allowed` are hosts that may be private.

    At most three redirects, each checked; keys and cookies do not go along to another host; no proxy from the
    environment, which would resolve names out of our sight; nothing packed, because a little of it unpacks to a lot.
    """
    return httpx2.AsyncClient(
        transport=GuardedTransport(allowed, resolve=resolve),
        follow_redirects=True,
        max_redirects=_REDIRECTS,
        timeout=timeout_s,
        trust_env=False,
        headers={"Accept-Encoding": "identity"},
    )
