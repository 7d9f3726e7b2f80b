"""Apply an exclusion plan: kept rows, removed rows with reasons, and a flow table."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..columns import require_columns
from ..notebooks import NotebookResult
from ..rows import Codes, Flags, column_or_blank, group_codes, rows_where
from .criteria import CRITERIA, Verdicts, is_analysed
from .plan import Plan, Step

UNITS = ("participants", "sessions", "judgments")


@dataclass(frozen=True, repr=False)
class Excluded(NotebookResult):
    """Result of a plan: kept and removed rows, and tables of its steps."""

    plan: Plan
    kept: pd.DataFrame
    """The kept rows, unchanged and in order."""
    mask: pd.DataFrame
    """One row per removed row: trial, participant, session, step, reason."""
    flow: pd.DataFrame
    """Participants, sessions and judgments removed and left after each step, in order."""
    marginal: pd.DataFrame
    """Counts that each step removes on its own, and units without evidence."""
    overlap: pd.DataFrame
    """Judgments removed by both of two steps, steps × steps."""

    def flow_rows(self) -> list[dict[str, Any]]:
        """Return the flow table as plain values, for JSON."""
        return [
            {str(key): value if isinstance(value, str) else int(value) for key, value in row.items()}
            for row in self.flow.to_dict("records")
        ]


def apply_plan(judgments: pd.DataFrame, plan: Plan) -> Excluded:
    """Apply an exclusion plan to judgments.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant`` and ``value``; each step reads the columns of its criterion. The frame
        is not modified.
    plan : Plan
        Steps to apply, for example from :func:`obelus.exclusions.plan.parse_plan`.

    Returns
    -------
    Excluded
        ``kept`` (the remaining rows), ``mask`` (the removed rows with step and reason), ``flow`` (what
        each step removed and what was left after it), ``marginal`` and ``overlap`` (steps compared).

    Raises
    ------
    MissingColumns
        If ``participant`` or ``value`` is absent.

    Notes
    -----
    Every criterion is evaluated on all rows, not on those that earlier steps kept: the kept rows do not
    depend on the order of the steps, and a further step never restores rows. The order determines
    only which step a row is counted under. *Judgments* are answered targets; participants and
    sessions count as long as they have any row.

    References
    ----------
    Moher et al. (2010), CONSORT (flow table). Steegen et al. (2016), Perspectives on Psychological
    Science 11 (multiverse analysis).

    Examples
    --------
    >>> from obelus.exclusions.plan import parse_plan
    >>> rows = pd.DataFrame({"participant": ["a", "b"], "value": [1, 0], "flagged": [False, True]})
    >>> excluded = apply_plan(rows, parse_plan("flagged"))
    >>> excluded.kept["participant"].tolist(), excluded.flow["judgments_left"].tolist()
    (['a'], [2, 1])
    """
    require_columns(judgments, "participant", "value")
    person = group_codes(judgments["participant"])[0]
    session = _sessions(judgments, person)
    units = Units(person, session, is_analysed(judgments))
    verdicts = [_verdict(judgments, step, units) for step in plan.steps]
    removes = [_is_removed(verdict, step) for verdict, step in zip(verdicts, plan.steps, strict=True)]
    first = np.full(len(judgments), -1)
    for number, removed in enumerate(removes):
        first[removed & (first < 0)] = number
    return Excluded(
        plan=plan,
        kept=rows_where(judgments, first < 0),
        mask=_mask(judgments, first, plan),
        flow=_flow(units, first, plan),
        marginal=_marginal(units, verdicts, removes, plan),
        overlap=_overlap(removes, plan, units),
    )


@dataclass(frozen=True)
class Units:
    """The participant and session of each row, and whether it is an analysed judgment."""

    participant: Codes
    session: Codes
    judgment: Flags

    def codes(self, scope: str) -> Codes:
        """Return each row's unit of that scope."""
        if scope == "judgment":
            return np.arange(len(self.participant))
        return self.participant if scope == "participant" else self.session

    def count(self, rows: Flags) -> dict[str, int]:
        """Count participants, sessions and judgments among some rows."""
        return {
            "participants": _distinct(self.participant[rows]),
            "sessions": _distinct(self.session[rows]),
            "judgments": int((self.judgment & rows).sum()),
        }


