"""Which four conditions make a two-by-two design, and which level of each factor is the marked one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.effects.factorial import Factor
from analysis.errors import BadInput

_APART = re.compile(r"[\s._/:|+-]+")


@dataclass(frozen=True)
class Cells:
    """Four conditions as two factors; ``oriented_by`` says where the marked levels come from."""

    first: Factor
    second: Factor
    levels: Mapping[str, tuple[str, str]]
    """The two levels of each condition."""
    oriented_by: str


def find_cells(expected: Mapping[str, str], *, given: Sequence[str] = ()) -> Cells | None:
    """Read a two-by-two design from the names of conditions.

    Parameters
    ----------
    expected : mapping
        Each condition's expected status: ``acceptable``, ``unacceptable``, or empty.
    given : sequence of str
        The four conditions in the order plain–plain, marked–plain, plain–marked, marked–marked; empty to read
        the factors from the names.

    Returns
    -------
    Cells or None
        None where the names are not two levels of two factors, such as ``island.embedded`` and
        ``non.matrix``.

    Raises
    ------
    BadInput
        If four conditions are not given, or one of them does not exist.

    Notes
    -----
    The marked levels are those of the one condition that the author expects to be unacceptable; without one
    they are the second in alphabetical order, which decides nothing but the sign.

    Examples
    --------
    >>> words = {"non.matrix": "acceptable", "non.embedded": "acceptable",
    ...     "island.matrix": "acceptable", "island.embedded": "unacceptable"}
    >>> cells = find_cells(words)
    >>> cells.first.marked, cells.second.marked, cells.oriented_by
    ('island', 'embedded', 'expected')
    """
    if given:
        return _given(expected, list(given))
    split = {name: tuple(_APART.split(name.strip())) for name in expected if name.strip()}
    if len(split) != 4 or {len(parts) for parts in split.values()} != {2}:
        return None
    levels = {name: (parts[0], parts[1]) for name, parts in split.items()}
    names = [sorted({pair[side] for pair in levels.values()}) for side in (0, 1)]
    if [len(one) for one in names] != [2, 2] or len(set(levels.values())) != 4:
        return None
    bad = [name for name, word in expected.items() if word == "unacceptable" and name in levels]
    marked = levels[bad[0]] if len(bad) == 1 else (names[0][1], names[1][1])
    plain = [next(word for word in one if word != mark) for one, mark in zip(names, marked, strict=True)]
    return Cells(
        Factor("first_factor", plain[0], marked[0]),
        Factor("second_factor", plain[1], marked[1]),
        levels,
        "expected" if len(bad) == 1 else "alphabetical",
    )


def _given(expected: Mapping[str, str], given: list[str]) -> Cells | None:
    if len(given) != 4 or len(set(given)) != 4:
        raise BadInput(
            f"a two-by-two design has four conditions, not {len(set(given))}.",
            column="factorial",
            remedy="Give them as plain-plain, marked-plain, plain-marked, marked-marked.",
        )
    if any(name not in expected for name in given):
        return None
    (one, marked_one), (other, marked_other) = _levels(given) or (("plain", "marked"), ("plain", "marked"))
    cells = ((one, other), (marked_one, other), (one, marked_other), (marked_one, marked_other))
    return Cells(
        Factor("first_factor", one, marked_one),
        Factor("second_factor", other, marked_other),
        dict(zip(given, cells, strict=True)),
        "given",
    )


def _levels(given: list[str]) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """Read the plain and the marked level of both factors from the names, where they say them."""
    split = [_APART.split(name.strip()) for name in given]
    if any(len(parts) != 2 for parts in split):
        return None
    (one, other), (marked_one, marked_other) = split[0], split[3]
    crossed = split[1] == [marked_one, other] and split[2] == [one, marked_other]
    return ((one, marked_one), (other, marked_other)) if crossed else None
