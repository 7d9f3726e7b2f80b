"""Diagnostics of items beside the majority: annotators' skill, strengths of sentences, sensitivity."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..aggregation.dawid_skene import MIN_MEDIAN, LatentLabels, one_coin
from ..aggregation.mace import mace
from ..aggregation.preferences import bradley_terry, pair_wins
from ..aggregation.proportions import signal_detection
from ..aggregation.surprisingly_popular import has_predictions, prediction_block
from ..errors import BadInput
from ..rows import (
    RATING_TASKS,
    Flags,
    Floats,
    column_or_blank,
    group_codes,
    is_kind,
    merge_answers,
    none_if_nan,
    numbers,
    tasks,
)
from .coding import code_answers

GUARDS = {
    "ok": "",
    "too_few": f"the median participant gave fewer than {MIN_MEDIAN} answers: skills would be guesses",
    "no_data": "there is no answer",
    "no_variation": "everybody gave the same answer throughout",
    "not_converged": "the estimate did not settle",
    "not_for_ratings": "answers are points of a scale, not labels",
    "pairs_only": "every sentence was compared with one other only: the share of choices says all",
    "not_connected_or_separated": "a sentence never lost, or never won: its strength has no finite estimate",
    "not_asked": "participants did not predict the answers of others",
    "not_choices": "strengths come from choices between sentences",
}


def item_diagnostics(judgments: pd.DataFrame, pairs: pd.DataFrame | None = None) -> dict[str, Any]:
    """Report annotators' skill and competence, strengths of sentences and sensitivity, as far as estimable.

    Notes
    -----
    Diagnostics, not gold labels: the models assume one true label per item, which gradience and dialects
    violate. One-coin Dawid and Skene and MACE are coded label-blind with Beta priors, and not estimated below
    a median of 20 answers. Strengths are fitted for groups of sentences compared in more than one pair, and
    not estimated if the graph of wins is not strongly connected. d′ and c are computed from pooled answers
    with the log-linear correction; the mean of the participants' own d′ (t interval) is added, because
    pooling participants of different bias underestimates d′. With few answers per participant the
    correction shrinks individual d′ towards 0: then use the pooled value.

    References
    ----------
    Dawid & Skene (1979), Applied Statistics 28; Hovy et al. (2013), NAACL-HLT; Bradley & Terry (1952),
    Biometrika 39; Hautus (1995), BRMIC 27.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": ["a", "b"], "item": ["x", "x"], "value": [1, 0]})
    >>> item_diagnostics(rows)["one_coin"]["status"]
    'not_estimable'
    """
    task = str(tasks(judgments).iloc[0]) if len(judgments) else ""
    answers, shares, status = _label_answers(judgments, task=task)
    return {
        "one_coin": _label_model(one_coin, answers, shares, status=status),
        "mace": _label_model(mace, answers, shares, status=status),
        "bradley_terry": _strengths(judgments, pairs, task=task),
        "detection": _detection(judgments, task=task),
        "predictions": _predictions(judgments, task=task),
    }


def _label_answers(judgments: pd.DataFrame, *, task: str) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Return the decided answers coded label-blind, those as expected by unit, and whether there are any."""
    if task in RATING_TASKS or not task:
        return pd.DataFrame(), pd.DataFrame(), "not_for_ratings" if task else "no_data"
    coded = code_answers(judgments).table
    rows = coded[coded["category"].isin([0.0, 1.0])]
    units = rows["unit"].astype(str)
    answers = pd.DataFrame(
        {
            "unit": units.to_numpy(),
            "participant": rows["participant"].to_numpy(),
            "value": rows["category"].astype(int).to_numpy(),
        }
    )
    return answers, rows.groupby(units)["value"].agg(["sum", "size"]), "ok" if len(rows) else "no_data"


def _label_model(
    model: Callable[..., LatentLabels], answers: pd.DataFrame, shares: pd.DataFrame, *, status: str
) -> dict[str, Any]:
    empty: dict[str, Any] = {"median_answers": None, "contradicted": [], "annotators": [], "n_items": 0}
    if status != "ok":
        return empty | _guard(status)
    median = float(np.median(np.bincount(group_codes(answers["participant"])[0])))
    fit = model(answers, unit="unit")
    block = empty | _guard(fit.status) | {"median_answers": median}
    if fit.items.empty:
        return block
    return block | {
        "n_items": len(fit.items),
        "contradicted": _find_contradicted(fit, shares),
        "annotators": _annotators(fit),
    }


def _find_contradicted(fit: LatentLabels, shares: pd.DataFrame) -> list[dict[str, Any]]:
    rows = fit.items[fit.items["contradicts"]]
    return [
        {
            "item": row["unit"],
            "k": int(shares.loc[row["unit"], "sum"]),
            "n": int(shares.loc[row["unit"], "size"]),
            "posterior": float(row["posterior"]),
        }
        for row in rows.to_dict("records")
    ]


def _annotators(fit: LatentLabels) -> list[dict[str, Any]]:
    """List the annotators, least skilled first."""
    measures = [name for name in fit.annotators.columns if name not in ("participant", "n")]
    rows = fit.annotators.sort_values([measures[0], "participant"])
    return [
        {"participant": str(row["participant"]), "n": int(row["n"])}
        | {name: float(row[name]) for name in measures}
        for row in rows.to_dict("records")
    ]


