"""Models of annotators and of strength beside the majority, with their guards: the items page's second
half."""

from typing import Any

import numpy as np
import pandas as pd
import scipy

from analysis.aggregation.dawid_skene import MIN_MEDIAN, LatentLabels, one_coin
from analysis.aggregation.preferences import bradley_terry, pair_wins
from analysis.aggregation.proportions import signal_detection
from analysis.agreement.answers import answers_of
from analysis.rows import (
    RATING_TASKS,
    Flags,
    Floats,
    column_or_blank,
    group_codes,
    is_kind,
    none_if_nan,
    numbers,
    tasks,
)

GUARDS = {
    "ok": "",
    "too_few": f"the median participant gave fewer than {MIN_MEDIAN} answers: skills would be guesses",
    "no_data": "there is no answer",
    "no_variation": "everybody gave the same answer throughout",
    "not_converged": "the estimate did not settle",
    "not_for_ratings": "answers are points of a scale, not labels",
    "pairs_only": "every sentence was compared with one other only: the share of choices says all",
    "not_connected_or_separated": "a sentence never lost, or never won: its strength has no finite estimate",
    "not_choices": "strengths come from choices between sentences",
}


def item_diagnostics(judgments: pd.DataFrame, pairs: pd.DataFrame | None = None) -> dict[str, Any]:
    """Report annotators' skill, strengths of sentences and sensitivity, where each may be estimated.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment of one task
        The kept rows.
    pairs : DataFrame, optional
        ``pair_id``, ``good_id`` and ``bad_id`` of the pairs shown, for strengths.

    Returns
    -------
    dict
        ``one_coin``, ``bradley_terry`` and ``detection``, each with ``status`` and ``reason``; JSON-ready.

    Notes
    -----
    Diagnostics, never gold labels: one truth per item is assumed, which gradience and dialects break.
    One-coin Dawid and Skene is coded label-blind with a Beta prior, and refused below a median of 20
    answers. Strengths are fitted for groups of sentences compared in more than one pair, and refused
    where the graph of wins is not strongly connected. d′ and c are of pooled answers with the log-linear
    correction; beside them stands the mean of the participants' own d′ (t interval), because pooling people
    of different bias makes d′ smaller than theirs. With few answers a person the correction pulls their own
    towards 0: then read the pooled one.

    References
    ----------
    Dawid & Skene (1979), Applied Statistics 28; Bradley & Terry (1952), Biometrika 39; Hautus (1995),
    BRMIC 27.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": ["a", "b"], "item": ["x", "x"], "value": [1, 0]})
    >>> item_diagnostics(rows)["one_coin"]["status"]
    'not_estimable'
    """
    task = str(tasks(judgments).iloc[0]) if len(judgments) else ""
    return {
        "one_coin": _one_coin(judgments, task=task),
        "bradley_terry": _strengths(judgments, pairs, task=task),
        "detection": _detection(judgments, task=task),
    }


def _one_coin(judgments: pd.DataFrame, *, task: str) -> dict[str, Any]:
    empty: dict[str, Any] = {"median_answers": None, "contradicted": [], "annotators": [], "n_items": 0}
    if task in RATING_TASKS or not task:
        return empty | _guard("not_for_ratings" if task else "no_data")
    answers = answers_of(judgments)
    rows = answers.table[answers.table["category"].isin([0.0, 1.0])]
    if rows.empty:
        return empty | _guard("no_data")
    median = float(np.median(np.bincount(group_codes(rows["participant"])[0])))
    labelled = pd.DataFrame(
        {
            "unit": rows["unit"].astype(str).to_numpy(),
            "participant": rows["participant"].to_numpy(),
            "value": rows["category"].astype(int).to_numpy(),
        }
    )
    found = one_coin(labelled, unit="unit")
    told = empty | _guard(found.status) | {"median_answers": median}
    if found.items.empty:
        return told
    shares = rows.groupby(rows["unit"].astype(str))["value"].agg(["sum", "size"])
    return told | {
        "n_items": len(found.items),
        "contradicted": _contradicted(found, shares),
        "annotators": _annotators(found),
    }


def _contradicted(found: LatentLabels, shares: pd.DataFrame) -> list[dict[str, Any]]:
    rows = found.items[found.items["contradicts"]]
    return [
        {
            "item": row["unit"],
            "k": int(shares.loc[row["unit"], "sum"]),
            "n": int(shares.loc[row["unit"], "size"]),
            "posterior": float(row["posterior"]),
        }
        for row in rows.to_dict("records")
    ]


def _annotators(found: LatentLabels) -> list[dict[str, Any]]:
    rows = found.annotators.sort_values(["skill", "participant"])
    return [
        {"participant": str(row["participant"]), "n": int(row["n"]), "skill": float(row["skill"])}
        for row in rows.to_dict("records")
    ]


