"""Limits of requests, counted for all processes together: in the database, or in Redis with ``CACHE_URL``."""

from ipaddress import ip_address, ip_network
from time import time

from django.core.cache import cache

WINDOW_S = 60
IPV6_PREFIX = 64  # one household or laboratory has a network of its own, with countless addresses


class LimitReached(Exception):
    """More requests within a minute than the limit allows."""

    def __init__(self, retry_after_s: int) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(f"try again in {retry_after_s} s")


def count(kind: str, who: str, *, limit: int) -> None:
    """Count a request of a user or a network within the present minute; 0 is no limit.

    The cache stores a hash of who it was, and deletes it with the count.
    """
    if not limit:
        return
    window, elapsed_s = divmod(time(), WINDOW_S)
    if _increment(f"{kind}:{who}:{window:.0f}") > limit:
        raise LimitReached(max(1, round(WINDOW_S - elapsed_s)))


def _increment(key: str) -> int:
    try:
        return cache.incr(key)
    except ValueError:
        # Race: add() stores the first count only; incr() is atomic in the database and in Redis.
        cache.add(key, 0, timeout=2 * WINDOW_S)
        return cache.incr(key)


def network(address: str) -> str:
    """The network that shares one count: an IPv4 address, or the network of an IPv6 address."""
    try:
        ip = ip_address(address)
    except ValueError:  # a server on a socket passes no address
        return address
    return str(ip if ip.version == 4 else ip_network((ip, IPV6_PREFIX), strict=False))
