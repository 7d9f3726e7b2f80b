"""A figure fitted to the width it is shown at: nothing is scaled, so that its text keeps its size."""

import copy
import json
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from .theme import LEGENDS

CHARACTER = 6.6  # mean width in points of a character of 12 points
LINE = 14  # points from one line of text to the next
SYMBOL = 36  # width in points of a legend symbol with its margins
LABEL_SHARE = 0.42  # most of the width that names of rows may take
SHAPE_SHARE = 0.9  # largest height as a share of the width
KEEP_HEIGHT = "keep_height"  # in usermeta: a figure whose lines of text may not come nearer


def fit_width(specification: dict[str, Any], *, width: int) -> dict[str, Any]:
    """Lay a figure out for a width.

    Notes
    -----
    A specification of that width. Captions are wrapped, long names of rows are broken at their
    underscores and hyphens (rows grow with them), the legend has as many columns as there is room for.
    """
    adapted = copy.deepcopy(specification)
    adapted["width"] = width
    adapted["autosize"] = {"type": "fit-x", "contains": "padding"}
    _wrap_caption(adapted, width)
    _break_row_names(adapted, width)
    _wrap_axis_titles(adapted, width)
    _set_legend_columns(adapted, width)
    if isinstance(adapted.get("height"), int) and not adapted.get("usermeta", {}).get(KEEP_HEIGHT):
        adapted["height"] = min(adapted["height"], round(width * SHAPE_SHARE))
    return adapted


def broken(name: str, most: int) -> list[str]:
    """Break a name at spaces, underscores, points and hyphens.

    Examples
    --------
    >>> broken("wh_questions_object_gap", 14)
    ['wh_questions_', 'object_gap']
    """
    lines = [""]
    for part in re.findall(r"[^\s_.-]*[\s_.-]|[^\s_.-]+$", name):
        if lines[-1] and len(lines[-1] + part) > most:
            lines.append("")
        lines[-1] += part
    return [line[start : start + most] for line in lines for start in range(0, max(len(line), 1), most)]


def _wrap_caption(spec: dict[str, Any], width: int) -> None:
    title = spec.get("title")
    if isinstance(title, dict) and title.get("subtitle"):
        most = min(110, int(width / CHARACTER))
        title["subtitle"] = textwrap.wrap(" ".join(title["subtitle"]), most, break_on_hyphens=False)


def _break_row_names(spec: dict[str, Any], width: int) -> None:
    most = int(width * LABEL_SHARE / CHARACTER)
    rows = [
        encoding["y"] for encoding in _encodings(spec) if isinstance(encoding.get("y", {}).get("sort"), list)
    ]
    names = {str(name): broken(str(name), most) for row in rows for name in row["sort"]}
    most_lines = max((len(lines) for lines in names.values()), default=1)
    if most_lines == 1:
        return
    labels = json.dumps(names, ensure_ascii=False)
    for row in rows:
        row["axis"] = {**(row.get("axis") or {}), "labelExpr": f"({labels})[datum.label]"}
        row["axis"]["labelLineHeight"] = LINE
        row["axis"]["labelOffset"] = _raise_labels(labels, most_lines)
    height = spec.get("height")
    if isinstance(height, dict) and "step" in height:
        height["step"] = max(height["step"], LINE * most_lines + 6)


def _raise_labels(labels: str, most_lines: int) -> dict[str, Any]:
    """Names of several lines begin higher, so that their middle stays beside the row."""
    raised = [
        {"test": f"length(({labels})[datum.label]) == {lines}", "value": -LINE * (lines - 1) / 2}
        for lines in range(2, most_lines + 1)
    ]
    return {"condition": raised, "value": 0}


def _wrap_axis_titles(spec: dict[str, Any], width: int) -> None:
    has_rows = any(isinstance(encoding.get("y", {}).get("sort"), list) for encoding in _encodings(spec))
    most = int(width * (1 - LABEL_SHARE if has_rows else 0.8) / CHARACTER)
    for channels in _encodings(spec):
        title = channels.get("x", {}).get("title")
        if isinstance(title, str) and len(title) > most:
            channels["x"]["title"] = textwrap.wrap(title, most)


def _set_legend_columns(spec: dict[str, Any], width: int) -> None:
    coded = [
        encoding[channel]
        for encoding in _encodings(spec)
        for channel in LEGENDS
        if channel in encoding and encoding[channel].get("legend", {}) is not None
    ]
    names = [
        str(name)
        for code in coded
        for name in (code.get("legend") or {}).get("values") or (code.get("scale") or {}).get("domain") or ()
    ]
    names += [label for code in coded for label in _replaced_labels(code.get("legend") or {})]
    if names:
        labels = [
            str(name) for encoding in _encodings(spec) for name in encoding.get("y", {}).get("sort") or ()
        ]
        most = int(width * LABEL_SHARE / CHARACTER)
        beside = max((len(line) for name in labels for line in broken(name, most)), default=0) * CHARACTER
        room = max(1, int((width - beside) / (max(map(len, names)) * CHARACTER + SYMBOL)))
        spec["config"]["legend"]["columns"] = room


def _replaced_labels(legend: dict[str, Any]) -> list[str]:
    """Return the labels that an expression replaces names by."""
    match = re.match(r"\((\{.*\})\)\[datum\.label\]$", str(legend.get("labelExpr", "")))
    return [str(label) for label in json.loads(match[1]).values()] if match else []


def _encodings(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for layer in spec.get("layer", ()):
        yield layer.get("encoding", {})
