"""Agreement of an experiment, by paradigm, by phenomenon and overall, as one document."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.agreement.bootstrap import DRAWS
from analysis.agreement.chance_corrected import (
    binary_counts,
    gwet_ac1,
    krippendorff_alpha,
    label_blind,
    percent_agreement,
)
from analysis.agreement.clusters import position_summary, report_intervals
from analysis.agreement.decisions import decisions
from analysis.agreement.inclusion import Rule, parse_rule
from analysis.agreement.majority import N_MIN, TIES, count_items, item_codes
from analysis.agreement.summaries import Study
from analysis.errors import UnknownName
from analysis.rows import is_kind, rows_where
from analysis.undecided import undecided_block


def item_table(
    judgments: pd.DataFrame, *, n_min: int = N_MIN, before: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Count the judgments of each item that agree with the expected label.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        As for :func:`analysis.agreement.decisions.decisions`.
    n_min : int
        Items with fewer judgments are ``insufficient``.
    before : DataFrame, optional
        The judgments before exclusion: items that lost all of theirs are then listed as
        ``no_data``, and ``n_before`` tells how many each had.

    Returns
    -------
    DataFrame
        ``paradigm``, ``phenomenon``, ``item``, ``k``, ``n``, ``n_missing``, ``share``, ``ci_low``,
        ``ci_high`` (Wilson, 95 %), ``majority`` and, with ``before``, ``n_before``.

    References
    ----------
    Wilson (1927), Journal of the American Statistical Association 22.

    Examples
    --------
    >>> frame = pd.DataFrame({"participant": list("abc"), "item": "i", "value": [1, 1, 0]})
    >>> item_table(frame)[["k", "n", "majority"]].to_dict("records")
    [{'k': 2, 'n': 3, 'majority': 'expected'}]
    """
    return _listed(count_items(decisions(judgments), n_min=n_min), judgments, before, n_min=n_min)


def _listed(
    items: pd.DataFrame, judgments: pd.DataFrame, before: pd.DataFrame | None, *, n_min: int
) -> pd.DataFrame:
    """Add the items that lost every judgment, and ``n_before``."""
    if before is None:
        return items
    if len(before) == len(judgments):
        return items.assign(n_before=items["n"])
    keys = ["paradigm", "item"]
    earlier = count_items(decisions(before), n_min=n_min)[[*keys, "phenomenon", "n"]]
    merged = earlier.rename(columns={"n": "n_before"}).merge(
        items.drop(columns="phenomenon"), on=keys, how="left"
    )
    counts = ["k", "n", "n_missing", "n_undecided", "n_half"]
    merged[counts] = merged[counts].fillna(0).astype(int)
    merged["majority"] = merged["majority"].astype(object).where(merged["majority"].notna(), "no_data")
    return merged[[*items.columns, "n_before"]]


def agreement_report(
    judgments: pd.DataFrame,
    *,
    rule: str | Rule | None = None,
    ties: str = "strict",
    experiment: str = "",
    seed: int = 0,
    draws: int = DRAWS,
    excluded: Sequence[dict[str, Any]] = (),
    n_min: int = N_MIN,
    before: pd.DataFrame | None = None,
    undecided: str = "",
) -> dict[str, Any]:
    """Report agreement with the expected labels and which paradigms a rule includes.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        The kept rows; see :func:`analysis.agreement.decisions.decisions`.
    rule : str or Rule, optional
        As :func:`analysis.agreement.inclusion.parse_rule` reads it. Without one nothing is decided:
        ``included`` is null and ``overall_included`` equals ``overall``.
    ties : {"strict", "half", "drop"}
        How a tie counts in majority agreement. Inclusion never counts a tie as right.
    experiment : str
        Copied into the document.
    seed, draws : int
        Of the participant bootstrap.
    excluded : sequence of dict
        Rows of the flow table, copied into the document.
    n_min : int
        Items with fewer judgments have no majority.
    before : DataFrame, optional
        The judgments before exclusion, so that items which lost all of theirs are listed.
    undecided : str
        How the study counts the answers both and neither (see :mod:`analysis.undecided`): stated in the
        document; their values say it already.

    Returns
    -------
    dict
        JSON-ready; undefined numbers are None. ``items`` counts those with a usable majority.

    Raises
    ------
    MissingColumns, UnknownName, BadInput
        If a column is absent, or the rule or tie rule is unknown.

    Notes
    -----
    Intervals are of ``individual_agreement``: participants are resampled, each judgment weighing
    1 / n of its item, which is the pooled share when items have equally many judgments.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8, §3.4. Owen (2007), Annals of Applied Statistics 1: the
    bootstrap of clusters.

    Examples
    --------
    >>> rows = [(f"p{n}", f"i{i}", float(n + i > 0)) for n in range(4) for i in range(5)]
    >>> frame = pd.DataFrame(rows, columns=["participant", "item", "value"]).assign(paradigm="islands")
    >>> report = agreement_report(frame, rule="blimp", draws=100)
    >>> report["overall"]["individual_agreement"], report["paradigms"][0]["status"]
    (0.95, 'included')
    """
    if ties not in TIES:
        raise UnknownName("tie rule", ties, TIES)
    chosen = parse_rule(rule) if isinstance(rule, str) else rule
    decided = decisions(judgments)
    coded = item_codes(decided)
    items = count_items(decided, n_min=n_min, coded=coded)
    study = Study.of(_listed(items, judgments, before, n_min=n_min), coded.table)
    status = study.statuses(chosen)
    included = [word == "included" for word in status] if chosen else None
    kept = np.array(included or [True] * len(status), dtype=bool)
    intervals = report_intervals(decided, coded, study, kept=kept, draws=draws, seed=seed)
    document: dict[str, Any] = {
        "experiment": experiment,
        "rule": chosen.name if chosen else None,
        "ties": ties,
        "participants": decided["participant"][decided["agrees"].notna()].nunique(),
        **study.summaries(status, included, ties=ties, intervals=intervals),
        "position": position_summary(decided, intervals["position"]),
        "reliability": reliability(items, coded.table["coding"]),
        "undecided": undecided_block(rows_where(judgments, is_kind(judgments, ("target",))), undecided),
        "excluded": [dict(row) for row in excluded],
    }
    named = conventions(draws=draws, seed=seed, n_min=n_min, ties=ties)
    if document["undecided"]:
        named["both and neither"] = document["undecided"]["statement"]
    return document | {"conventions": named}


