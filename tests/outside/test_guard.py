"""Every way in that others have been tricked by, and the public addresses that must pass."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from ipaddress import ip_address

import httpx2
import pytest

import outside
from outside import UrlRefused, guarded_client, is_metadata, is_public
from outside.guard import checked, system_resolve

REFUSED = [
    "127.0.0.1", "127.1", "0.0.0.0", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "[::1]", "[::]", "[::ffff:127.0.0.1]",
    "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[::127.0.0.1]",
    "[2001:0:808:808::80ff:fffe]", "[2606:4700::5efe:7f00:1]", "[2606:4700::200:5efe:a00:1]", "[fd00:ec2::254]",
    "[fe80::1]", "[fc00::1]", "[ff02::1]", "100.100.100.200", "168.63.129.16", "169.254.169.254", "10.0.0.1",
    "172.16.0.1", "192.168.1.1", "100.64.0.1", "192.0.2.1", "224.0.0.1", "255.255.255.255", "localhost", "LOCALHOST",
    "localhost.",
]  # fmt: skip
PUBLIC = ["8.8.8.8", "[2606:4700::1111]", "[::ffff:8.8.8.8]", "[64:ff9b::808:808]", "[2002:808:808::]"]


async def look(url: str, *allowed: str, **names: Sequence[str]) -> str:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return names.get(host.replace(".", "_")) or await system_resolve(host, port)

    return str(await checked(httpx2.URL(url), allowed=frozenset(allowed), resolve=resolve))


@pytest.mark.parametrize("host", REFUSED)
async def test_an_address_inside_is_refused_however_it_is_spelled(host: str) -> None:
    # Some spellings are no address to the client itself, which refuses them before we do.
    with pytest.raises((UrlRefused, httpx2.InvalidURL)):
        await look(f"http://{host}/")


@pytest.mark.parametrize("host", PUBLIC)
async def test_a_public_address_passes(host: str) -> None:
    assert ip_address(await look(f"https://{host}/")) == ip_address(host.strip("[]"))


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "gopher://8.8.8.8/", "ftp://8.8.8.8/", "http://good@8.8.8.8/", "http://a:b@8.8.8.8/"]
)
async def test_other_schemes_and_passwords_in_an_address_are_refused(url: str) -> None:
    with pytest.raises(UrlRefused):
        await look(url)


async def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    assert await look("http://shop.example/", shop_example=["8.8.8.8", "8.8.4.4"]) == "8.8.8.8"
    with pytest.raises(UrlRefused, match="allow it by name"):
        await look("http://shop.example/", shop_example=["8.8.8.8", "10.0.0.1"])


@pytest.mark.parametrize("address", ["169.254.169.254", "168.63.129.16", "fd00:ec2::254", "::ffff:a9fe:a9fe"])
async def test_what_the_owner_allows_may_be_private_and_never_metadata(address: str) -> None:
    assert await look("http://intranet.example/", "intranet.example", intranet_example=["10.0.0.1"]) == "10.0.0.1"
    with pytest.raises(UrlRefused, match="never"):
        await look("http://intranet.example/", "intranet.example", intranet_example=[address])
    assert is_metadata(ip_address(address))
    assert not is_public(ip_address("10.0.0.1"))


@pytest.fixture
async def shop() -> AsyncIterator[tuple[int, list[bytes]]]:
    """A site on loopback: `/` answers, `/away` redirects into the cloud, `/round` for ever."""
    heard: list[bytes] = []
    places = {b"/away": b"http://169.254.169.254/latest", b"/inside": b"http://127.0.0.1/", b"/round": b"/round"}

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        heard.append(head)
        where = places.get(head.split()[1])
        line = b"302 Found\r\nLocation: " + where if where else b"200 OK"
        writer.write(b"HTTP/1.1 " + line + b"\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1], heard
    server.close()


async def test_the_checked_address_is_the_one_that_is_asked_under_its_own_name(
    shop: tuple[int, list[bytes]],
) -> None:
    port, heard = shop
    answers = iter([["127.0.0.1"], ["10.9.9.9"]])

    async def rebinding(_host: str, _port: int) -> Sequence[str]:
        return next(answers)

    async with guarded_client(["shop.example"], resolve=rebinding) as client:
        assert (await client.get(f"http://shop.example:{port}/")).text == "hi"
    assert f"Host: shop.example:{port}".encode() in heard[0]


@pytest.mark.parametrize("path", ["/away", "/inside"])
async def test_a_redirect_is_checked_again(shop: tuple[int, list[bytes]], path: str) -> None:
    port, heard = shop

    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"] if host == "shop.example" else await system_resolve(host, port)

    async with guarded_client(["shop.example"], resolve=resolve) as client:
        with pytest.raises(UrlRefused):
            await client.get(f"http://shop.example:{port}{path}")
        with pytest.raises(httpx2.TooManyRedirects):
            await client.get(f"http://shop.example:{port}/round")
    assert len(heard) == 1 + 4


def test_the_public_names_of_outside() -> None:
    assert sorted(outside.__all__) == ["GuardedTransport", "UrlRefused", "guarded_client", "is_metadata", "is_public"]
