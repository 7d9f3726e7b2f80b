"""The leaderboard: models in one sortable table with chance, constant baseline and humans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..choices import LEADERBOARD_SORT
from ..errors import UnknownName

MODEL, CONSTANT, PEOPLE = "model", "constant", "people"
RISING = ("model", "mean_abs_difference")
RANKS = (
    "interval of a rank: behind the models that are better and before those that are worse, by the paired "
    "test with Holm's correction; of different comparisons, by intervals that do not overlap"
)
FIRST = ("blimp", "blimp_chance", "spearman_r", "area", "mean_abs_difference")


def leaderboard_rows(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Flatten a comparison to one row per model, then the constant baseline and humans.

    The result has ``kind`` (``model``, ``constant``, ``people``), ``model``, ``pairs``, ``left_out``;
    ``blimp`` with ``blimp_low``, ``blimp_high``, ``blimp_chance``; for each δ ``adc_δ`` with ``_low``,
    ``_high``, ``_chance``, ``_recalibrated``, ``_skill``; ``area``; ``pearson_r`` with ``_low``, ``_high``
    and its ``_ceiling``; ``spearman_r``, ``mean_abs_difference``. ``_joint_low`` and ``_joint_high`` of ADC
    and r are intervals over pairs and participants, as are ``_low`` and ``_high`` of skill, of disattenuated
    correlations and of humans. Undefined numbers are None.
    """
    baselines = document["baselines"]
    ceiling = baselines["human_ceiling"] or {}
    noise = ceiling.get("correlation") or {}
    noise_ceiling = noise.get("model")
    ends = ceiling.get("intervals") or {}
    rows = [_model(model, noise_ceiling) for model in document["models"]]
    # JSON stored by PostgreSQL has its keys in another order.
    deltas = sorted(baselines["constant"]["adc"], key=float)
    constant: dict[str, Any] = {
        "kind": CONSTANT,
        "model": "same answer for every pair",
        "pairs": document["labeled_pairs"],
        "blimp": baselines["constant"]["blimp"],
    }
    people: dict[str, Any] = {
        "kind": PEOPLE,
        "model": "people, another sample",
        "pairs": ceiling.get("pairs"),
    }
    for delta in deltas:
        at_constant, at_people = baselines["constant"]["adc"][delta], (ceiling.get("adc") or {}).get(delta)
        constant |= {f"adc_{delta}": at_constant, f"adc_{delta}_skill": None if at_people is None else 0.0}
        people |= {f"adc_{delta}": at_people, f"adc_{delta}_skill": None if at_people is None else 1.0}
        people |= _ends(f"adc_{delta}", (ends.get("adc") or {}).get(delta))
    people |= {"pearson_r": noise.get("sample"), "pearson_r_ceiling": noise_ceiling}
    people |= _ends("pearson_r", ends.get("sample")) | _ends("pearson_r_ceiling", ends.get("model"))
    keys = list(rows[0]) if rows else list(constant)
    return rows + [{key: row.get(key) for key in keys} for row in (constant, people)]


@dataclass(frozen=True)
class ComparedModels:
    """A comparison that enters a leaderboard."""

    document: dict[str, Any]
    """From :func:`obelus.comparison.report.compare_report`."""
    options: dict[str, Any]
    """Its δ, signs, standardization and seed."""
    models: Sequence[dict[str, Any]]
    """Facts of each model, in the order of the document; ``key`` identifies a model across comparisons."""

    @property
    def key(self) -> str:
        """A short key of the options, for addresses and ``--conventions``."""
        deltas = "_".join(format(delta, "g") for delta in self.options["deltas"])
        scale = "given" if self.options["already_standardized"] else "z"
        return f"{deltas}-{self.options['signs']}-{scale}-{self.options['seed']}"

    @property
    def words(self) -> str:
        """Label of the options in a list of choices."""
        deltas = ", ".join(format(delta, "g") for delta in self.options["deltas"])
        scores = "scores as given" if self.options["already_standardized"] else "scores standardized"
        return f"δ {deltas} · signs {self.options['signs']} · {scores} · seed {self.options['seed']}"