def _strengths(judgments: pd.DataFrame, pairs: pd.DataFrame | None, *, task: str) -> dict[str, Any]:
    if task in (*RATING_TASKS, "yes_no", "") or pairs is None or "pair_id" not in judgments.columns:
        return {"groups": [], **_guard("not_choices")}
    wins = pair_wins(judgments[numbers_known(judgments)], pairs)
    groups = []
    for members in _compared(wins):
        part = wins[wins["winner"].isin(members)]
        found = bradley_terry(part)
        table = found.table.sort_values("log_strength", ascending=False) if len(found.table) else found.table
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
                **_guard(found.status),
            }
        )
    return {"groups": groups, **_guard("ok" if groups else "pairs_only" if len(wins) else "no_data")}


def numbers_known(judgments: pd.DataFrame) -> Any:
    """Tell which rows are decided choices, 0 or 1.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment

    Returns
    -------
    array of bool

    Examples
    --------
    >>> numbers_known(pd.DataFrame({"value": [1.0, 0.5, None]})).tolist()
    [True, False, False]
    """
    return np.isin(numbers(judgments), (0.0, 1.0))


def _compared(wins: pd.DataFrame) -> list[set[str]]:
    """Give the groups of three or more sentences that comparisons connect."""
    codes, names = group_codes(pd.concat([wins["winner"], wins["loser"]], ignore_index=True))
    one, other = codes[: len(wins)], codes[len(wins) :]
    graph = scipy.sparse.coo_array((np.ones(len(wins)), (one, other)), shape=(len(names), len(names)))
    _, group = scipy.sparse.csgraph.connected_components(graph.tocsr(), directed=False)
    sizes = np.bincount(group) if len(group) else np.zeros(0, dtype=int)
    members = pd.Series(names).groupby(group).agg(set)
    return [members[number] for number in np.flatnonzero(sizes > 2)]


def _detection(judgments: pd.DataFrame, *, task: str) -> dict[str, Any]:
    if task != "yes_no":
        return {"rows": [], "status": "not_estimable", "reason": "d′ and c are for yes-no answers"}
    value = numbers(judgments)
    used = is_kind(judgments, ("target",)) & ~np.isnan(value)
    rows = judgments[used].assign(said=value[used])
    rows = rows[rows["expected"].astype(object).isin(["acceptable", "unacceptable"])]
    found = [_detected("all", "", rows)] if len(rows) else []
    for name in ("phenomenon", "paradigm"):
        groups = rows.groupby(column_or_blank(rows, name).astype(str), sort=True, observed=True)
        found += [_detected(name, str(group), part) for group, part in groups if group]
    return {"rows": found, **_guard("ok" if found else "no_data")}


def _detected(of: str, name: str, rows: pd.DataFrame) -> dict[str, Any]:
    good = (rows["expected"].astype(object) == "acceptable").to_numpy()
    said = rows["said"].to_numpy(dtype=np.float64)
    hits, alarms = (int(said[good].sum()), int(good.sum())), (int(said[~good].sum()), int((~good).sum()))
    found = signal_detection(hits, alarms)
    return {
        "of": of,
        "name": name,
        "yes_acceptable": hits[0],
        "n_acceptable": hits[1],
        "yes_unacceptable": alarms[0],
        "n_unacceptable": alarms[1],
        "d_prime": found.d_prime,
        "criterion": found.criterion,
        "status": found.status,
        **_by_participants(rows, good, said),
    }


def _by_participants(rows: pd.DataFrame, good: Flags, said: Floats) -> dict[str, Any]:
    """Average the d′ of the participants who judged sentences of both kinds."""
    person, people = group_codes(rows["participant"])
    yes, shown = (
        [np.bincount(person[side], weights=of[side], minlength=len(people)) for side in (good, ~good)]
        for of in (said, np.ones(len(said)))
    )
    both = (shown[0] > 0) & (shown[1] > 0)
    hits, alarms = (
        scipy.stats.norm.ppf((k[both] + 0.5) / (n[both] + 1)) for k, n in zip(yes, shown, strict=True)
    )
    own, n = hits - alarms, int(both.sum())
    half = scipy.stats.t.ppf(0.975, n - 1) * own.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
    mean = float(own.mean()) if n else np.nan
    return {
        "n_participants": n,
        "d_prime_mean": none_if_nan(mean),
        "ci_low": none_if_nan(mean - half),
        "ci_high": none_if_nan(mean + half),
    }


def _guard(status: str) -> dict[str, str]:
    return {"status": status if status == "ok" else "not_estimable", "reason": GUARDS.get(status, status)}
