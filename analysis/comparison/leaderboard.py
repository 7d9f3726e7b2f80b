"""Models in one table to be ordered: every number beside chance, one constant and people."""

from collections.abc import Sequence
from typing import Any

from analysis.errors import UnknownName

MODEL, CONSTANT, PEOPLE = "model", "constant", "people"
RISING = ("model", "mean_abs_difference")
FIRST = ("blimp", "blimp_chance", "spearman_r", "area", "mean_abs_difference")


def leaderboard_rows(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Lay a comparison out flat, one row per model, then the constant and people.

    Parameters
    ----------
    document : dict
        From :func:`analysis.comparison.report.compare_report`.

    Returns
    -------
    list of dict
        ``kind`` (``model``, ``constant``, ``people``), ``model``, ``pairs``, ``left_out``; ``blimp`` with
        ``blimp_low``, ``blimp_high``, ``blimp_chance``; for each δ ``adc_δ`` with ``_low``, ``_high``,
        ``_chance``, ``_recalibrated``, ``_skill``; ``area``; ``pearson_r`` with ``_low``, ``_high`` and its
        ``_ceiling``; ``spearman_r``, ``mean_abs_difference``. ``_joint_low`` and ``_joint_high`` of ADC and r
        hold for other people too. What is undefined is None.

    See Also
    --------
    analysis.comparison.report.compare_report : The document.
    """
    baselines = document["baselines"]
    ceiling = baselines["human_ceiling"] or {}
    noise = ceiling.get("correlation") or {}
    reach = noise.get("model")
    rows = [_model(one, reach) for one in document["models"]]
    deltas = list(baselines["constant"]["adc"])
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
    people |= {"pearson_r": noise.get("sample"), "pearson_r_ceiling": reach}
    keys = list(rows[0]) if rows else list(constant)
    return rows + [{key: row.get(key) for key in keys} for row in (constant, people)]


def sort_keys(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Name the columns by which a leaderboard can be ordered.

    Parameters
    ----------
    rows : sequence of dict
        From :func:`leaderboard_rows`.

    Returns
    -------
    list of str
        Numbers of the models, name first.

    Examples
    --------
    >>> sort_keys([])
    ['model']
    """
    if not rows:
        return ["model"]
    found = [
        key for key in rows[0] if key == "model" or key in FIRST or key.startswith(("adc_", "pearson_r"))
    ]
    return [key for key in found if not key.endswith(("_low", "_high", "_ceiling"))]


def ordered(
    rows: Sequence[dict[str, Any]], key: str, *, ascending: bool | None = None
) -> list[dict[str, Any]]:
    """Order the models; what is undefined comes last, and the constant and people after all models.

    Parameters
    ----------
    rows : sequence of dict
        From :func:`leaderboard_rows`.
    key : str
        One of :func:`sort_keys`.
    ascending : bool, optional
        By default the best first.

    Returns
    -------
    list of dict
        ``rank`` is added: models with equal numbers share one; None for what is no model or undefined.

    Raises
    ------
    UnknownName
        For another key.

    Examples
    --------
    >>> rows = [{"kind": "model", "model": name, "blimp": value} for name, value in (("a", 0.6), ("b", 0.7))]
    >>> [(row["rank"], row["model"]) for row in ordered(rows, "blimp")]
    [(1, 'b'), (2, 'a')]
    """
    known = sort_keys(rows)
    if key not in known:
        raise UnknownName("column to sort by", key, known)
    rising = key in RISING if ascending is None else ascending
    models = [row for row in rows if row["kind"] == MODEL]
    defined = [row for row in models if row[key] is not None]
    defined.sort(key=lambda row: row["model"])
    defined.sort(key=lambda row: row[key], reverse=not rising)
    found: list[dict[str, Any]] = []
    for place, row in enumerate(defined, start=1):
        tied = found[-1] if found and found[-1][key] == row[key] else None
        found.append({**row, "rank": tied["rank"] if tied else place})
    rest = [row for row in models if row[key] is None] + [row for row in rows if row["kind"] != MODEL]
    return found + [{**row, "rank": None} for row in rest]


def _model(one: dict[str, Any], reach: float | None) -> dict[str, Any]:
    ends = one["intervals"]
    joint = ends.get("joint") or {"adc": {}, "pearson_r": None}
    row: dict[str, Any] = {
        "kind": MODEL, "model": one["model"], "pairs": one["pairs"], "left_out": one["left_out"],
        **_numbers("blimp", one["blimp"], ends["blimp"], chance=one["chance_blimp"]),
    }  # fmt: skip
    for delta, value in one["adc"].items():
        row |= _numbers(f"adc_{delta}", value, ends["adc"][delta], chance=one["chance"][delta])
        row |= {
            f"adc_{delta}_recalibrated": one["adc_recalibrated"][delta],
            f"adc_{delta}_skill": one["skill"][delta],
            **_joint(f"adc_{delta}", joint["adc"].get(delta)),
        }
    low, high = ends["pearson_r"] or (None, None)
    return row | {
        "area": one["adc_area"],
        "pearson_r": one["pearson_r"], "pearson_r_low": low, "pearson_r_high": high,
        **_joint("pearson_r", joint["pearson_r"]),
        "pearson_r_ceiling": None if one["pearson_r"] is None else reach,
        "spearman_r": one["spearman_r"],
        "mean_abs_difference": one["mean_abs_difference"],
    }  # fmt: skip


def _numbers(
    name: str, value: float | None, ends: Sequence[float] | None, *, chance: float | None
) -> dict[str, Any]:
    low, high = ends or (None, None)
    return {name: value, f"{name}_low": low, f"{name}_high": high, f"{name}_chance": chance}


def _joint(name: str, ends: Sequence[float] | None) -> dict[str, Any]:
    low, high = ends or (None, None)
    return {f"{name}_joint_low": low, f"{name}_joint_high": high}
