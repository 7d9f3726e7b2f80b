"""Agreement of an experiment, by paradigm, by phenomenon and overall, as one document."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..aggregation.decisions import decisions
from ..aggregation.undecided import undecided_summary
from ..choices import INTERVAL_METHODS, TIES
from ..errors import UnknownName
from ..reliability.chance_corrected import (
    binary_counts,
    gwet_ac1,
    krippendorff_alpha,
    label_blind,
    percent_agreement,
)
from ..rows import is_kind, rows_where
from .bootstrap import DRAWS
from .clusters import position_summary, report_intervals
from .cross_fitting import cross_fitted_agreement
from .inclusion import Rule, parse_rule
from .majority import N_MIN, count_items, one_answer_each
from .summaries import Study


def item_table(
    judgments: pd.DataFrame, *, n_min: int = N_MIN, before: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Count the judgments of each item that agree with the expected label.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        After exclusion. Needs ``participant``, ``item`` (or ``pair_id``) and ``value``; ``expected`` for
        yes-no answers and ratings. Only target trials count.
    n_min : int
        Items with fewer judgments are ``insufficient``.
    before : DataFrame, optional
        The judgments before exclusion: items that lost all judgments are then listed as
        ``no_data``, and ``n_before`` is the number of judgments that each item had.

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
    return _with_lost_items(count_items(decisions(judgments), n_min=n_min), judgments, before, n_min=n_min)


def _with_lost_items(
    items: pd.DataFrame, judgments: pd.DataFrame, before: pd.DataFrame | None, *, n_min: int
) -> pd.DataFrame:
    """Add the items that lost all judgments, and ``n_before``."""
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
    interval: str = "auto",
    cross_fit: bool = False,
) -> dict[str, Any]:
    """Report agreement with the expected labels and which paradigms a rule includes.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        After exclusion. Needs ``participant``, ``item`` (or ``pair_id``) and ``value``; ``expected`` for
        yes-no answers and ratings. ``paradigm`` and ``phenomenon`` define the groups; only target trials
        count.
    rule : str or Rule, optional
        Inclusion rule, as text (see :func:`obelus.agreement.inclusion.parse_rule`) or parsed. Without
        one no paradigm is decided: ``included`` is null and ``overall_included`` equals ``overall``.
    ties : {"strict", "half", "drop"}
        How a tied item counts in majority agreement: as disagreement, as one half, or not at all. Inclusion
        always counts a tie as disagreement.
    experiment : str
        Name of the study, copied into the document.
    seed : int
        Seed of the participant bootstrap.
    draws : int
        Number of bootstrap samples; 0 takes the closed-form interval instead.
    excluded : sequence of dict
        Rows of the exclusion flow table, copied into the document.
    n_min : int
        Items with fewer judgments have no majority (``insufficient``).
    before : DataFrame, optional
        The judgments before exclusion, so that items that lost all judgments are still listed.
    undecided : {"", "disagreement", "half", "leave_out"}
        How the study counts the answers *both* and *neither* (see :mod:`obelus.aggregation.undecided`).
        Documents the convention only: ``value`` already follows it.
    interval : {"auto", "wilson", "percentile", "bootstrap-t", "bca"}
        Method of the intervals over participants; ``auto`` is ``wilson`` below 40 participants and
        ``percentile`` from 40 on. Each interval names its method in ``ci_method``.
    cross_fit : bool
        Adds ``cross_fitted``: individual agreement of included paradigms, measured by participants who had no
        part in including them (see :mod:`obelus.agreement.cross_fitting`). Needs a rule.

    Returns
    -------
    dict
        JSON-ready; undefined numbers are None. ``items`` counts the items with a usable majority,
        ``judgments_merged`` the answers by which participants repeated others of their own.

    Raises
    ------
    MissingColumns, UnknownName, BadInput
        If a column is absent, or the rule, tie rule or method of intervals is unknown.

    Notes
    -----
    Intervals are of ``individual_agreement``: participants are resampled, and each judgment has the weight
    1 / n of its item; this equals the pooled share when all items have equally many judgments.

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
    showings = decisions(judgments)
    decided, coded = one_answer_each(showings)
    items = count_items(decided, n_min=n_min, coded=coded)
    study = Study.of(_with_lost_items(items, judgments, before, n_min=n_min), coded.table)
    status = study.statuses(chosen)
    included = [word == "included" for word in status] if chosen else None
    is_included = np.array(included or [True] * len(status), dtype=bool)
    intervals = report_intervals(
        decided,
        coded,
        study,
        showings=showings,
        included=is_included,
        draws=draws,
        seed=seed,
        method=interval,
    )
    document: dict[str, Any] = {
        "experiment": experiment,
        "rule": chosen.name if chosen else None,
        "ties": ties,
        "participants": decided["participant"][decided["agrees"].notna()].nunique(),
        **study.summaries(status, included, ties=ties, intervals=intervals),
        "cross_fitted": cross_fitted_agreement(
            decided, coded, chosen, rng=np.random.default_rng([seed, *b"cross-fit"]), n_min=n_min
        )
        if chosen and cross_fit
        else None,
        "judgments_merged": len(showings) - len(decided),
        "position": position_summary(showings, intervals["position"]),
        "reliability": reliability(items, coded.table["coding"]),
        "undecided": undecided_summary(rows_where(judgments, is_kind(judgments, ("target",))), undecided),
        "excluded": [dict(row) for row in excluded],
    }
    names = included_paradigms(document)
    document["reliability"]["included"] = None
    if names is not None:
        part = items["paradigm"].isin(names)
        document["reliability"]["included"] = reliability(items[part], coded.table["coding"][part.to_numpy()])
    notes = conventions(draws=draws, seed=seed, n_min=n_min, ties=ties, interval=interval)
    if document["undecided"]:
        notes["both and neither"] = document["undecided"]["statement"]
    return document | {"conventions": notes}


