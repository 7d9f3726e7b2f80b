"""How large a figure came out when it was last drawn: a page holds that place free until the figure loads."""

import hashlib
import re

from django.core.cache import cache

WIDTHS = {"": 640, "wide": 880, "half": 408, "narrow": 310}  # as the pages show them
USUAL_HEIGHTS = {"wide": 400, "half": 420, "narrow": 420}  # the middle of those of the demo
SECONDS = 7 * 24 * 3600
Sizes = dict[str, tuple[int, int]]


def figure_sizes(address: str, query: str = "") -> Sizes:
    """Width and height by the width asked for: as last drawn, else usual ones."""
    usual = {width: (WIDTHS[width], height) for width, height in USUAL_HEIGHTS.items()}
    return {**usual, **cache.get(_key(address, query), {})}


def remember_size(address: str, query: str, *, width: str, svg: bytes) -> None:
    """Keep the size that a drawn SVG says it has."""
    key, size = _key(address, query), _size(svg)
    if width not in USUAL_HEIGHTS or size is None:
        return
    known = cache.get(key, {})
    if known.get(width) != size:
        cache.set(key, {**known, width: size}, SECONDS)


def _key(address: str, query: str) -> str:
    return f"figure-size-{hashlib.sha256(f'{address}?{query}'.encode()).hexdigest()}"


def _size(svg: bytes) -> tuple[int, int] | None:
    opening = svg[: svg.find(b">", svg.find(b"<svg"))]
    sides = [re.search(rb'\s%s="([\d.]+)"' % side, opening) for side in (b"width", b"height")]
    if not all(sides):
        return None
    width, height = (round(float(side[1])) for side in sides if side)
    return width, height
