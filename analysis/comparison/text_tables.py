"""Comparisons as plain-text tables for the terminal."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table

from ..text import cell, plain_table, plain_text

WIDTH = 120  # characters
NAMED = 5  # ids listed before "and n more"


def comparison_text(document: dict[str, Any], *, width: int = WIDTH) -> str:
    """Format a comparison as plain text."""
    return plain_text(_table(document), *_notes(document), width=width)


def inverted_text(name: str) -> str:
    """Warn of a column in which nearly all good members have the lower score."""
    return (
        f"warning: {name} is lower for nearly all good members. "
        f"If a lower value means a better sentence, give --sign {name}=lower."
    )


def media_text(columns: Sequence[str]) -> str:
    """Warn of columns that name files of sound or picture.

    Examples
    --------
    >>> media_text(["audio"])
    'warning: audio names files. Models read the text; participants may have heard or seen more.'
    """
    verb = "name" if len(columns) > 1 else "names"
    return (
        f"warning: {', '.join(columns)} {verb} files. Models read the text; participants may have heard or "
        "seen more."
    )


#: Whether participants saw the contexts of sentences → what a comparison says of models that read them.
CONTEXTS_READ = {
    "above": "",
    "before": "",
    "above or before": "",
    "some": "a context before each sentence that participants of some versions of the study were not shown",
    "hidden": "a context before each sentence that participants were not shown",
    "unknown": "a context before each sentence; whether participants saw it is not recorded",
}


def context_text(readers: Sequence[str], others: Sequence[str], *, shown: str) -> str:
    """Describe which models read the contexts of sentences and whether participants saw them.

    Parameters
    ----------
    readers, others : sequence of str
        Models that read the contexts, and models that read the sentences alone.
    shown : {"above", "before", "above or before", "some", "hidden", "unknown"}
        Whether participants saw them.

    Examples
    --------
    >>> context_text(["gpt2"], [], shown="hidden")
    'gpt2 read a context before each sentence that participants were not shown.'
    >>> context_text(["gpt2"], ["5-gram"], shown="above")
    '5-gram scored the sentences without the contexts that participants saw.'
    """
    read = f"{', '.join(readers)} read {CONTEXTS_READ[shown]}." if readers and CONTEXTS_READ[shown] else ""
    who = "" if shown in {"hidden", "unknown"} else "participants"
    if shown == "some":
        who = "participants of some versions of the study"
    alone = f"{', '.join(others)} scored the sentences without the contexts that {who} saw."
    return " ".join(filter(None, [read, alone if others and who else ""]))


def paradigms_text(document: dict[str, Any], *, width: int = WIDTH) -> str:
    """Format the share of correct pairs by paradigm as plain text, one column per model."""
    columns = [{row["paradigm"]: row for row in model["by_paradigm"]} for model in document["models"]]
    names = sorted({name for column in columns for name in column if name})
    if not names:
        return ""
    table = plain_table()
    table.add_column("", overflow="fold")
    table.add_column("n", justify="right")
    for model in document["models"]:
        table.add_column(model["model"], justify="right", overflow="fold")
    for name in names:
        rows = [column.get(name) for column in columns]
        n = max(row["pairs"] for row in rows if row is not None)
        table.add_row(name, str(n), *("–" if row is None else _number(row["blimp"]) for row in rows))
    return plain_text("\nBLiMP criterion by paradigm", table, width=width)


def _table(document: dict[str, Any]) -> Table:
    deltas = list(document["baselines"]["constant"]["adc"])
    table = plain_table(_title(document))
    table.add_column("", min_width=22, overflow="fold")
    for name in ("BLiMP", *(f"ADC {delta}" for delta in deltas), "r", "rho", "|Δh-Δlm|"):
        table.add_column(name, justify="right", no_wrap=True)
    has_skill = document["baselines"]["human_ceiling"] is not None
    for delta in deltas if has_skill else []:
        table.add_column(f"skill {delta}", justify="right", no_wrap=True)
    for model in document["models"]:
        _model_rows(table, model, deltas, has_skill=has_skill)
    _baseline_rows(table, document["baselines"], deltas, has_skill=has_skill)
    return table


def _title(document: dict[str, Any]) -> str:
    return f"{document['pairs']} pairs, {document['labeled_pairs']} with human scores of both members"


def _model_rows(table: Table, model: dict[str, Any], deltas: list[str], *, has_skill: bool) -> None:
    pairwise = model["intervals"]
    table.add_row(
        f"{model['model']} (n = {model['pairs']})",
        _number(model["blimp"]),
        *(_number(model["adc"][delta]) for delta in deltas),
        _number(model["pearson_r"]),
        _number(model["spearman_r"]),
        _number(model["mean_abs_difference"]),
        *(_number(model["skill"][delta]) for delta in deltas if has_skill),
    )
    intervals = [pairwise["blimp"], *(pairwise["adc"][delta] for delta in deltas), pairwise["pearson_r"]]
    table.add_row("  95 % interval", *(_interval(interval) for interval in intervals))
    if pairwise.get("joint"):
        joint = pairwise["joint"]
        joint_intervals = [None, *(joint["adc"][delta] for delta in deltas), joint["pearson_r"]]
        skills = [joint["skill"][delta] for delta in deltas if has_skill]
        ends = [_interval(interval) for interval in joint_intervals]
        table.add_row("  pairs and participants", *ends, "", "", *(_interval(skill) for skill in skills))
    if model["slope"] is not None:
        recalibrated = [_number(model["adc_recalibrated"][delta]) for delta in deltas]
        table.add_row("  recalibrated", "", *recalibrated)
    table.add_row(
        "  chance",
        _number(model["chance_blimp"]),
        *(_number(model["chance"][delta]) for delta in deltas),
        end_section=True,
    )


def _baseline_rows(table: Table, baselines: dict[str, Any], deltas: list[str], *, has_skill: bool) -> None:
    for constant in [baselines["constant"], *baselines["constants"]]:
        name = "constant" if constant["value"] is None else f"constant Δ = {constant['value']:.4g}"
        numbers = [_number(constant["blimp"]), *(_number(constant["adc"][delta]) for delta in deltas)]
        skills = deltas if has_skill and constant is baselines["constant"] else []
        table.add_row(name, *numbers, "", "", "", *("0.000" for _ in skills))
    recalibrated = baselines.get("constant_recalibrated")
    if recalibrated is not None and any(value is not None for value in recalibrated["adc"].values()):
        table.add_row("  recalibrated", "", *(_number(recalibrated["adc"][delta]) for delta in deltas))
    ceiling = baselines["human_ceiling"]
    if ceiling is not None:
        r = ceiling.get("correlation") or {}
        adc = [_number(ceiling["adc"][delta]) for delta in deltas]
        table.add_row("people, another sample", "", *adc, _number(r.get("sample")))
        ends = ceiling["intervals"]
        shares = (_interval(ends["adc"][delta]) for delta in deltas)
        table.add_row("  95 % interval", "", *shares, _interval(ends["sample"]))
        table.add_row("  a perfect model", "", *("" for _ in deltas), _number(r.get("model")))
        table.add_row("  95 % interval", "", *("" for _ in deltas), _interval(ends["model"]))
        table.add_row("  half the sample", "", *(_number(ceiling["adc_half"][delta]) for delta in deltas))


def _notes(document: dict[str, Any]) -> list[str]:
    conventions, population = document["conventions"], document["standardization"]["population"]
    ddof = document["standardization"]["ddof"]
    scale = "as given" if ddof is None else f"z over {population}, ddof {ddof}"
    notes = [
        f"Scores: models {scale}; people as given. Signs: {conventions['signs']}. "
        f"BLiMP: {conventions['blimp']}.",
        f"ADC: {conventions['adc']}. Constant: {conventions['constant']}. "
        "r: Pearson, rho: Spearman, of Δlm with Δh.",
        f"Chance: {conventions['chance']}. Intervals: {conventions['intervals']}. "
        f"Seed {conventions['seed']}.",
    ]
    if conventions.get("joint_intervals"):
        notes.append(f"Over pairs and participants: {conventions['joint_intervals']}.")
    lines = [
        f"{row['model']} {row['intercept']:.2f} {row['slope']:+.2f} Δlm"
        for row in document["models"]
        if row["slope"] is not None
    ]
    if lines:
        notes += [f"Recalibrated: {conventions['recalibrated']}. Least squares, Δh = {'; '.join(lines)}."]
    equal = [f"{row['model']} {row['equal_scores']}" for row in document["models"] if row["equal_scores"]]
    if equal:
        notes.append(f"Pairs with equal scores: {', '.join(equal)}.")
    ceiling = document["baselines"]["human_ceiling"]
    if ceiling is not None:
        notes.append(f"People: {conventions['ceiling']}. Skill: (ADC - constant) / (people - constant).")
    if ceiling is not None and (ceiling.get("correlation") or {}).get("model") is not None:
        disattenuated = ", ".join(
            f"{row['model']} {_number(row['pearson_r_disattenuated'])}"
            f"{_in_brackets(row['intervals']['joint']['pearson_r_disattenuated'])}"
            for row in document["models"]
        )
        notes.append("r of a perfect model: the highest expected r of a model that predicts the true values.")
        notes.append(f"r divided by it (disattenuated): {disattenuated}.")
    if not document["labeled_pairs"]:
        return [
            *notes,
            "No human scores: the BLiMP criterion alone.",
            *_left_out(document["left_out"], document["pairs"]),
        ]
    if ceiling is None:
        notes.append("No human ceiling, hence no skill: give the judgments by participant with --judgments.")
    return notes + _left_out(document["left_out"], document["pairs"])


def _left_out(left_out: dict[str, Any], n_pairs: int) -> list[str]:
    notes = []
    if 0 < left_out["unlabeled"]["pairs"] < n_pairs:
        notes.append(
            f"Left out, no human score: {left_out['unlabeled']['pairs']} pairs "
            f"({_some(left_out['unlabeled']['pair_ids'])})."
        )
    for model, missing in left_out["missing_score"].items():
        notes.append(
            f"Left out for {model}, no score of {_some(missing['sentence_ids'])}: {missing['pairs']} pairs "
            f"({_some(missing['pair_ids'])})."
        )
    return notes


def _some(names: list[str]) -> str:
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _in_brackets(ends: list[float] | None) -> str:
    return "" if ends is None else f" [{ends[0]:.2f}, {ends[1]:.2f}]"


def _interval(ends: list[float] | None) -> str:
    return "" if ends is None else f"{ends[0]:.2f} {ends[1]:.2f}"


def depth_text(document: dict[str, Any], *, width: int = WIDTH) -> str:
    """Format an in-depth comparison as plain text."""
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
                    row["a"], row["b"], row["n"], row["pearson_r"], _bounds(row), row["spearman_r"],
                    row["ceiling"],
                )
                for row in cells
            ],
        )  # fmt: skip
    yield (
        f"Area under the ADC curve to δ = {document['curves']['delta_max']:g}",
        ("", "curve", "pairs", "area"),
        [(row["judge"], row["kind"], row["pairs"], row["area"]) for row in document["curves"]["curves"]],
    )
    yield (
        "Two models",
        ("criterion", "a", "b", "pairs", "a - b", "95 %", "p", "least p", "Holm", "McNemar"),
        [
            (
                row["criterion"], row["a"], row["b"], row["pairs"], row["difference"], _bounds(row), row["p"],
                row["p_least"], row["p_holm"], row["p_mcnemar"],
            )
            for row in document["tests"]
        ],
    )  # fmt: skip
    yield (
        "Linking functions (r of human scores, predicted from other items)",
        ("model", "function", "n", "r fitted", "r", "95 %", "β", "95 %", "γ", "95 %", "status"),
        [
            (
                row["model"], row["function"], row["n"], row["r"], row["r_cross_validated"], _bounds(row),
                row["beta"], _bounds(row, "beta_low", "beta_high"), row["gamma"],
                _bounds(row, "gamma_low", "gamma_high"), row["status"],
            )
            for row in document["linking"]
        ],
    )  # fmt: skip
    yield (
        "Ratings by surprisal (z for one SD of each predictor)",
        ("model", "ratings", "term", "estimate", "95 %", "p", "Holm", "status"),
        [
            (
                row["model"], row["n"], term.get("term", ""), term.get("estimate"), _bounds(term),
                term.get("p"), row["p_holm"] if term.get("term") == "surprisal" else None, row["status"],
            )
            for row in document["surprisal"]
            for term in row["terms"][1:] or [{}]
        ],
    )  # fmt: skip
    abilities = document["abilities"]
    yield (
        f"Test takers (Rasch: {abilities['participants']} participants, {abilities['pairs']} pairs)",
        ("model", "pairs", "right", "ability", "95 %", "participants below"),
        [
            (row["model"], row["n"], row["right"], row["ability"], _bounds(row), row["above"])
            for row in abilities["models"]
        ],
    )
    yield (
        "Shallow predictors of being right",
        ("predictor", "", "n", "r", "95 %", "status"),
        [
            (row["predictor"], row["judge"], row["n"], row["r"], _bounds(row), row["status"])
            for row in document["predictors"]
        ],
    )
    yield (
        "Prefix methods beside whole sentences",
        ("", "method", "group", "pairs", "accuracy", "95 %", "whole", "p", "Holm"),
        [
            (
                row["name"], row["method"], row["group"], row["pairs"], row["accuracy"], _bounds(row),
                row["whole_accuracy"], row["p"], row["p_holm"],
            )
            for row in document["prefixes"]
        ],
    )  # fmt: skip
    yield (
        "Learning curves: gain per doubling of the training tokens",
        ("family", "group", "models", "gain", "95 %", "r", "log2 tokens to people", "status"),
        [
            (
                row["family"], row["group"], len(row["points"]), row["slope_per_doubling"], _bounds(row),
                row["r"], row["log2_tokens"], row["status"],
            )
            for row in document["learning"]
        ],
    )  # fmt: skip
    yield (
        "Filtered training (points)",
        ("family", "filter", "group", "seeds", "full", "filtered", "Δ", "95 %", "PΔ full", "PΔ filtered"),
        [
            (
                row["family"], row["filter"], row["group"] + (" *" if row["targeted"] else ""),
                f"{row['seeds_full']} / {row['seeds_filtered']}", row["accuracy_full"],
                row["accuracy_filtered"], row["accuracy_delta"], _bounds(row), row["probability_delta_full"],
                row["probability_delta_filtered"],
            )
            for row in document["filtered"]["deltas"]
        ],
    )  # fmt: skip
    yield (
        "Decisions about sentences",
        ("model", "labels", "n", "MCC", "accuracy", "status"),
        [
            (row["model"], row["labels"], row["n"], row["mcc"], row["accuracy"], row["status"])
            for row in document["decisions"]
        ],
    )


def _bounds(row: dict[str, Any], low: str = "ci_low", high: str = "ci_high") -> str:
    if row.get(low) is None or row.get(high) is None:
        return "–"
    return f"{row[low]:.3f} {row[high]:.3f}"