def leaderboard_document(
    comparisons: Sequence[ComparedModels],
    *,
    sort: str = LEADERBOARD_SORT,
    ascending: bool | None = None,
    conventions: str = "",
) -> dict[str, Any]:
    """Return the models of comparisons with the same options in one order, ready for JSON.

    ``comparisons`` are of the same pairs and humans, newest first: a model in several of them is taken from
    the newest, as are the constant and humans.
    """
    offered = list({comparison.key: comparison for comparison in comparisons}.values())
    keys = [comparison.key for comparison in offered]
    if conventions and conventions not in keys:
        raise UnknownName("set of conventions", conventions, keys)
    selected = conventions or (keys[0] if keys else "")
    matching = [comparison for comparison in comparisons if comparison.key == selected]
    rows = _board_rows(matching)
    sort = sort if rows else LEADERBOARD_SORT
    return {
        "sort": sort,
        "ascending": ascending,
        "sort_keys": sort_keys(rows),
        "rows": sort_models(rows, sort, ascending=ascending, tests=_paired_tests(matching)) if rows else [],
        "conventions": _board_conventions(matching[0]) if matching else {},
        "offered": [{"key": comparison.key, "words": comparison.words} for comparison in offered],
    }


def _board_rows(comparisons: Sequence[ComparedModels]) -> list[dict[str, Any]]:
    """Return each model once, newest comparison first, then the newest constant and humans."""
    by_key: dict[Any, dict[str, Any]] = {}
    for comparison in comparisons:
        models = [row for row in leaderboard_rows(comparison.document) if row["kind"] == MODEL]
        for facts, row in zip(comparison.models, models, strict=True):
            stated = {name: fact for name, fact in facts.items() if name != "key"}
            by_key.setdefault(facts["key"], {**row, **stated})
    rows = list(by_key.values())
    keys = list(rows[0]) if rows else []
    newest = leaderboard_rows(comparisons[0].document) if comparisons else []
    baselines = [row for row in newest if row["kind"] != MODEL]
    return rows + [{key: row.get(key) for key in keys} for row in baselines]


Identity = tuple[Any, ...]
Tests = Mapping[str, Mapping[frozenset[Identity], float | None]]
"""Corrected p of two models, for each column."""


def _identity(row: Mapping[str, Any]) -> Identity:
    return tuple(row.get(name) for name in ("model", "method", "revision", "run"))


def _paired_tests(comparisons: Sequence[ComparedModels]) -> Tests:
    tests: dict[str, dict[frozenset[Identity], float | None]] = {}
    for comparison in comparisons:
        document = comparison.document
        names = {
            model["model"]: _identity({"model": model["model"], **facts})
            for model, facts in zip(document["models"], comparison.models, strict=True)
        }
        rows = [("blimp", row) for row in document.get("differences_blimp", [])]
        rows += [(f"adc_{row['delta']}", row) for row in document["differences"]]
        for column, row in rows:
            two = frozenset((names[row["a"]], names[row["b"]]))
            tests.setdefault(column, {}).setdefault(two, row["p_holm"])
    return tests


def _board_conventions(comparison: ComparedModels) -> dict[str, Any]:
    document = comparison.document
    return {
        "key": comparison.key,
        **comparison.options,
        "standardization": document["standardization"],
        **document["conventions"],
        "ranks": RANKS,
        "pairs": document["pairs"],
        "labeled_pairs": document["labeled_pairs"],
    }


