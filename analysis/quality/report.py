"""Every signal over a frame of judgments, as one tidy table."""

from collections.abc import Sequence

import pandas as pd

from analysis.columns import require_columns
from analysis.errors import UnknownName
from analysis.quality import (
    catch_trials,
    duplicates,
    focus,
    honeypot,
    leave_one_out,
    line_training,
    model_agreement,
    paste,
    side_bias,
    speed,
    straight_lining,
    untrusted,
)
from analysis.quality.base import RESULT, Signal, session_codes
from analysis.rows import column_or_blank

SIGNALS: dict[str, Signal] = {
    module.SIGNAL.name: module.SIGNAL
    for module in (
        catch_trials,
        honeypot,
        straight_lining,
        side_bias,
        speed,
        untrusted,
        focus,
        paste,
        duplicates,
        leave_one_out,
        line_training,
    )
}
LABELS = {name: one.label for name, one in SIGNALS.items()} | {model_agreement.NAME: model_agreement.LABEL}


def signal_table(
    judgments: pd.DataFrame,
    *,
    scores: pd.DataFrame | None = None,
    pairs: pd.DataFrame | None = None,
    names: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Give every flag that the signals raise.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant`` and ``value``. Each signal reads the columns it knows; a signal without
        evidence raises no flag.
    scores : DataFrame, optional
        ``sentence_id`` and one column per model, for agreement with models.
    pairs : DataFrame, optional
        ``pair_id``, ``good_id``, ``bad_id``: for agreement with models in forced choice.
    names : sequence of str, optional
        Only these signals.

    Returns
    -------
    DataFrame, one row per flag
        ``session``, ``participant``, ``signal``, ``version``, ``value``, ``reason``, by session and name.

    Raises
    ------
    MissingColumns
        If ``participant`` or ``value`` is absent.
    UnknownName
        If a signal of that name does not exist.
    """
    require_columns(judgments, "participant", "value")
    if unknown := [name for name in names or () if name not in LABELS]:
        raise UnknownName("signal", unknown[0], sorted(LABELS))
    wanted = set(names if names is not None else LABELS)
    parts = [
        _flags(one.measure(judgments), name, one.version) for name, one in SIGNALS.items() if name in wanted
    ]
    if scores is not None and model_agreement.NAME in wanted:
        found = model_agreement.model_agreement(judgments, scores, pairs=pairs)
        parts.append(_flags(found, model_agreement.NAME, model_agreement.VERSION))
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(RESULT))
    table["participant"] = table["session"].map(_people(judgments))
    return table.sort_values(["session", "signal"], kind="stable", ignore_index=True)[list(RESULT)]


def _flags(found: pd.DataFrame, name: str, version: int) -> pd.DataFrame:
    raised = found[found["flagged"].astype(bool)]
    return pd.DataFrame(
        {
            "session": raised.index.to_numpy(dtype=object),
            "signal": name,
            "version": version,
            "value": raised["value"].to_numpy(),
            "reason": raised["reason"].to_numpy(dtype=object),
        }
    )


def _people(judgments: pd.DataFrame) -> dict[str, str]:
    """The participant of each session."""
    session, labels = session_codes(judgments)
    first = pd.Series(range(len(session))).groupby(session).first()
    people = column_or_blank(judgments, "participant").to_numpy(dtype=object)
    return {labels[code]: str(people[row]) for code, row in zip(first.index, first, strict=True)}
