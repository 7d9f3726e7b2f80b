"""Entries of the figure registry: what a figure shows, what it needs, and how it is drawn."""

import json
import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import pandas as pd

from ..rows import RATING_TASKS, column_or_blank, is_kind
from .evidence import Evidence
from .export import figure_data
from .theme import caption, layer_charts

About = Literal["study", "models"]


@dataclass(frozen=True)
class Drawing:
    """One figure of the registry.

    Parameters
    ----------
    name : str
        As in addresses, file names and commands: letters and hyphens.
    number : int
        Place in the list; figures of one number belong together.
    title : str
        Heading of the figure.
    shows : str
        Alternative text, one sentence without a full stop.
    needs : str
        Required data, as a phrase after "Needs".
    about : {"study", "models"}
        Whether it is drawn from a study's judgments or from models beside humans.
    lacking : callable
        From the evidence to the reason why the figure does not apply; empty where it does.
    draw : callable
        From the evidence to the chart; raises ``NotEnoughData`` where nothing can be drawn.
    is_slow : bool
        Whether drawing may take many seconds; pages draw such a figure when asked.
    """

    name: str
    number: int
    title: str
    shows: str
    needs: str
    about: About
    lacking: Callable[[Evidence], str]
    draw: Callable[[Evidence], alt.LayerChart]
    is_slow: bool = False


NO_JUDGMENTS = "There are no judgments yet."


def lacks_task(*names: str) -> Callable[[Evidence], str]:
    """Return a check for figures of judgments of certain tasks.

    Examples
    --------
    >>> lacks_task("likert")(Evidence())
    'There are no judgments yet.'
    """

    def lacking(evidence: Evidence) -> str:
        if not evidence.tasks:
            return NO_JUDGMENTS
        if names and not set(names) & set(evidence.tasks):
            collected = _task_list(evidence.tasks, "and")
            return f"Needs {_task_list(names)}; this study collected {collected}."
        return ""

    return lacking


def lacks_expectation(evidence: Evidence) -> str:
    """Return why answers cannot be counted as expected or not; empty if they can.

    Examples
    --------
    >>> lacks_expectation(Evidence())
    'There are no judgments yet.'
    """
    missing = lacks_task()(evidence)
    if missing or "forced_choice" in evidence.tasks:
        return missing
    has_expectation = column_or_blank(evidence.everyone, "expected").isin(["acceptable", "unacceptable"])
    return "" if has_expectation.any() else "No judged sentence has an expected status."


def lacks_decisions(evidence: Evidence) -> str:
    """Return why judgments for the expected side of an item cannot be counted; empty if they can.

    Examples
    --------
    >>> lacks_decisions(Evidence())
    'There are no judgments yet.'
    """
    missing = lacks_expectation(evidence)
    if missing or not set(evidence.tasks) <= set(RATING_TASKS):
        return missing
    rows = evidence.everyone[is_kind(evidence.everyone, ("target",)) & evidence.everyone["value"].notna()]
    names = ["participant", "paradigm", "item", "expected"]
    sides = pd.DataFrame({name: column_or_blank(rows, name).to_numpy() for name in names})
    sides = sides[sides["expected"].isin(["acceptable", "unacceptable"])].drop_duplicates()
    has_both = sides.duplicated(names[:3]).any()
    return "" if has_both else "No participant rated both sides of an item: see the mean ratings."


def lacks_kind(kind: str, *columns: str) -> Callable[[Evidence], str]:
    """Return a check for figures that need trials of one kind, with some columns filled."""

    def lacking(evidence: Evidence) -> str:
        if not evidence.tasks or evidence.judgments is None:
            return NO_JUDGMENTS
        rows = evidence.judgments[is_kind(evidence.judgments, (kind,))]
        if not len(rows):
            return f"There are no {kind} trials."
        empty = [
            name
            for name in columns
            if name not in rows.columns or not rows[name].astype(object).replace("", None).notna().any()
        ]
        return f"The {kind} trials have no {_join_names(empty)}." if empty else ""

    return lacking