def reliability(items: pd.DataFrame, coding: pd.Series) -> dict[str, Any]:
    """Give the agreement of annotators with each other, where answers are categories.

    Parameters
    ----------
    items : DataFrame
        As from :func:`analysis.agreement.majority.count_items`.
    coding : Series, same length
        How each item's answers are coded: ``label_blind``, ``as_is``, ``turned`` or ``none``.

    Returns
    -------
    dict
        ``percent`` (pairwise), ``krippendorff_alpha`` (nominal, label-blind coding), ``ac1`` (coded
        by expected label) and ``status``; None for ratings and without data.

    See Also
    --------
    analysis.agreement.reliability_report.reliability_report : With intervals, ICC and ceilings.

    References
    ----------
    Krippendorff (2019), *Content Analysis*; Gwet (2008), BJMSP 61.
    """
    words = coding.astype(object).to_numpy()
    used = items[words != "none"]
    how, k = words[words != "none"], used["k"].to_numpy()
    n = (used["n"] - used["n_undecided"]).to_numpy()  # both and neither name no member to agree on
    names = (used["paradigm"] + "\t" + used["item"]).tolist()
    answers = np.where(
        how == "label_blind", label_blind(k, n, names=names), np.where(how == "turned", n - k, k)
    )
    blind = binary_counts(answers, n)
    alpha = krippendorff_alpha(blind)
    return {
        "percent": percent_agreement(blind).value,
        "krippendorff_alpha": alpha.value,
        "ac1": gwet_ac1(binary_counts(k, n)).value,
        "status": alpha.status,
    }


def conventions(*, draws: int, seed: int, n_min: int, ties: str) -> dict[str, Any]:
    """Name every convention behind the numbers of an agreement report.

    Parameters
    ----------
    draws, seed, n_min, ties
        As in :func:`agreement_report`.

    Returns
    -------
    dict

    Examples
    --------
    >>> conventions(draws=10_000, seed=0, n_min=3, ties="strict")["interval_item"]
    'Wilson, 95 %'
    """
    tie_words = {
        "strict": "a tie is not right",
        "half": "a tie counts one half",
        "drop": "a tie leaves the denominator",
    }
    return {
        "majority": "strict: more than half of the kept answers, compared as integers",
        "ties": f"{ties}: {tie_words[ties]}; inclusion rules never count a tie as right",
        "n_min": n_min,
        "items": "items with at least n_min kept answers; forced choice: minimal pairs; yes-no: sentences; "
        "ratings: items of which a participant rated both sides",
        "individual_agreement": "mean of item shares (every item counts alike); a phenomenon is the "
        "unweighted mean of its paradigms",
        "individual_agreement_pooled": "all kept answers pooled",
        "ratings": "a participant agrees who rated the acceptable side of an item above the unacceptable "
        "one; equal ratings do not agree",
        "interval": "95 %, of individual_agreement, participants resampled with replacement; "
        "generalises over speakers, not over items",
        "interval_item": "Wilson, 95 %",
        "draws": draws,
        "seed": seed,
        "krippendorff_alpha": "nominal; forced choice coded label-blind by a hash of the pair's name, "
        "yes-no coded by the answer",
        "ac1": "coded by the expected label",
        "trials": "targets only; catch, practice, anchor and filler trials are left out",
    }
