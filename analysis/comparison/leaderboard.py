"""The leaderboard: models in one sortable table with chance, constant baseline and humans."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import UnknownName

MODEL, CONSTANT, PEOPLE = "model", "constant", "people"
DEFAULT_SORT = "blimp"
RISING = ("model", "mean_abs_difference")
FIRST = ("blimp", "blimp_chance", "spearman_r", "area", "mean_abs_difference")


def leaderboard_rows(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Flatten a comparison to one row per model, then the constant baseline and humans.

    The result has ``kind`` (``model``, ``constant``, ``people``), ``model``, ``pairs``, ``left_out``;
    ``blimp`` with ``blimp_low``, ``blimp_high``, ``blimp_chance``; for each δ ``adc_δ`` with ``_low``,
    ``_high``, ``_chance``, ``_recalibrated``, ``_skill``; ``area``; ``pearson_r`` with ``_low``, ``_high``
    and its ``_ceiling``; ``spearman_r``, ``mean_abs_difference``. ``_joint_low`` and ``_joint_high`` of ADC
    and r are intervals over pairs and participants. Undefined numbers are None.
    """
    baselines = document["baselines"]
    ceiling = baselines["human_ceiling"] or {}
    noise = ceiling.get("correlation") or {}
    noise_ceiling = noise.get("model")
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
    people |= {"pearson_r": noise.get("sample"), "pearson_r_ceiling": noise_ceiling}
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
    sort: str = DEFAULT_SORT,
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
    sort = sort if rows else DEFAULT_SORT
    return {
        "sort": sort,
        "ascending": ascending,
        "sort_keys": sort_keys(rows),
        "rows": sort_models(rows, sort, ascending=ascending) if rows else [],
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


def _board_conventions(comparison: ComparedModels) -> dict[str, Any]:
    document = comparison.document
    return {
        "key": comparison.key,
        **comparison.options,
        "standardization": document["standardization"],
        **document["conventions"],
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
    return [key for key in keys if not key.endswith(("_low", "_high", "_ceiling"))]


def sort_models(
    rows: Sequence[dict[str, Any]], key: str, *, ascending: bool | None = None
) -> list[dict[str, Any]]:
    """Sort the models; undefined values come last, and the constant and humans after all models.

    Adds ``rank``: models with equal values share one; None for baselines and undefined
    values.

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
        ranked.append({**row, "rank": tied["rank"] if tied else place})
    unranked = [row for row in models if row[key] is None] + [row for row in rows if row["kind"] != MODEL]
    return ranked + [{**row, "rank": None} for row in unranked]


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
            **_joint(f"adc_{delta}", joint["adc"].get(delta)),
        }
    low, high = intervals["pearson_r"] or (None, None)
    return row | {
        "area": model["adc_area"],
        "pearson_r": model["pearson_r"], "pearson_r_low": low, "pearson_r_high": high,
        **_joint("pearson_r", joint["pearson_r"]),
        "pearson_r_ceiling": None if model["pearson_r"] is None else noise_ceiling,
        "spearman_r": model["spearman_r"],
        "mean_abs_difference": model["mean_abs_difference"],
    }  # fmt: skip


def _numbers(
    name: str, value: float | None, intervals: Sequence[float] | None, *, chance: float | None
) -> dict[str, Any]:
    low, high = intervals or (None, None)
    return {name: value, f"{name}_low": low, f"{name}_high": high, f"{name}_chance": chance}


def _joint(name: str, intervals: Sequence[float] | None) -> dict[str, Any]:
    low, high = intervals or (None, None)
    return {f"{name}_joint_low": low, f"{name}_joint_high": high}