def included_paradigms(report: dict[str, Any]) -> list[str] | None:
    """Return the paradigms that the rule of an agreement report includes; None without a rule."""
    if not report.get("rule"):
        return None
    return [row["paradigm"] for row in report["paradigms"] if row["status"] == "included"]


def reliability(items: pd.DataFrame, coding: pd.Series) -> dict[str, Any]:
    """Compute the agreement of annotators with each other for categorical answers.

    Notes
    -----
    Percent and alpha of forced choices are label-blind, AC1 is of the expected label.

    References
    ----------
    Krippendorff (2019), *Content Analysis*; Gwet (2008), BJMSP 61.
    """
    words = coding.astype(object).to_numpy()
    categorical, codings = items[words != "none"], words[words != "none"]
    k = categorical["k"].to_numpy()
    # "both" and "neither" choose no member, so they are no category that annotators could share
    n = (categorical["n"] - categorical["n_undecided"]).to_numpy()
    names = (categorical["paradigm"] + "\t" + categorical["item"]).tolist()
    answers = np.where(
        codings == "label_blind", label_blind(k, n, names=names), np.where(codings == "turned", n - k, k)
    )
    blind = binary_counts(answers, n)
    alpha = krippendorff_alpha(blind)
    return {
        "percent": percent_agreement(blind).value,
        "krippendorff_alpha": alpha.value,
        "ac1": gwet_ac1(binary_counts(k, n)).value,
        "status": alpha.status,
    }


def conventions(*, draws: int, seed: int, n_min: int, ties: str, interval: str = "auto") -> dict[str, Any]:
    """Return the conventions behind the numbers of an agreement report.

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
        "repeats": "a participant counts once for an item, by the more frequent answer; equally frequent "
        "answers count one half each",
        "ratings": "a participant agrees who rated the acceptable side of an item above the unacceptable "
        "one; equal ratings do not agree",
        "interval": "95 %, of individual_agreement, participants as clusters; generalises over speakers, not "
        "over items",
        "interval_method": f"{interval}: {INTERVAL_METHODS[interval]}",
        "interval_item": "Wilson, 95 %",
        "cross_fitted": "individual agreement with paradigms that the rule includes without a tenth of the "
        "participants, by that tenth; over 20 random divisions",
        "draws": draws,
        "seed": seed,
        "krippendorff_alpha": "nominal; forced choice coded label-blind by a hash of the pair's name, "
        "yes-no coded by the answer",
        "ac1": "coded by the expected label",
        "trials": "targets only; catch, practice, anchor and filler trials are left out",
    }
