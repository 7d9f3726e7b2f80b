"""Agreement and inclusion of a running study: intervals valid at every look, and open decisions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..aggregation.decisions import decisions
from ..choices import MORE
from ..rows import Codes, Floats, column_or_blank, group_codes
from .inclusion import Rule, ShareRule, parse_rule
from .majority import N_MIN, count_items, one_answer_each
from .predictive import (
    DRAWS,
    ItemOutlook,
    decision_outlook,
    item_outlook,
    items_likely_to_change,
)
from .sequential import anytime_mean_interval
from .summaries import Study, count

# Probability of a change from which a decision counts as open.
OPEN = 0.05
MAX_ITEMS = 100  # open items listed in the document
DECIDED = ("included", "rejected", "insufficient_items")


def progress_report(
    judgments: pd.DataFrame,
    *,
    rule: str | Rule = "blimp",
    more: int = MORE,
    experiment: str = "",
    confidence: float = 0.95,
    n_min: int = N_MIN,
    seed: int = 0,
    excluded: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Report the current agreement and inclusion of a running study, and which decisions are still open.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        After exclusion. Needs ``participant``, ``item`` (or ``pair_id``) and ``value``; ``expected`` for
        yes-no answers and ratings. If ``session_status`` is present, participants with an ``active``
        session do not enter the intervals until they have finished.
    rule : str or Rule
        Inclusion rule, as text (see :func:`obelus.agreement.inclusion.parse_rule`) or parsed.
    more : int
        Number of further judgments per item that ``p_included`` and ``p_change`` assume; at least 1.
    experiment : str
        Name of the study, copied into the document.
    confidence : float
        Confidence level of the intervals between 0 and 1, valid for all looks at the data together.
    n_min : int
        Items with fewer judgments have no majority (``insufficient``).
    seed : int
        Seed of the simulation behind rules about a share.
    excluded : sequence of dict
        Rows of the exclusion flow table, copied into the document.

    Returns
    -------
    dict
        JSON-ready. ``overall`` and each row of ``paradigms`` have the counts of
        :func:`obelus.agreement.report.agreement_report`, ``participants`` (their number), ``mean`` (the
        mean of their shares) and its interval ``low`` to ``high``, valid at every look; paradigms also
        have ``status``, ``p_included`` and ``p_change`` (predictive probabilities), ``open`` and, for a
        rule about a share, ``settled``. ``items`` lists the items whose majority may change.

    Raises
    ------
    MissingColumns, UnknownName, BadInput
        If a column is absent, the rule is unknown or ``more`` is below 1.

    See Also
    --------
    obelus.agreement.sequential.anytime_mean_interval : The intervals.
    obelus.agreement.predictive.decision_outlook : The predictive probabilities.

    Notes
    -----
    A participant's share in a paradigm is the mean over the items they judged there. A decision is ``open``
    if the probability of a change is at least 5 %. Stopping when a number looks good keeps the
    intervals valid, but the agreement itself is then too high on average.

    Examples
    --------
    >>> rows = [(f"p{n}", f"i{i}", float(n + i > 0)) for n in range(12) for i in range(5)]
    >>> frame = pd.DataFrame(rows, columns=["participant", "item", "value"]).assign(paradigm="agreement")
    >>> row = progress_report(frame)["paradigms"][0]
    >>> row["status"], round(row["mean"], 3), round(row["low"], 2), row["open"]
    ('included', 0.983, 0.66, False)
    """
    chosen = parse_rule(rule) if isinstance(rule, str) else rule
    decided, coded = one_answer_each(decisions(judgments))
    items = count_items(decided, n_min=n_min, coded=coded)
    study = Study.of(items, coded.table)
    status = study.statuses(chosen)
    active = participants_in_session(judgments)
    shares = participant_shares(decided[~decided["participant"].isin(active).to_numpy()])
    outlook = item_outlook(items["k"], items["n"], more=more, halves=items["n_half"], n_min=n_min)
    paradigms = [
        {
            "paradigm": name,
            "phenomenon": study.phenomena[study.phenomenon_of[number]] or None,
            **_count_summary(study, study.paradigm_of == number),
            **_interval(shares[shares["paradigm"] == name], confidence=confidence),
            "status": status[number],
            **_outlook(study, number, chosen, status[number], more=more, n_min=n_min, seed=seed),
        }
        for number, name in enumerate(study.paradigms)
    ]
    if isinstance(chosen, ShareRule):
        for row in paradigms:
            row["settled"] = _settled_side(row, float(chosen.share))
    all_items = np.ones(len(items), dtype=bool)
    return {
        "experiment": experiment,
        "rule": chosen.name,
        "more": more,
        "participants": int(decided["participant"][decided["agrees"].notna()].nunique()),
        "participants_at_it": len(active),
        "overall": {
            "paradigms": len(paradigms),
            "included": sum(word == "included" for word in status),
            "open": sum(bool(row["open"]) for row in paradigms),
            **_count_summary(study, all_items),
            **_interval(participant_shares(_as_one_paradigm(decided, active)), confidence=confidence),
        },
        "paradigms": paradigms,
        **_open_items(items, outlook),
        "excluded": [dict(row) for row in excluded],
        "conventions": conventions(confidence=confidence, more=more, n_min=n_min, seed=seed),
    }


