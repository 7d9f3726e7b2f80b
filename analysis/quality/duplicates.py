"""Perhaps one person twice."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.quality.base import Signal, column_numbers, measured, session_codes
from analysis.rows import RATING_TASKS, column_or_blank, group_codes, is_kind, numbers, tasks

LEAST_TRIALS = 15
LEAST_DIFFERENT = 3


def duplicates(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions that look like another session of the same person.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``participant``, ``list``, ``position``; ``value`` and ``rt_ms`` where given, and ``device`` (a token)
        where a source has one.

    Returns
    -------
    DataFrame indexed by session
        ``value`` is the number of other sessions it looks like.

    Notes
    -----
    Signs: the same participant sat the same list before; the same device in two people's sessions (people may
    share one: a family, a laboratory); on one list the same answer to every one of at least 15 ratings, with
    at least three different ones; or the same response time in each of at least 15 trials. Equal yes-no
    answers and choices are no sign: people
    agree.
    """
    session, labels = session_codes(judgments)
    found: dict[int, tuple[set[int], str]] = {}
    for reason, alike in _groups(judgments, session):
        for one in alike:
            others, first = found.get(one, (set(), reason))
            found[one] = (others | (alike - {one}), first)
    value = np.array([len(found[one][0]) if one in found else 0 for one in range(len(labels))], dtype=float)
    return measured(
        labels,
        value,
        seen=np.bincount(session, minlength=len(labels)) > 0,
        flagged=value > 0,
        reason=lambda one: found[one][1],
    )


def _groups(judgments: pd.DataFrame, session: np.ndarray) -> Iterator[tuple[str, set[int]]]:
    """Give sets of sessions that look like one person's, with the sign."""
    facts = pd.DataFrame({"session": session})
    for name in ("participant", "list", "device"):
        codes, names = group_codes(column_or_blank(judgments, name))
        facts[name] = np.array([f"{code}" if names[code] else "" for code in range(len(names))])[codes]
    one_row = facts.drop_duplicates("session")
    listed = one_row[one_row["list"] != ""]
    yield from _alike("the same participant sat this list twice", listed, ["participant", "list"])
    devices = one_row[one_row["device"] != ""]
    people = devices.groupby("device")["participant"].transform(
        "nunique"
    )  # a later round is no second person
    yield from _alike("somebody else's session came from the same device", devices[people > 1], ["device"])
    for reason, pattern in (
        ("the same answer as another session to every sentence of the list", _ratings(judgments)),
        ("the same response times as another session, to the millisecond", _times(judgments)),
    ):
        patterned = listed.assign(pattern=listed["session"].map(_patterns(judgments, session, pattern)))
        yield from _alike(reason, patterned[patterned["pattern"].notna()], ["list", "pattern"])


def _alike(reason: str, rows: pd.DataFrame, by: list[str]) -> Iterator[tuple[str, set[int]]]:
    for _, group in rows.groupby(by, sort=False):
        if len(group) > 1:
            yield reason, set(group["session"])


def _ratings(judgments: pd.DataFrame) -> np.ndarray:
    rated = tasks(judgments).isin(RATING_TASKS).to_numpy() & is_kind(judgments, ("target", "filler"))
    return np.where(rated, numbers(judgments), np.nan)


def _times(judgments: pd.DataFrame) -> np.ndarray:
    return column_numbers(judgments, "rt_ms")


def _patterns(judgments: pd.DataFrame, session: np.ndarray, values: np.ndarray) -> dict[int, str]:
    """The answers of each session in order, as one text; only long and varied ones."""
    known = ~np.isnan(values)
    position = np.nan_to_num(column_numbers(judgments, "position"))
    rows = pd.DataFrame({"session": session, "position": position, "value": values})[known]
    rows = rows.sort_values(["session", "position"], kind="stable")
    return {
        int(one): ",".join(
            f"{place:g}:{value:g}" for place, value in zip(part["position"], part["value"], strict=True)
        )
        for one, part in rows.groupby("session", sort=False)
        if len(part) >= LEAST_TRIALS and part["value"].nunique() >= LEAST_DIFFERENT
    }


SIGNAL = Signal("duplicates", 2, "perhaps one person twice", duplicates)