def _distinct(codes: Codes) -> int:
    return int(np.count_nonzero(np.bincount(codes)))


def _sessions(judgments: pd.DataFrame, person: Codes) -> Codes:
    """Number the sessions; without a session column each participant has one."""
    session, names = group_codes(column_or_blank(judgments, "session"))
    if "" not in names:
        return session
    unnamed = np.array([name == "" for name in names], dtype=bool)[session]
    return np.where(unnamed, len(names) + person, session)


def _verdict(judgments: pd.DataFrame, step: Step, units: Units) -> Verdicts:
    """Return the verdict on each row's unit."""
    codes = units.codes(step.scope)
    n_units = int(codes.max()) + 1 if len(codes) else 0
    by_unit = CRITERIA[step.rule].judge(judgments, codes, n_units, step.parameters)
    by_row: Verdicts = by_unit[codes]
    return by_row


def _is_removed(verdict: Verdicts, step: Step) -> Flags:
    missing = np.isnan(verdict) if step.on_missing == "drop" else np.zeros(len(verdict), dtype=bool)
    removed: Flags = (verdict == 1) | missing
    return removed


def _mask(judgments: pd.DataFrame, first: Codes, plan: Plan) -> pd.DataFrame:
    rows = first >= 0
    removed, step = judgments[rows], first[rows]
    names = np.array([plan_step.name for plan_step in plan.steps], dtype=object)
    reasons = np.array([CRITERIA[plan_step.rule].reason for plan_step in plan.steps], dtype=object)
    trial = removed["trial"] if "trial" in judgments.columns else removed.index.to_series()
    return pd.DataFrame(
        {
            "trial": trial.to_numpy(),
            "participant": removed["participant"].to_numpy(),
            "session": column_or_blank(removed, "session").to_numpy(),
            "step": names[step] if len(names) else [],
            "reason": reasons[step] if len(reasons) else [],
        }
    )


def _flow(units: Units, first: Codes, plan: Plan) -> pd.DataFrame:
    left = np.ones(len(first), dtype=bool)
    before = units.count(left)
    rows = [{"step": "all", **{f"{name}_removed": 0 for name in UNITS}, **_with_suffix(before, "left")}]
    for number, step in enumerate(plan.steps):
        left &= first != number
        after = units.count(left)
        removed = {name: before[name] - after[name] for name in UNITS}
        rows.append({"step": step.name, **_with_suffix(removed, "removed"), **_with_suffix(after, "left")})
        before = after
    return pd.DataFrame(rows)


def _with_suffix(counts: dict[str, int], suffix: str) -> dict[str, Any]:
    return {f"{name}_{suffix}": count for name, count in counts.items()}


def _marginal(units: Units, verdicts: list[Verdicts], removes: list[Flags], plan: Plan) -> pd.DataFrame:
    rows = []
    for step, verdict, removed in zip(plan.steps, verdicts, removes, strict=True):
        silent = _distinct(units.codes(step.scope)[np.isnan(verdict)])
        stay = units.count(~removed)
        everything = units.count(np.ones(len(removed), dtype=bool))
        counts = {name: everything[name] - stay[name] for name in UNITS}
        rows.append({"step": step.name, "scope": step.scope, **counts, "no_evidence": silent})
    return pd.DataFrame(rows, columns=["step", "scope", *UNITS, "no_evidence"])


def _overlap(removes: list[Flags], plan: Plan, units: Units) -> pd.DataFrame:
    names = [step.name for step in plan.steps]
    counts = [[int((a & b & units.judgment).sum()) for b in removes] for a in removes]
    return pd.DataFrame(counts, index=names, columns=names, dtype="int64")
