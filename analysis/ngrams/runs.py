"""External sorting: sort keys in chunks and merge the sorted runs, in the memory of one chunk."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .columns import Column, Workspace

PART = 2**22
"""Keys merged at once."""


class Run(NamedTuple):
    """One chunk's distinct keys in ascending order, how often each occurs, and its suffix."""

    keys: Column
    times: Column
    suffix: Column


@dataclass
class Merged:
    """The distinct keys of all runs; ``place_of[r][i]`` is the place of the i-th key of run r."""

    keys: Column
    count: Column
    suffix: Column
    place_of: list[Column] = field(default_factory=list)


def sorted_run(keys: Column, suffix: Column) -> tuple[Run, Column]:
    """Sort one chunk's keys and count them.

    Examples
    --------
    >>> run, which = sorted_run(np.array([7, 5, 7]), np.array([1, 2, 1]))
    >>> run.keys.tolist(), run.times.tolist(), run.suffix.tolist(), which.tolist()
    ([5, 7], [1, 2], [2, 1], [1, 0, 1])
    """
    order = np.argsort(keys)
    ascending = keys[order]
    new = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=new[1:])
    first = np.flatnonzero(new)
    which = np.empty(len(keys), dtype=np.int32)
    which[order] = np.cumsum(new, dtype=np.int32) - 1
    count = np.diff(first, append=len(keys)).astype(np.int32)
    return Run(ascending[first], count, suffix[order[first]].astype(np.int32)), which


def merge_runs(runs: list[Run], workspace: Workspace, *, part: int = PART) -> Merged:
    """Merge sorted runs into one, adding up the counts.

    Examples
    --------
    >>> one, two = (sorted_run(np.array(k), np.array(k))[0] for k in ([1, 3, 3], [2, 3]))
    >>> merged = merge_runs([one, two], Workspace())
    >>> merged.keys.tolist(), merged.count.tolist(), [p.tolist() for p in merged.place_of]
    ([1, 2, 3], [1, 1, 3], [[0, 2], [1, 2]])
    """
    if len(runs) == 1:
        run = runs[0]
        return Merged(run.keys, run.times, run.suffix, [np.arange(len(run.keys), dtype=np.int32)])
    keys, count, suffix = (workspace.column(kind) for kind in (np.int64, np.int32, np.int32))
    places = [workspace.column(np.int32) for _ in runs]
    for cuts in _parts(runs, part):
        pieces = [run.keys[cut] for run, cut in zip(runs, cuts, strict=True)]
        distinct = np.sort(np.concatenate(pieces))
        distinct = distinct[np.append(True, distinct[1:] != distinct[:-1])] if len(distinct) else distinct
        total, last = np.zeros((2, len(distinct)), dtype=np.int32)
        for run, cut, piece, place in zip(runs, cuts, pieces, places, strict=True):
            positions = np.searchsorted(distinct, piece)
            total[positions] += run.times[cut]
            last[positions] = run.suffix[cut]
            place.append(positions + keys.size)
        for column, values in ((keys, distinct), (count, total), (suffix, last)):
            column.append(values)
    return Merged(keys.whole(), count.whole(), suffix.whole(), [place.whole() for place in places])


def _parts(runs: list[Run], part: int) -> Iterator[list[slice]]:
    """Cut all runs at the same keys, so that about ``part`` keys fall between two cuts."""
    step = max(part // (4 * len(runs)), 1)
    sample = np.sort(np.concatenate([run.keys[::step] for run in runs]))
    pivots = np.unique(sample[:: max(part // step, 1)])[1:]
    starts = [0] * len(runs)
    for pivot in pivots.tolist():
        ends = [int(np.searchsorted(run.keys, pivot)) for run in runs]
        yield [slice(a, b) for a, b in zip(starts, ends, strict=True)]
        starts = ends
    yield [slice(a, len(run.keys)) for a, run in zip(starts, runs, strict=True)]