def _predictions(judgments: pd.DataFrame, *, task: str) -> dict[str, Any]:
    """Return surprisingly popular answers, where participants predicted those of others."""
    empty: dict[str, Any] = {"items": [], "participants": []}
    if not has_predictions(judgments):
        return empty | {"status": "not_asked", "reason": GUARDS["not_asked"]}
    if task in RATING_TASKS:
        return empty | _guard("not_for_ratings")
    rows = judgments[is_kind(judgments, ("target",)) & is_decided_choice(judgments)]
    names = ("sentence_id", "item") if task == "yes_no" else ("pair_id", "item")
    units = next(
        (rows[name] for name in names if (column_or_blank(rows, name).astype(str) != "").any()),
        column_or_blank(rows, "item"),
    )
    try:
        block = prediction_block(rows, units)
    except BadInput as error:
        return empty | {"status": "not_estimable", "reason": str(error)}
    return block | _guard(block["status"])


def _strengths(judgments: pd.DataFrame, pairs: pd.DataFrame | None, *, task: str) -> dict[str, Any]:
    if task in (*RATING_TASKS, "yes_no", "") or pairs is None or "pair_id" not in judgments.columns:
        return {"groups": [], **_guard("not_choices")}
    wins = pair_wins(judgments[is_decided_choice(judgments)], pairs)
    groups = []
    for members in _compared_groups(wins):
        part = wins[wins["winner"].isin(members)]
        strengths = bradley_terry(part)
        table = strengths.table
        if len(table):
            table = table.sort_values("log_strength", ascending=False)
        groups.append(
            {
                "sentences": [
                    {
                        "sentence_id": str(row["option"]),
                        "wins": int(row["wins"]),
                        "n": int(row["n"]),
                        "share": float(row["share"]),
                        "log_strength": float(row["log_strength"]),
                        "se": float(row["se"]),
                    }
                    for row in table.to_dict("records")
                ],
                "members": sorted(members),
                "judgments": int(part["n"].sum()),
                **_guard(strengths.status),
            }
        )
    return {"groups": groups, **_guard("ok" if groups else "pairs_only" if len(wins) else "no_data")}


def is_decided_choice(judgments: pd.DataFrame) -> Any:
    """Return which rows chose a member: values 0 and 1.

    Examples
    --------
    >>> is_decided_choice(pd.DataFrame({"value": [1.0, 0.5, None]})).tolist()
    [True, False, False]
    """
    return np.isin(numbers(judgments), (0.0, 1.0))


def _compared_groups(wins: pd.DataFrame) -> list[set[str]]:
    """Return the connected groups of three or more compared sentences."""
    codes, names = group_codes(pd.concat([wins["winner"], wins["loser"]], ignore_index=True))
    winner, loser = codes[: len(wins)], codes[len(wins) :]
    graph = scipy.sparse.coo_array((np.ones(len(wins)), (winner, loser)), shape=(len(names), len(names)))
    _, group = scipy.sparse.csgraph.connected_components(graph.tocsr(), directed=False)
    sizes = np.bincount(group) if len(group) else np.zeros(0, dtype=int)
    members = pd.Series(names).groupby(group).agg(set)
    return [members[number] for number in np.flatnonzero(sizes > 2)]


def _detection(judgments: pd.DataFrame, *, task: str) -> dict[str, Any]:
    if task != "yes_no":
        return {"rows": [], "status": "not_estimable", "reason": "d′ and c are for yes-no answers"}
    value = numbers(judgments)
    answered = is_kind(judgments, ("target",)) & ~np.isnan(value)
    rows, answer = merge_answers(judgments[answered], value[answered], unit="sentence_id")
    rows = rows.assign(answer=answer)[answer != 0.5]
    rows = rows[rows["expected"].astype(object).isin(["acceptable", "unacceptable"])]
    detections = [_detection_row("all", "", rows)] if len(rows) else []
    for name in ("phenomenon", "paradigm"):
        groups = rows.groupby(column_or_blank(rows, name).astype(str), sort=True, observed=True)
        detections += [_detection_row(name, str(group), part) for group, part in groups if group]
    return {"rows": detections, **_guard("ok" if detections else "no_data")}


def _detection_row(of: str, name: str, rows: pd.DataFrame) -> dict[str, Any]:
    good = (rows["expected"].astype(object) == "acceptable").to_numpy()
    answers = rows["answer"].to_numpy(dtype=np.float64)
    hits = int(answers[good].sum()), int(good.sum())
    alarms = int(answers[~good].sum()), int((~good).sum())
    detection = signal_detection(hits, alarms)
    return {
        "of": of,
        "name": name,
        "yes_acceptable": hits[0],
        "n_acceptable": hits[1],
        "yes_unacceptable": alarms[0],
        "n_unacceptable": alarms[1],
        "d_prime": detection.d_prime,
        "criterion": detection.criterion,
        "status": detection.status,
        **_by_participants(rows, good, answers),
    }


def _by_participants(rows: pd.DataFrame, good: Flags, answers: Floats) -> dict[str, Any]:
    """Average the d′ of the participants who judged sentences of both kinds."""
    person, people = group_codes(rows["participant"])
    yes, n_shown = (
        [np.bincount(person[side], weights=of[side], minlength=len(people)) for side in (good, ~good)]
        for of in (answers, np.ones(len(answers)))
    )
    judged_both = (n_shown[0] > 0) & (n_shown[1] > 0)
    hits, alarms = (
        scipy.stats.norm.ppf((k[judged_both] + 0.5) / (n[judged_both] + 1))
        for k, n in zip(yes, n_shown, strict=True)
    )
    d_primes, n = hits - alarms, int(judged_both.sum())
    half = scipy.stats.t.ppf(0.975, n - 1) * d_primes.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
    mean = float(d_primes.mean()) if n else np.nan
    return {
        "n_participants": n,
        "d_prime_mean": none_if_nan(mean),
        "ci_low": none_if_nan(mean - half),
        "ci_high": none_if_nan(mean + half),
    }


def _guard(status: str) -> dict[str, str]:
    return {"status": status if status == "ok" else "not_estimable", "reason": GUARDS.get(status, status)}
