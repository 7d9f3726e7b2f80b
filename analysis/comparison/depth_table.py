"""A comparison in depth as tables to read on a terminal."""

from collections.abc import Iterable, Sequence
from typing import Any

from analysis.comparison.table import WIDTH
from analysis.plain_text import cell, plain_table, plain_text


def depth_text(document: dict[str, Any], *, width: int = WIDTH) -> str:
    """Write a comparison in depth as plain text.

    Parameters
    ----------
    document : dict
        From :func:`analysis.comparison.depth.depth_report`.
    width : int
        Columns of the terminal.

    Returns
    -------
    str
        One table per section that has rows, and the conventions. Bins, points and grids stand in the JSON
        only.

    See Also
    --------
    analysis.comparison.depth.depth_report : The document.
    """
    tables = []
    for title, columns, rows in _tables(document):
        if not rows:
            continue
        table = plain_table(title)
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(cell(value) for value in row))
        tables.append(table)
    conventions = [f"{name}: {text}" for name, text in document["conventions"].items()]
    return plain_text(*tables, *conventions, width=width)


def _tables(document: dict[str, Any]) -> Iterable[tuple[str, Sequence[str], list[Sequence[Any]]]]:
    r = ("", "", "n", "r", "95 %", "rho", "ceiling")
    for name, title in (("deltas", "Differences of pairs"), ("paradigms", "Accuracies of paradigms")):
        cells = document["correlations"][name]
        yield (
            title,
            r,
            [
                (
                    one["a"], one["b"], one["n"], one["pearson_r"], _ends(one), one["spearman_r"],
                    one["ceiling"],
                )
                for one in cells
            ],
        )  # fmt: skip
    yield (
        f"Area under the ADC curve to δ = {document['curves']['delta_max']:g}",
        ("", "curve", "pairs", "area"),
        [(one["judge"], one["kind"], one["pairs"], one["area"]) for one in document["curves"]["curves"]],
    )
    yield (
        "Two models",
        ("criterion", "a", "b", "pairs", "a - b", "95 %", "p", "Holm", "McNemar"),
        [
            (
                one["criterion"], one["a"], one["b"], one["pairs"], one["difference"], _ends(one), one["p"],
                one["p_holm"], one["p_mcnemar"],
            )
            for one in document["tests"]
        ],
    )  # fmt: skip
    yield (
        "Shallow predictors of being right",
        ("predictor", "", "n", "r", "95 %", "status"),
        [
            (one["predictor"], one["judge"], one["n"], one["r"], _ends(one), one["status"])
            for one in document["predictors"]
        ],
    )
    yield (
        "Prefix methods beside whole sentences",
        ("", "method", "group", "pairs", "accuracy", "95 %", "whole", "p", "Holm"),
        [
            (
                one["name"], one["method"], one["group"], one["pairs"], one["accuracy"], _ends(one),
                one["whole_accuracy"], one["p"], one["p_holm"],
            )
            for one in document["prefixes"]
        ],
    )  # fmt: skip
    yield (
        "Learning curves: gain per doubling of the training tokens",
        ("family", "group", "models", "gain", "95 %", "r", "log2 tokens to people", "status"),
        [
            (
                one["family"], one["group"], len(one["points"]), one["slope_per_doubling"], _ends(one),
                one["r"], one["log2_tokens"], one["status"],
            )
            for one in document["learning"]
        ],
    )  # fmt: skip
    yield (
        "Filtered training (points)",
        ("family", "filter", "group", "seeds", "full", "filtered", "Δ", "95 %", "PΔ full", "PΔ filtered"),
        [
            (
                one["family"], one["filter"], one["group"] + (" *" if one["targeted"] else ""),
                f"{one['seeds_full']} / {one['seeds_filtered']}", one["accuracy_full"],
                one["accuracy_filtered"], one["accuracy_delta"], _ends(one), one["probability_delta_full"],
                one["probability_delta_filtered"],
            )
            for one in document["filtered"]["deltas"]
        ],
    )  # fmt: skip
    yield (
        "Decisions about sentences",
        ("model", "labels", "n", "MCC", "accuracy", "status"),
        [
            (one["model"], one["labels"], one["n"], one["mcc"], one["accuracy"], one["status"])
            for one in document["decisions"]
        ],
    )


def _ends(one: dict[str, Any]) -> str:
    if one.get("ci_low") is None or one.get("ci_high") is None:
        return "–"
    return f"{one['ci_low']:.3f} {one['ci_high']:.3f}"
