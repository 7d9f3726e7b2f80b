"""The comparison as a table to read: every number with its chance, constant and ceiling."""

from typing import Any

from rich.table import Table

from analysis.plain_text import plain_table, plain_text

WIDTH = 120
NAMED = 5


def comparison_text(document: dict[str, Any], *, width: int = WIDTH) -> str:
    """Write a comparison as plain text.

    Parameters
    ----------
    document : dict
        From :func:`analysis.comparison.report.compare_report`.
    width : int
        Columns of the terminal.

    Returns
    -------
    str
        A table and the conventions behind it.

    See Also
    --------
    analysis.comparison.report.compare_report : The document.
    """
    return plain_text(_table(document), *_notes(document), width=width)


def paradigms_text(document: dict[str, Any], *, width: int = WIDTH) -> str:
    """Write the share of pairs right by paradigm as plain text, a column per model.

    Parameters
    ----------
    document : dict
        From :func:`analysis.comparison.report.compare_report`.
    width : int
        Columns of the terminal.

    Returns
    -------
    str
        A table; empty where the pairs name no paradigm.

    See Also
    --------
    analysis.comparison.breakdown.by_paradigm : The numbers.
    """
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
    ends = model["intervals"]
    table.add_row(
        f"{model['model']} (n = {model['pairs']})",
        _number(model["blimp"]),
        *(_number(model["adc"][delta]) for delta in deltas),
        _number(model["pearson_r"]),
        _number(model["spearman_r"]),
        _number(model["mean_abs_difference"]),
        *(_number(model["skill"][delta]) for delta in deltas if has_skill),
    )
    intervals = [ends["blimp"], *(ends["adc"][delta] for delta in deltas), ends["pearson_r"]]
    table.add_row("  95 % interval", *(_interval(one) for one in intervals))
    if ends.get("joint"):
        joint = ends["joint"]
        both = [None, *(joint["adc"][delta] for delta in deltas), joint["pearson_r"]]
        table.add_row("  other people too", *("" if one is None else _interval(one) for one in both))
    if model["slope"] is not None:
        again = [_number(model["adc_recalibrated"][delta]) for delta in deltas]
        table.add_row("  recalibrated", "", *again)
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
    again = baselines.get("constant_recalibrated")
    if again is not None and any(value is not None for value in again["adc"].values()):
        table.add_row("  recalibrated", "", *(_number(again["adc"][delta]) for delta in deltas))
    ceiling = baselines["human_ceiling"]
    if ceiling is not None:
        r = ceiling.get("correlation") or {}
        adc = [_number(ceiling["adc"][delta]) for delta in deltas]
        table.add_row("people, another sample", "", *adc, _number(r.get("sample")))
        table.add_row("  a perfect model", "", *("" for _ in deltas), _number(r.get("model")))
        table.add_row("  half the sample", "", *(_number(ceiling["adc_half"][delta]) for delta in deltas))


def _notes(document: dict[str, Any]) -> list[str]:
    used, kept = document["standardization"], document["conventions"]
    scale = "as given" if used["ddof"] is None else f"z over {used['population']}, ddof {used['ddof']}"
    notes = [
        f"Scores: models {scale}; people as given. Signs: {kept['signs']}. BLiMP: {kept['blimp']}.",
        f"ADC: {kept['adc']}. Constant: {kept['constant']}. r: Pearson, rho: Spearman, of Δlm with Δh.",
        f"Chance: {kept['chance']}. Intervals: {kept['intervals']}. Seed {kept['seed']}.",
        *([f"Other people too: {kept['joint_intervals']}."] if kept.get("joint_intervals") else []),
    ]
    lines = [
        f"{one['model']} {one['intercept']:.2f} {one['slope']:+.2f} Δlm"
        for one in document["models"]
        if one["slope"] is not None
    ]
    if lines:
        notes += [f"Recalibrated: {kept['recalibrated']}. Least squares, Δh = {'; '.join(lines)}."]
    equal = [f"{one['model']} {one['equal_scores']}" for one in document["models"] if one["equal_scores"]]
    if equal:
        notes.append(f"Pairs with equal scores: {', '.join(equal)}.")
    ceiling = document["baselines"]["human_ceiling"]
    if ceiling is not None:
        notes.append(f"People: {kept['ceiling']}. Skill: (ADC - constant) / (people - constant).")
    if ceiling is not None and (ceiling.get("correlation") or {}).get("model") is not None:
        freed = [(one["model"], one["pearson_r_disattenuated"]) for one in document["models"]]
        told = ", ".join(f"{name} {_number(value)}" for name, value in freed)
        notes.append("r of a perfect model: the most that a model which knows the truth can reach.")
        notes.append(f"r divided by it (disattenuated): {told}.")
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
    for model, gone in left_out["missing_score"].items():
        notes.append(
            f"Left out for {model}, no score of {_some(gone['sentence_ids'])}: {gone['pairs']} pairs "
            f"({_some(gone['pair_ids'])})."
        )
    return notes


def _some(names: list[str]) -> str:
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _interval(ends: list[float] | None) -> str:
    return "" if ends is None else f"{ends[0]:.2f} {ends[1]:.2f}"