def lacks_models(evidence: Evidence) -> str:
    """Return why a figure of models cannot be drawn; empty if it can."""
    if evidence.report is None and (evidence.pairs is None or evidence.scores is None):
        return "There are no scores of a model on minimal pairs."
    return ""


def lacks_paradigms(evidence: Evidence) -> str:
    """Return why a figure of models by paradigm cannot be drawn; empty if it can."""
    missing = lacks_models(evidence)
    if missing or evidence.comparison is None:
        return missing
    if not any(model["by_paradigm"] for model in evidence.comparison["models"]):
        return "The pairs belong to no paradigms."
    return ""


def lacks_labels(evidence: Evidence) -> str:
    """Return why a figure of models compared with humans cannot be drawn; empty if it can."""
    if evidence.pairs is None or evidence.scores is None:
        return "There are no scores of a model on minimal pairs."
    if evidence.table is None or not evidence.table.is_labeled.any():
        return "No pair has human scores of both members."
    return ""


def _join_names(names: Sequence[str], conjunction: str = "or") -> str:
    words = [name.replace("_", " ") for name in names]
    return f" {conjunction} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


RESPONSES = {
    "likert": "Likert ratings",
    "slider": "slider ratings",
    "forced_choice": "forced choices",
    "yes_no": "yes–no judgments",
    "magnitude_estimation": "magnitude estimates",
    "best_worst": "best–worst choices",
}


def _task_list(tasks: Sequence[str], conjunction: str = "or") -> str:
    """Name the responses of tasks: "Likert or slider ratings"."""
    responses = [RESPONSES.get(task, f"{task.replace('_', ' ')} judgments") for task in tasks]
    nouns = {response.rpartition(" ")[2] for response in responses}
    if len(responses) > 1 and len(nouns) == 1:
        noun = nouns.pop()
        kinds = [response.removesuffix(f" {noun}") for response in responses]
        return f"{_join_names(kinds, conjunction)} {noun}"
    return _join_names(responses, conjunction)


LINE = 18  # pixels
MOST = 44  # characters of a line


def statement_figure(title: str, sentence: str, *, note: str = "") -> alt.LayerChart:
    """Draw a sentence in place of a figure that cannot be drawn.

    Examples
    --------
    >>> statement_figure("Agreement by item", "There are no judgments yet.").data["statement"].tolist()
    ['There are no judgments yet.']
    """
    lines = textwrap.wrap(sentence, MOST) or [""]
    data = pd.DataFrame({"statement": [sentence]})
    text_lines = pd.DataFrame({"line": lines, "place": range(len(lines))})
    text = (
        alt.Chart(text_lines)
        .mark_text(align="left", fontSize=13)
        .encode(x=alt.value(2), y=alt.Y("place:O", axis=None), text="line:N")
    )
    return layer_charts([text], data, height=alt.Step(LINE), title=caption(title, note))


def headed_order(rows: pd.DataFrame, *, label: str, group: str) -> tuple[list[str], list[str]]:
    """Return row labels with the name of each group before its rows, and these headings.

    Notes
    -----
    From top to bottom. There are no headings with fewer than two groups, a group without a name, or fewer
    than two rows per group. A heading is in capitals where a row has the same name.

    Examples
    --------
    >>> rows = pd.DataFrame({"p": ["a", "b", "c", "d"], "f": ["x", "x", "y", "y"]})
    >>> headed_order(rows, label="p", group="f")
    (['x', 'a', 'b', 'y', 'c', 'd'], ['x', 'y'])
    """
    labels = list(dict.fromkeys(rows[label].astype(str)))
    if group not in rows.columns:
        return labels, []
    groups = rows[group].fillna("").astype(str)
    names = list(dict.fromkeys(groups))
    if len(names) < 2 or "" in names or 2 * len(names) > len(labels):
        return labels, []
    order, headings = [], []
    for name in names:
        heading = name.upper() if name in labels else name
        headings.append(heading)
        order += [heading, *dict.fromkeys(rows.loc[(groups == name).to_numpy(), label].astype(str))]
    return order, headings