def sort_keys(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the columns by which a leaderboard can be sorted.

    Examples
    --------
    >>> sort_keys([])
    ['model']
    """
    if not rows:
        return ["model"]
    keys = [key for key in rows[0] if key == "model" or key in FIRST or key.startswith(("adc_", "pearson_r"))]
    return [key for key in keys if not key.endswith(("_low", "_high", "_ceiling", "_disattenuated"))]


def sort_models(
    rows: Sequence[dict[str, Any]], key: str, *, ascending: bool | None = None, tests: Tests | None = None
) -> list[dict[str, Any]]:
    """Sort the models; undefined values come last, and the constant and humans after all models.

    Adds ``rank``: models with equal values share one; None for baselines and undefined values. ``rank_low``
    and ``rank_high`` are its interval: of n models, 1 + those that are better to n - those that are worse, by
    ``tests``, or where two models have none by intervals that do not overlap; None where a column has no
    interval.

    References
    ----------
    Klein, Wright & Wieczorek (2020), Journal of the Royal Statistical Society A 183: ranks from comparisons.

    Examples
    --------
    >>> rows = [{"kind": "model", "model": name, "blimp": value} for name, value in (("a", 0.6), ("b", 0.7))]
    >>> [(row["rank"], row["model"]) for row in sort_models(rows, "blimp")]
    [(1, 'b'), (2, 'a')]
    """
    keys = sort_keys(rows)
    if key not in keys:
        raise UnknownName("column to sort by", key, keys)
    rising = key in RISING if ascending is None else ascending
    models = [row for row in rows if row["kind"] == MODEL]
    defined = [row for row in models if row[key] is not None]
    defined.sort(key=lambda row: row["model"])
    defined.sort(key=lambda row: row[key], reverse=not rising)
    ranked: list[dict[str, Any]] = []
    for place, row in enumerate(defined, start=1):
        tied = ranked[-1] if ranked and ranked[-1][key] == row[key] else None
        rank = tied["rank"] if tied else place
        ranked.append({**row, "rank": rank, **_rank_interval(row, defined, key, (tests or {}).get(key, {}))})
    unranked = [row for row in models if row[key] is None] + [row for row in rows if row["kind"] != MODEL]
    return ranked + [{**row, "rank": None, "rank_low": None, "rank_high": None} for row in unranked]


def _rank_interval(
    row: dict[str, Any],
    rows: Sequence[dict[str, Any]],
    key: str,
    tests: Mapping[frozenset[Identity], float | None],
) -> dict[str, int | None]:
    """Return the ends of a rank among rows in their order."""
    if not tests and row.get(f"{key}_low") is None:
        return {"rank_low": None, "rank_high": None}
    different = [other is not row and _is_different(row, other, key, tests) for other in rows]
    place = next(number for number, other in enumerate(rows) if other is row)
    return {"rank_low": 1 + sum(different[:place]), "rank_high": len(rows) - sum(different[place + 1 :])}


def _is_different(
    row: dict[str, Any], other: dict[str, Any], key: str, tests: Mapping[frozenset[Identity], float | None]
) -> bool:
    two = frozenset((_identity(row), _identity(other)))
    if two in tests:
        p = tests[two]
        return p is not None and p < 0.05
    ends = [model.get(f"{key}_{end}") for model in (row, other) for end in ("low", "high")]
    low, high, other_low, other_high = (float("nan") if end is None else float(end) for end in ends)
    return high < other_low or other_high < low


def _model(model: dict[str, Any], noise_ceiling: float | None) -> dict[str, Any]:
    intervals = model["intervals"]
    joint = intervals.get("joint") or {"adc": {}, "pearson_r": None}
    row: dict[str, Any] = {
        "kind": MODEL, "model": model["model"], "pairs": model["pairs"], "left_out": model["left_out"],
        **_numbers("blimp", model["blimp"], intervals["blimp"], chance=model["chance_blimp"]),
    }  # fmt: skip
    for delta, value in sorted(model["adc"].items(), key=lambda item: float(item[0])):
        row |= _numbers(f"adc_{delta}", value, intervals["adc"][delta], chance=model["chance"][delta])
        row |= {
            f"adc_{delta}_recalibrated": model["adc_recalibrated"][delta],
            f"adc_{delta}_skill": model["skill"][delta],
            **_ends(f"adc_{delta}_skill", joint.get("skill", {}).get(delta)),
            **_joint(f"adc_{delta}", joint["adc"].get(delta)),
        }
    low, high = intervals["pearson_r"] or (None, None)
    return row | {
        "area": model["adc_area"],
        "pearson_r": model["pearson_r"], "pearson_r_low": low, "pearson_r_high": high,
        **_joint("pearson_r", joint["pearson_r"]),
        "pearson_r_ceiling": None if model["pearson_r"] is None else noise_ceiling,
        "pearson_r_disattenuated": model.get("pearson_r_disattenuated"),
        **_ends("pearson_r_disattenuated", joint.get("pearson_r_disattenuated")),
        "spearman_r": model["spearman_r"],
        "mean_abs_difference": model["mean_abs_difference"],
    }  # fmt: skip


def _numbers(
    name: str, value: float | None, intervals: Sequence[float] | None, *, chance: float | None
) -> dict[str, Any]:
    low, high = intervals or (None, None)
    return {name: value, f"{name}_low": low, f"{name}_high": high, f"{name}_chance": chance}


def _joint(name: str, intervals: Sequence[float] | None) -> dict[str, Any]:
    return _ends(f"{name}_joint", intervals)


def _ends(name: str, intervals: Sequence[float] | None) -> dict[str, Any]:
    low, high = intervals or (None, None)
    return {f"{name}_low": low, f"{name}_high": high}