def participants_in_session(judgments: pd.DataFrame) -> set[Any]:
    """Return the participants whose session is active.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": ["a", "b"], "session_status": ["active", "complete"]})
    >>> participants_in_session(rows)
    {'a'}
    """
    active = column_or_blank(judgments, "session_status").astype(object) == "active"
    return set(judgments["participant"][active.to_numpy()])


def participant_shares(decided: pd.DataFrame) -> pd.DataFrame:
    """Compute each participant's share of agreement in each paradigm.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": ["a", "a"], "paradigm": ["x", "x"], "agrees": [1.0, 0.0]})
    >>> participant_shares(rows)["share"].tolist()
    [0.5]
    """
    answered = decided[decided["agrees"].notna()]
    person, people = group_codes(answered["participant"])
    paradigm, paradigms = group_codes(answered["paradigm"])
    frame = pd.DataFrame({"person": person, "place": paradigm, "agrees": answered["agrees"].to_numpy()})
    sums = frame.groupby(["person", "place"], as_index=False).agg(
        share=("agrees", "mean"), n=("agrees", "size")
    )
    names = np.array(people, dtype=object), np.array(paradigms, dtype=object)
    return pd.DataFrame(
        {
            "participant": names[0][sums["person"].to_numpy()],
            "paradigm": names[1][sums["place"].to_numpy()],
            "share": sums["share"],
            "n": sums["n"],
        }
    )


def conventions(*, confidence: float, more: int, n_min: int, seed: int) -> dict[str, Any]:
    """Return the conventions behind the numbers of a progress report.

    Examples
    --------
    >>> conventions(confidence=0.95, more=5, n_min=3, seed=0)["open"]
    'the chance that the rule decides otherwise is at least 5 %'
    """
    return {
        "interval": f"{100 * confidence:g} % over all looks together: a confidence sequence (a mixture of "
        "fixed bets, Beta(1/2, 1/2)) of the mean of people's shares; people whose session is running "
        "enter when it is over",
        "several paradigms": "each interval holds on its own, not all of them together",
        "outlook": f"{more} more judgments of every item by people like those so far; beta-binomial, "
        "Beta(1, 1) for each item, items independent",
        "open": f"the chance that the rule decides otherwise is at least {100 * OPEN:g} %",
        "majority": "strict: more than half of the kept answers, compared as integers; a tie is not right",
        "n_min": n_min,
        "seed": seed,
        "trials": "targets only; catch, practice, anchor and filler trials are left out",
    }


def _as_one_paradigm(decided: pd.DataFrame, active: set[Any]) -> pd.DataFrame:
    finished = decided[~decided["participant"].isin(active).to_numpy()]
    return finished.assign(paradigm="")


def _count_summary(study: Study, chosen: Codes | Any) -> dict[str, Any]:
    counts = count(study.items[chosen], ties="strict")
    names = ("items", "items_right", "ties", "items_insufficient", "individual_agreement", "judgments")
    return {name: counts[name] for name in names}


def _interval(shares: pd.DataFrame, *, confidence: float) -> dict[str, Any]:
    values: Floats = shares["share"].to_numpy(dtype=np.float64)
    low, high = anytime_mean_interval(values, confidence=confidence)
    mean = float(values.mean()) if len(values) else None
    return {"participants": len(values), "mean": mean, "low": round(low, 10), "high": round(high, 10)}


def _outlook(
    study: Study, number: int, rule: Rule, status: str, *, more: int, n_min: int, seed: int
) -> dict[str, Any]:
    if status not in DECIDED:
        return {"p_included": None, "p_change": None, "open": None, "method": "none"}
    items = study.items[study.paradigm_of == number]
    outlook = decision_outlook(
        rule,
        items["k"],
        items["n"],
        now=status,
        more=more,
        halves=items["n_half"],
        n_min=n_min,
        seed=seed,
        draws=DRAWS,
    )
    chances = {"p_included": round(outlook.p_included, 6), "p_change": round(outlook.p_change, 6)}
    return {**chances, "open": outlook.p_change >= OPEN, "method": outlook.method}


def _settled_side(row: dict[str, Any], share: float) -> str:
    """Compare the interval with the rule's share: above, below or not yet."""
    if row["low"] >= share:
        return "above"
    return "below" if row["high"] < share else "not yet"


def _open_items(items: pd.DataFrame, outlook: ItemOutlook) -> dict[str, Any]:
    nearest = items_likely_to_change(outlook, least=OPEN)
    return {
        "items_open": len(nearest),
        "items": [
            {
                "paradigm": items["paradigm"].iloc[place],
                "item": items["item"].iloc[place],
                "k": int(items["k"].iloc[place]),
                "n": int(items["n"].iloc[place]),
                "majority": str(outlook.now[place]),
                "p_change": round(float(outlook.p_change[place]), 6),
            }
            for place in nearest[:MAX_ITEMS]
        ],
    }
