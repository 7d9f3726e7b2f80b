"""Addresses that deliveries may go to: public ones over HTTPS, so that none reaches this server's network.

The name is resolved once, every address it has is checked, and the connection goes to a checked one: a name
that resolves differently a moment later (DNS rebinding) leads nowhere else.
"""

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from analysis.errors import BadInput
from experiments.operation.job_runner import IOFailure

MAX_LENGTH = 500
NAT64 = ipaddress.ip_network("64:ff9b::/96")  # holds any IPv4 address, private ones as well
#: Not global, although earlier versions of Python say so: IPv4-compatible addresses, NAT64 within a network,
#: site-local addresses, and those for protocols (192.0.0.8).
REFUSED = [ipaddress.ip_network(text) for text in ("::/96", "64:ff9b:1::/48", "fec0::/10", "192.0.0.0/24")]
IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


class PrivateTarget(BadInput):
    """The address leads into a private network."""


@dataclass(frozen=True)
class Target:
    """A checked address: where to connect, and the host to name there."""

    url: str
    host: str
    header: str


def checked_address(text: str) -> str:
    """The address in a form that can be stored; raises ``BadInput``. Names are resolved at each delivery."""
    text = text.strip()
    parts = _parts(text)
    has_scheme = parts.scheme == "https" or (parts.scheme == "http" and settings.WEBHOOK_PRIVATE_TARGETS)
    if len(text) > MAX_LENGTH or not text.isascii() or any(not c.isprintable() or c.isspace() for c in text):
        raise _bad("is too long, or has spaces or other characters that an address cannot have.")
    if not has_scheme or not parts.hostname:
        raise _bad("does not begin with https://.")
    if parts.username or parts.password or parts.fragment:
        raise _bad("has a user name, a password or a fragment.")
    literal = _literal(parts.hostname)
    if literal is not None:
        _check(literal, parts.hostname)
    elif "." not in parts.hostname and not settings.WEBHOOK_PRIVATE_TARGETS:
        raise PrivateTarget(f"{parts.hostname} is not a public host name.", column="address")
    return text


def resolve(address: str) -> Target:
    """Resolve and check the host; raises ``PrivateTarget``, or ``IOFailure`` where it has no address now."""
    parts = _parts(checked_address(address))
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise IOFailure(f"the host {host} has no address.") from None
    addresses = [ipaddress.ip_address(str(row[4][0]).partition("%")[0]) for row in found]
    for each in addresses:
        _check(each, host)
    first = f"[{addresses[0]}]" if addresses[0].version == 6 else str(addresses[0])
    url = parts._replace(netloc=f"{first}:{port}").geturl()
    return Target(url, host, parts.netloc)


def _parts(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018 - the property raises for a wrong port
    except ValueError:
        raise _bad("is not an address.") from None
    return parts


def _literal(host: str) -> IPAddress | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _check(address: IPAddress, host: str) -> None:
    if settings.WEBHOOK_PRIVATE_TARGETS:
        return
    inner = [address]
    if isinstance(address, ipaddress.IPv6Address):
        if address in NAT64:
            inner.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        tunnelled = (address.ipv4_mapped, address.sixtofour, *(address.teredo or ()))
        inner += [each for each in tunnelled if each is not None]
    is_refused = any(each in network for each in inner for network in REFUSED)
    if is_refused or not all(each.is_global and not each.is_multicast for each in inner):
        raise PrivateTarget(
            f"{host} is in a private network.",
            column="address",
            remedy="Name a public host; an administrator can allow private ones (WEBHOOK_PRIVATE_TARGETS).",
        )


def _bad(problem: str) -> BadInput:
    return BadInput(
        f"the address {problem}", column="address", remedy="Write one such as https://lab.example.org/hook."
    )