def row_axis(field: str, order: list[str], headings: list[str]) -> alt.Y:
    """Return the axis of rows under headings, headings in bold."""
    if not headings:
        return alt.Y(f"{field}:N", sort=order, title=None)
    weight: dict[str, Any] = {
        "condition": {"test": f"indexof({json.dumps(headings)}, datum.value) >= 0", "value": "bold"},
        "value": "normal",
    }
    axis = alt.Axis(labelFontWeight=weight)
    return alt.Y(f"{field}:N", sort=order, title=None, scale=alt.Scale(domain=order), axis=axis)


MAX_PART_ROWS = 40
"""Largest number of rows whose names are readable on a printed page."""


def row_parts(chart: alt.LayerChart, *, most: int = MAX_PART_ROWS) -> list[alt.LayerChart]:
    """Divide a figure with many named rows into figures that fit a printed page.

    Parts have about equally many rows, at most ``most``, and the same horizontal axis.

    Examples
    --------
    >>> items = pd.DataFrame({"item": list("abc"), "share": [0.9, 0.5, 0.2], "n": 10,
    ...     "majority": ["expected", "tie", "unexpected"], "ci_low": 0.1, "ci_high": 0.9})
    >>> from obelus.figures import item_strip
    >>> [part.data["item"].tolist() for part in row_parts(item_strip(items), most=2)]
    [['a', 'b'], ['c']]
    """
    order = next((sort for layer in chart.layer if isinstance(sort := _row_sort(layer), list)), [])
    n_parts = math.ceil(len(order) / most)
    if n_parts < 2:
        return [chart]
    size = math.ceil(len(order) / n_parts)
    domain = _horizontal_domain(chart)
    return [
        _part(chart, order[start : start + size], number=f"{start // size + 1} of {n_parts}", domain=domain)
        for start in range(0, len(order), size)
    ]


def _channel(layer: Any, name: str) -> dict[str, Any]:
    """Return the properties of one encoding of a layer; none without it."""
    channel = getattr(layer.encoding, name, None)
    # attributes of a channel are methods in Altair, its items are the properties
    properties = getattr(channel, "_kwds", {})
    return {key: value for key, value in properties.items() if value is not alt.Undefined}


def _row_sort(layer: Any) -> Any:
    return _channel(layer, "y").get("sort")


def _field(layer: Any, name: str) -> str:
    return str(_channel(layer, name).get("shorthand", "")).partition(":")[0]


def _horizontal_domain(chart: alt.LayerChart) -> list[float] | None:
    """Return the ends of a horizontal axis of numbers that names no domain; None for other axes."""
    scales = [_channel(layer, "x").get("scale") for layer in chart.layer]
    if any(scale is not None for scale in scales):
        return None
    names = {_field(layer, name) for layer in chart.layer for name in ("x", "x2")}
    data = figure_data(chart)
    values = data[[name for name in data.columns if name in names]]
    return [float(values.min().min()), float(values.max().max())] if values.size else None


def _part(
    chart: alt.LayerChart, names: list[str], *, number: str, domain: list[float] | None
) -> alt.LayerChart:
    """Return a copy of a figure with some of its rows."""
    part: Any = chart.copy(deep=True)
    field = next(_field(layer, "y") for layer in part.layer if isinstance(_row_sort(layer), list))
    part.data = _rows_named(part.data, field, names)
    for layer in part.layer:
        layer.data = _rows_named(layer.data, field, names)
        if isinstance(_row_sort(layer), list):
            layer.encoding.y["sort"] = names
            scale = _channel(layer, "y").get("scale")
            if scale is not None and scale["domain"] is not alt.Undefined:
                scale["domain"] = names
        if domain is not None and _field(layer, "x") in part.data.columns:
            layer.encoding.x["scale"] = alt.Scale(domain=domain, zero=False)
    title = part.title.text if isinstance(part.title.text, list) else [part.title.text]
    part.title.text = [*title[:-1], f"{title[-1]} ({number})"]
    result: alt.LayerChart = part
    return result


def _rows_named(data: Any, field: str, names: list[str]) -> Any:
    if not isinstance(data, pd.DataFrame) or field not in data.columns:
        return data
    return data[data[field].astype(str).isin(names)]
