"""The intervals of a stored comparison as rows: over other pairs, and over both pairs and people."""

from collections.abc import Sequence
from typing import Any

PAIRS, BOTH, SHIFT = "pairs", "pairs, people", "shift"


def interval_rows(report: dict[str, Any], keys: Sequence[str]) -> list[dict[str, Any]]:
    """One row per model and way of drawing; ``cells`` in the order BLiMP, ADC at each δ, r.

    The first row of a model has its name as ``model``, its other rows as ``again``.

    A comparison without judgments by participant has the first way only, and its second row says why.
    """
    rows = []
    for model in report["models"]:
        ends = model["intervals"]
        cells = [ends["blimp"], *(ends["adc"].get(key) for key in keys), ends["pearson_r"]]
        rows.append({"model": model["model"], "drawn": PAIRS, "cells": [_cell(one) for one in cells]})
        joint = ends.get("joint")
        if joint is None:
            continue
        cells = [None, *(joint["adc"].get(key) for key in keys), joint["pearson_r"]]
        status = "" if joint["status"] == "ok" else joint["status"]
        rows.append(
            {"again": model["model"], "drawn": BOTH, "status": status, "cells": [_cell(one) for one in cells]}
        )
        if not status:
            moved = [None, *(joint["shift"].get(key) for key in keys), None]
            rows.append({"again": model["model"], "drawn": SHIFT, "cells": [{"shift": one} for one in moved]})
    return rows


def drawn_people(report: dict[str, Any]) -> int | None:
    """How many people the joint draws rest on; None without them."""
    found = [(one["intervals"].get("joint") or {}).get("participants") for one in report["models"]]
    return next((n for n in found if n is not None), None)


def _cell(ends: Sequence[float] | None) -> dict[str, Any]:
    low, high = ends or (None, None)
    return {"low": low, "high": high}
