"""A figure fitted to the width it is shown at: nothing is scaled, so that its text keeps its size."""

import copy
import json
import re
import textwrap
from collections.abc import Iterator
from typing import Any

CHARACTER = 6.6  # mean width in points of a character of 12 points
LINE = 14
SYMBOL = 36
LABEL_SHARE = 0.42
SHAPE_SHARE = 0.9
KEEP_HEIGHT = "keep_height"  # in usermeta: a figure whose lines of text may not come nearer
LEGENDS = ("color", "shape", "strokeDash")


def fitted(specification: dict[str, Any], *, width: int) -> dict[str, Any]:
    """Lay a figure out for a width.

    Parameters
    ----------
    specification : dict
        Of Vega-Lite, from :func:`analysis.figures.theme.specification`.
    width : int
        Of the whole figure in points: axis labels and legend lie within.

    Returns
    -------
    dict
        A specification of that width. Captions are wrapped, long names of rows are broken at their
        underscores and hyphens (rows grow with them), the legend has as many columns as there is room for.
    """
    found = copy.deepcopy(specification)
    found["width"] = width
    found["autosize"] = {"type": "fit-x", "contains": "padding"}
    _wrap_caption(found, width)
    _break_row_names(found, width)
    _wrap_axis_titles(found, width)
    _set_legend_columns(found, width)
    if isinstance(found.get("height"), int) and not found.get("usermeta", {}).get(KEEP_HEIGHT):
        found["height"] = min(found["height"], round(width * SHAPE_SHARE))
    return found


def broken(name: str, most: int) -> list[str]:
    """Break a name at spaces, underscores, points and hyphens.

    Parameters
    ----------
    name : str
        Perhaps long.
    most : int
        Characters in a line.

    Returns
    -------
    list of str
        Lines that give the name when put together.

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


def _wrap_caption(found: dict[str, Any], width: int) -> None:
    title = found.get("title")
    if isinstance(title, dict) and title.get("subtitle"):
        most = min(110, int(width / CHARACTER))
        title["subtitle"] = textwrap.wrap(" ".join(title["subtitle"]), most, break_on_hyphens=False)


def _break_row_names(found: dict[str, Any], width: int) -> None:
    most = int(width * LABEL_SHARE / CHARACTER)
    rows = [one["y"] for one in _encodings(found) if isinstance(one.get("y", {}).get("sort"), list)]
    names = {str(name): broken(str(name), most) for row in rows for name in row["sort"]}
    most_lines = max((len(lines) for lines in names.values()), default=1)
    if most_lines == 1:
        return
    shown = json.dumps(names, ensure_ascii=False)
    for row in rows:
        row["axis"] = {**(row.get("axis") or {}), "labelExpr": f"({shown})[datum.label]"}
        row["axis"]["labelLineHeight"] = LINE
        row["axis"]["labelOffset"] = _raised(shown, most_lines)
    height = found.get("height")
    if isinstance(height, dict) and "step" in height:
        height["step"] = max(height["step"], LINE * most_lines + 6)


def _raised(shown: str, most_lines: int) -> dict[str, Any]:
    """Names of several lines begin higher, so that their middle stays beside the row."""
    raised = [
        {"test": f"length(({shown})[datum.label]) == {lines}", "value": -LINE * (lines - 1) / 2}
        for lines in range(2, most_lines + 1)
    ]
    return {"condition": raised, "value": 0}


def _wrap_axis_titles(found: dict[str, Any], width: int) -> None:
    has_rows = any(isinstance(one.get("y", {}).get("sort"), list) for one in _encodings(found))
    most = int(width * (1 - LABEL_SHARE if has_rows else 0.8) / CHARACTER)
    for one in _encodings(found):
        title = one.get("x", {}).get("title")
        if isinstance(title, str) and len(title) > most:
            one["x"]["title"] = textwrap.wrap(title, most)


def _set_legend_columns(found: dict[str, Any], width: int) -> None:
    coded = [one[channel] for one in _encodings(found) for channel in LEGENDS if channel in one]
    names = [
        str(name)
        for code in coded
        for name in (code.get("legend") or {}).get("values") or (code.get("scale") or {}).get("domain") or ()
    ]
    names += [label for code in coded for label in _said_instead(code.get("legend") or {})]
    if names:
        labels = [str(name) for one in _encodings(found) for name in one.get("y", {}).get("sort") or ()]
        most = int(width * LABEL_SHARE / CHARACTER)
        beside = max((len(line) for name in labels for line in broken(name, most)), default=0) * CHARACTER
        room = max(1, int((width - beside) / (max(map(len, names)) * CHARACTER + SYMBOL)))
        found["config"]["legend"]["columns"] = room


def _said_instead(legend: dict[str, Any]) -> list[str]:
    """The labels that an expression puts in place of names."""
    given = re.match(r"\((\{.*\})\)\[datum\.label\]$", str(legend.get("labelExpr", "")))
    return [str(label) for label in json.loads(given[1]).values()] if given else []


def _encodings(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for layer in found.get("layer", ()):
        yield layer.get("encoding", {})
