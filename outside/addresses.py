"""Which addresses are public: pure, over values.

The threat: a tool's file, a spec or a redirect names an address inside the owner's network, and the server, which may
go there, asks in the stranger's name (SSRF). The one rule: an address is judged by where it leads, so an IPv4 address
inside an IPv6 one is judged as itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

# Where clouds tell a machine its own secrets. Never asked, whatever the owner allows; Azure's is a public address.
_METADATA = frozenset(
    map(
        ip_address,
        (
            "169.254.169.254",  # AWS, Google, Azure, and most others
            "169.254.170.2",  # AWS containers
            "168.63.129.16",  # Azure's wire server
            "100.100.100.200",  # Alibaba
            "192.0.0.192",  # Oracle
            "fd00:ec2::254",  # AWS by IPv6
            "fd20:ce::254",  # Google by IPv6
        ),
    )
)
# IPv6 networks whose last 32 bits are an IPv4 address: compatible (RFC 4291), NAT64 (RFC 6052, RFC 8215).
_LAST_32 = (IPv6Network("::/96"), IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
# ISATAP (RFC 5214): the interface identifier says 5efe, and then comes an IPv4 address.
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


def is_metadata(address: Address) -> bool:
    """Whether it leads to a cloud's own secrets."""
    return any(one in _METADATA for one in _leads_to(address))


def is_public(address: Address) -> bool:
    """Whether everything it leads to is on the public internet."""
    return all(
        one.is_global and not (one.is_multicast or one.is_reserved or one.is_private or one.is_link_local)
        for one in _leads_to(address)
    )


def _leads_to(address: Address) -> Iterator[Address]:
    """The address, or the IPv4 ones inside it: an address that only wraps another is not judged itself."""
    inside = tuple(_inside(address)) if isinstance(address, IPv6Address) else ()
    if not inside:
        yield address
    yield from inside


def _inside(address: IPv6Address) -> Iterator[IPv4Address]:
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
        return
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    last = IPv4Address(int(address) & 0xFFFF_FFFF)
    small = int(address) <= 1  # `::` and `::1` are addresses of their own
    if not small and (any(address in net for net in _LAST_32) or (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP):
        yield last
