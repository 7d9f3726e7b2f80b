"""Sentences on language models beside participants, with their intervals, written for reuse in a paper."""

from collections.abc import Sequence
from typing import Any

from ..comparison.in_depth import linking, surprisal
from ..comparison.intervals import FEWEST_CLUSTERS
from ..text import plural
from .page_findings import comparison_finding, depth_finding, interval
from .wording import join_list, p_value, share

MAX_LISTED = 6
"""Largest number of models that are reported individually."""


def models_sentences(numbers: dict[str, Any]) -> str:
    """Report the accuracy of each model, the one that follows participants best, and how models differ."""
    models = numbers.get("models") or {"refused": ""}
    if "refused" in models:
        return ""
    rows = [row for row in models["models"] if row["blimp"] is not None]
    if not rows:
        return "No pair has scores of a model for both of its members."
    n_clusters = models["conventions"]["clusters"]
    text = f"{_accuracies(rows)}, over {_pairs(rows)} in {plural(n_clusters, 'cluster')} ({_basis(models)})"
    if n_clusters < FEWEST_CLUSTERS:
        text += f"; below {FEWEST_CLUSTERS} clusters there are no intervals"
    compared = comparison_finding(models) if any(row["pearson_r"] is not None for row in rows) else ""
    return " ".join(filter(None, [f"{text}.", _differences(models), compared]))


def _accuracies(rows: list[dict[str, Any]]) -> str:
    """List the accuracy of each model with its interval; of many models the lowest and the highest."""
    ordered = sorted(rows, key=lambda row: -row["blimp"])
    if len(ordered) > MAX_LISTED:
        low, high = (f"{share(row['blimp'])} ({row['model']})" for row in (ordered[-1], ordered[0]))
        return f"{len(ordered)} models gave the expected member the higher score in {low} to {high} of pairs"
    listed = [
        f"{row['model']} in {share(row['blimp'])}"
        f"{interval(*(row['intervals']['blimp'] or (None, None)), percent=True)}"
        for row in ordered
    ]
    return f"The expected member of a pair had the higher score by {join_list(listed)} of pairs"


def _basis(models: dict[str, Any]) -> str:
    """Return what the clusters of pairs are, from the conventions of intervals."""
    return str(models["conventions"]["intervals"]).partition("clusters by ")[2].partition(":")[0]


def _pairs(rows: list[dict[str, Any]]) -> str:
    numbers = sorted({row["pairs"] for row in rows})
    if len(numbers) == 1:
        return plural(numbers[0], "pair")
    return f"{numbers[0]:,} to {plural(numbers[-1], 'pair')}"


def _differences(models: dict[str, Any]) -> str:
    """Report the difference of accuracy of two models, or how many differences are significant."""
    rows = models["differences_blimp"]
    tested = [row for row in rows if row["p_holm"] is not None]
    if not tested:
        return ""
    least = min((row["p_least"] for row in tested if row["p_least"] is not None), default=None)
    if len(rows) == 1:
        [row] = rows
        low, high = (None if end is None else 100 * end for end in (row["ci_low"], row["ci_high"]))
        text = (
            f"The accuracy of {row['a']} less that of {row['b']} was {100 * row['difference']:.1f} points"
            f"{interval(low, high, digits=1)}, p {_p(row['p'])}".replace("-", "−")
        )
    else:
        n = sum(row["p_holm"] < 0.05 for row in tested)
        text = (
            f"{n} of {plural(len(rows), 'difference')} of accuracy between two models "
            f"{'is' if n == 1 else 'are'} significant after Holm's correction"
        )
    is_open = least is not None and least > 0.05
    cannot = f" (so few clusters differ that no p below {p_value(least)} is possible)" if is_open else ""
    return f"{text}, models exchanged in whole clusters{cannot}."


def linking_sentences(models: dict[str, Any]) -> str:
    """Report which function predicts human scores best, and why functions are absent."""
    rows = models["depth"]["linking"]
    finding = depth_finding("linking", models["depth"], models)
    return " ".join(filter(None, [finding, *_reasons(rows, linking.REASONS, names=linking.NAMES)]))


def surprisal_sentences(models: dict[str, Any]) -> str:
    """Report how ratings change with surprisal, and what is not known."""
    rows = models["depth"]["surprisal"]
    finding = depth_finding("surprisal", models["depth"], models)
    lacking = dict.fromkeys(name for row in rows if row["terms"] for name in row["left_out"])
    notes = [surprisal.LACKING[name] for name in lacking if name in surprisal.LACKING]
    collinear = [row["model"] for row in rows if row["vif"] is not None and row["vif"] > surprisal.COLLINEAR]
    if collinear:
        notes.append(
            f"For {join_list(collinear)} surprisal follows from the covariates so closely (variance "
            f"inflation above {surprisal.COLLINEAR:g}) that their effects can hardly be told apart."
        )
    return " ".join(filter(None, [finding, *notes, *_reasons(rows, surprisal.REASONS)]))


MAX_FUNCTIONS = 2
"""Largest number of functions of a model that a reason names; of more it names the model."""


def _reasons(
    rows: Sequence[dict[str, Any]], reasons: dict[str, str], *, names: dict[str, str] | None = None
) -> list[str]:
    """Write the sentence of each status, with the models or their functions that it is about."""
    texts = []
    for status in dict.fromkeys(row["status"] for row in rows if row["status"] in reasons):
        of_status = [row for row in rows if row["status"] == status]
        models = list(dict.fromkeys(row["model"] for row in of_status))
        if names and len(of_status) <= MAX_FUNCTIONS:
            about = join_list([f"{names[row['function']]} of {row['model']}" for row in of_status])
        else:
            about = join_list(models)
        is_everything = len(of_status) == len(rows)
        texts.append(
            reasons[status] if is_everything else f"{about[0].upper()}{about[1:]}: {reasons[status]}"
        )
    return texts


def _p(number: float | None) -> str:
    written = p_value(number)
    return written if written.startswith("<") else f"= {written}"
