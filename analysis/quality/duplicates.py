"""Signal: possible duplicate participant."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ..rows import RATING_TASKS, column_or_blank, group_codes, is_kind, numbers, tasks
from .base import Signal, column_numbers, session_codes, signal_frame

# Shorter sequences may be equal by chance.
MIN_TRIALS = 15
MIN_DIFFERENT = 3  # different values in a sequence


def duplicates(judgments: pd.DataFrame) -> pd.DataFrame:
    """Flag sessions that may be by the same person as another session.

    Notes
    -----
    Criteria: the same participant completed the same list before; two participants used the same device
    (which a family or laboratory may share) or came with the same id in their link (which anybody can write
    there, also of another participant); on one list the same answer to every one of at least 15 ratings
    with at least three different values; or the same response time in each of at least 15 trials. Equal
    yes-no answers and choices are not evidence, because participants agree on them.
    """
    session, labels = session_codes(judgments)
    matches: dict[int, tuple[set[int], str]] = {}
    for reason, alike in _groups(judgments, session):
        for code in alike:
            other_sessions, first_reason = matches.get(code, (set(), reason))
            matches[code] = (other_sessions | (alike - {code}), first_reason)
    counts = [len(matches[code][0]) if code in matches else 0 for code in range(len(labels))]
    value = np.array(counts, dtype=float)
    return signal_frame(
        labels,
        value,
        has_data=np.bincount(session, minlength=len(labels)) > 0,
        flagged=value > 0,
        reason=lambda code: matches[code][1],
    )


def _groups(judgments: pd.DataFrame, session: np.ndarray) -> Iterator[tuple[str, set[int]]]:
    """Yield sets of sessions that may be by one person, with the reason."""
    facts = pd.DataFrame({"session": session})
    for name in ("participant", "list", "device", "claimed_id"):
        codes, names = group_codes(column_or_blank(judgments, name))
        facts[name] = np.array([f"{code}" if names[code] else "" for code in range(len(names))])[codes]
    one_row = facts.drop_duplicates("session")
    listed = one_row[one_row["list"] != ""]
    yield from _matching_sessions(
        "the same participant completed this list twice", listed, ["participant", "list"]
    )
    for name, reason in (
        ("device", "another participant's session came from the same device"),
        ("claimed_id", "another participant's link had the same id"),
    ):
        answered = one_row[one_row[name] != ""]
        # A later round of the same participant is not a duplicate.
        people = answered.groupby(name)["participant"].transform("nunique")
        yield from _matching_sessions(reason, answered[people > 1], [name])
    for reason, pattern in (
        ("the same answer as another session to every sentence of the list", _ratings(judgments)),
        ("the same response times as another session, to the millisecond", _times(judgments)),
    ):
        patterned = listed.assign(pattern=listed["session"].map(_patterns(judgments, session, pattern)))
        yield from _matching_sessions(reason, patterned[patterned["pattern"].notna()], ["list", "pattern"])


def _matching_sessions(reason: str, rows: pd.DataFrame, by: list[str]) -> Iterator[tuple[str, set[int]]]:
    for _, group in rows.groupby(by, sort=False):
        if len(group) > 1:
            yield reason, set(group["session"])


def _ratings(judgments: pd.DataFrame) -> np.ndarray:
    rated = tasks(judgments).isin(RATING_TASKS).to_numpy() & is_kind(judgments, ("target", "filler"))
    return np.where(rated, numbers(judgments), np.nan)


def _times(judgments: pd.DataFrame) -> np.ndarray:
    return column_numbers(judgments, "rt_ms")


def _patterns(judgments: pd.DataFrame, session: np.ndarray, values: np.ndarray) -> dict[int, str]:
    """Return each session's answers in order as one text, if they are many and varied."""
    answered = ~np.isnan(values)
    position = np.nan_to_num(column_numbers(judgments, "position"))
    rows = pd.DataFrame({"session": session, "position": position, "value": values})[answered]
    rows = rows.sort_values(["session", "position"], kind="stable")
    return {
        int(code): ",".join(
            f"{place:g}:{value:g}" for place, value in zip(part["position"], part["value"], strict=True)
        )
        for code, part in rows.groupby("session", sort=False)
        if len(part) >= MIN_TRIALS and part["value"].nunique() >= MIN_DIFFERENT
    }


SIGNAL = Signal("duplicates", 3, "possible duplicate participant", duplicates)
