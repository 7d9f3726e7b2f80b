"""Agreement and inclusion while a study runs: valid at every look, and what further judgments may change."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.agreement.decisions import decisions
from analysis.agreement.inclusion import Rule, ShareRule, parse_rule
from analysis.agreement.majority import N_MIN, count_items, item_codes
from analysis.agreement.outlook import (
    DRAWS,
    MORE,
    ItemOutlook,
    decision_outlook,
    item_outlook,
    nearest_items,
)
from analysis.agreement.sequential import anytime_mean_interval
from analysis.agreement.summaries import Study, count
from analysis.rows import Codes, Floats, column_or_blank, group_codes

OPEN = 0.05
MOST_ITEMS = 100
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
    """Report how far agreement and inclusion stand, and which decisions are open.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        The kept rows; see :func:`analysis.agreement.decisions.decisions`. Where ``session_status`` is
        there, people with an ``active`` session are left out of the intervals until they are done.
    rule : str or Rule
        As :func:`analysis.agreement.inclusion.parse_rule` reads it.
    more : int
        Further judgments of each item that the outlook supposes.
    experiment : str
        Copied into the document.
    confidence : float
        Of the intervals, over all looks together.
    n_min : int
        Items with fewer judgments have no majority.
    seed : int
        Of the draws behind share rules.
    excluded : sequence of dict
        Rows of the flow table, copied into the document.

    Returns
    -------
    dict
        JSON-ready. ``overall`` and each row of ``paradigms`` have the counts of
        :func:`analysis.agreement.report.agreement_report`, ``participants`` and ``mean`` (people, and
        the mean of their shares) with ``low`` and ``high`` valid at every look; paradigms also ``status``,
        ``p_included`` and ``p_change`` (chances then), ``open`` and, for a rule about a share,
        ``settled``. ``items`` lists those whose majority may change.

    Raises
    ------
    MissingColumns, UnknownName, BadInput
        If a column is absent, the rule is unknown or ``more`` is below 1.

    See Also
    --------
    analysis.agreement.sequential.anytime_mean_interval : The intervals.
    analysis.agreement.outlook.decision_outlook : The chances.

    Notes
    -----
    A person's share in a paradigm is the mean over the items they judged there. A decision is ``open``
    where the chance of a change is at least 5 %. Stopping because a number looks good keeps the
    intervals valid, but the agreement itself, chosen at a good moment, is too high on average.

    Examples
    --------
    >>> rows = [(f"p{n}", f"i{i}", float(n + i > 0)) for n in range(12) for i in range(5)]
    >>> frame = pd.DataFrame(rows, columns=["participant", "item", "value"]).assign(paradigm="agreement")
    >>> row = progress_report(frame)["paradigms"][0]
    >>> row["status"], round(row["mean"], 3), round(row["low"], 2), row["open"]
    ('included', 0.983, 0.66, False)
    """
    chosen = parse_rule(rule) if isinstance(rule, str) else rule
    decided = decisions(judgments)
    coded = item_codes(decided)
    items = count_items(decided, n_min=n_min, coded=coded)
    study = Study.of(items, coded.table)
    status = study.statuses(chosen)
    busy = people_at_it(judgments)
    shares = person_shares(decided[~decided["participant"].isin(busy).to_numpy()])
    outlook = item_outlook(items["k"], items["n"], more=more, halves=items["n_half"], n_min=n_min)
    paradigms = [
        {
            "paradigm": name,
            "phenomenon": study.phenomena[study.phenomenon_of[number]] or None,
            **_counted(study, study.paradigm_of == number),
            **_interval(shares[shares["paradigm"] == name], confidence=confidence),
            "status": status[number],
            **_outlook(study, number, chosen, status[number], more=more, n_min=n_min, seed=seed),
        }
        for number, name in enumerate(study.paradigms)
    ]
    if isinstance(chosen, ShareRule):
        for row in paradigms:
            row["settled"] = _settled(row, float(chosen.share))
    everybody = np.ones(len(items), dtype=bool)
    return {
        "experiment": experiment,
        "rule": chosen.name,
        "more": more,
        "participants": int(decided["participant"][decided["agrees"].notna()].nunique()),
        "participants_at_it": len(busy),
        "overall": {
            "paradigms": len(paradigms),
            "included": sum(word == "included" for word in status),
            "open": sum(bool(row["open"]) for row in paradigms),
            **_counted(study, everybody),
            **_interval(person_shares(_one_paradigm(decided, busy)), confidence=confidence),
        },
        "paradigms": paradigms,
        **_open_items(items, outlook),
        "excluded": [dict(row) for row in excluded],
        "conventions": conventions(confidence=confidence, more=more, n_min=n_min, seed=seed),
    }


def people_at_it(judgments: pd.DataFrame) -> set[Any]:
    """Give the people whose session is not over.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        ``session_status`` may be absent: then everybody is done.

    Returns
    -------
    set
        Their names, as in ``participant``.

    Examples
    --------
    >>> people_at_it(pd.DataFrame({"participant": ["a", "b"], "session_status": ["active", "complete"]}))
    {'a'}
    """
    active = column_or_blank(judgments, "session_status").astype(object) == "active"
    return set(judgments["participant"][active.to_numpy()])


def person_shares(decided: pd.DataFrame) -> pd.DataFrame:
    """Give each person's share of agreement in each paradigm.

    Parameters
    ----------
    decided : DataFrame
        As from :func:`analysis.agreement.decisions.decisions`.

    Returns
    -------
    DataFrame
        ``participant``, ``paradigm``, ``share`` (the mean of ``agrees``) and ``n``; answers that are
        missing count nowhere.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": ["a", "a"], "paradigm": ["x", "x"], "agrees": [1.0, 0.0]})
    >>> person_shares(rows)["share"].tolist()
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
    """Name every convention behind the numbers of a progress report.

    Parameters
    ----------
    confidence, more, n_min, seed
        As in :func:`progress_report`.

    Returns
    -------
    dict

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


def _one_paradigm(decided: pd.DataFrame, busy: set[Any]) -> pd.DataFrame:
    done = decided[~decided["participant"].isin(busy).to_numpy()]
    return done.assign(paradigm="")


def _counted(study: Study, chosen: Codes | Any) -> dict[str, Any]:
    counted = count(study.items[chosen], ties="strict")
    names = ("items", "items_right", "ties", "items_insufficient", "individual_agreement", "judgments")
    return {name: counted[name] for name in names}


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
    found = decision_outlook(
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
    chances = {"p_included": round(found.p_included, 6), "p_change": round(found.p_change, 6)}
    return {**chances, "open": found.p_change >= OPEN, "method": found.method}


def _settled(row: dict[str, Any], share: float) -> str:
    """Say on which side of the rule's share the interval lies."""
    if row["low"] >= share:
        return "above"
    return "below" if row["high"] < share else "not yet"


def _open_items(items: pd.DataFrame, outlook: ItemOutlook) -> dict[str, Any]:
    nearest = nearest_items(outlook, least=OPEN)
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
            for place in nearest[:MOST_ITEMS]
        ],
    }
