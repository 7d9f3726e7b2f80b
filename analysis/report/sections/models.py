"""Report section on language models beside participants: criteria, linking functions and surprisal."""

from collections.abc import Sequence
from typing import Any

from ...comparison.in_depth import linking, surprisal
from ...comparison.intervals import FEWEST_CLUSTERS
from ...text import plural
from ..content import Block, Figure, Paragraph, Section, Subheading, Table
from ..page_findings import comparison_finding, depth_finding, interval
from ..wording import NONE, count, decimal, format_interval, join_list, p_value, share
from .results import MAX_INLINE_ROWS, equals

MODEL_FIGURES = ("leaderboard", "linking-functions", "ratings-by-surprisal")
"""Figures of the section, in its order."""


def model_figures(numbers: dict[str, Any]) -> list[str]:
    """Return the names of the figures that the numbers of models suffice for."""
    models = numbers.get("models") or {"refused": ""}
    if "refused" in models:
        return []
    depth = models["depth"]
    applies = (
        any(row["blimp"] is not None for row in models["models"]),
        any(row["r_cross_validated"] is not None for row in depth["linking"]),
        any(row["terms"] for row in depth["surprisal"]),
    )
    return [name for name, is_drawn in zip(MODEL_FIGURES, applies, strict=True) if is_drawn]


def models_section(numbers: dict[str, Any], figures: Sequence[Figure]) -> Section | None:
    """Build the section on models; none for a study without scores."""
    models = numbers.get("models")
    if models is None:
        return None
    if "refused" in models:
        return Section("models", "Language models", [Paragraph(f"Not estimable: {models['refused']}")])
    figures_by_name = {name: [figure for figure in figures if figure.name == name] for name in MODEL_FIGURES}
    depth = models["depth"]
    blocks: list[Block] = [
        Paragraph(models_sentences(numbers)),
        _criteria(models),
        *figures_by_name["leaderboard"],
        Subheading("Linking functions"),
        Paragraph(linking_sentences(models)),
        *_linking(depth["linking"]),
        *figures_by_name["linking-functions"],
    ]
    if any(row["status"] != "no_ratings" for row in depth["surprisal"]):
        blocks += [
            Subheading("Ratings by surprisal"),
            Paragraph(surprisal_sentences(models)),
            *_surprisal(depth["surprisal"]),
            *figures_by_name["ratings-by-surprisal"],
        ]
    return Section("models", "Language models", blocks)


def _criteria(models: dict[str, Any]) -> Table:
    deltas = list(models["models"][0]["adc"])
    delta = min(deltas, key=float)
    rows = [
        (
            row["model"],
            count(row["pairs"]),
            share(row["blimp"]),
            _ends(row["intervals"]["blimp"], percent=True),
            decimal(row["adc"][delta]),
            _ends(row["intervals"]["adc"][delta]),
            decimal(row["pearson_r"], 2),
            _ends(row["intervals"]["pearson_r"]),
        )
        for row in models["models"]
    ]
    constant, ceiling = models["baselines"]["constant"], models["baselines"]["human_ceiling"]
    if constant["adc"][delta] is not None:
        adc = decimal(constant["adc"][delta])
        rows.append(("Constant difference", NONE, NONE, NONE, adc, NONE, NONE, NONE))
    if ceiling is not None:
        ends, r = ceiling["intervals"], (ceiling["correlation"] or {}).get("sample")
        adc, adc_ends = decimal(ceiling["adc"].get(delta)), _ends(ends["adc"].get(delta))
        sample = ("Another sample of participants", NONE, NONE, NONE)
        rows.append((*sample, adc, adc_ends, decimal(r, 2), _ends(ends["sample"])))
    return Table(
        "Models beside participants",
        ("", "Pairs", "Accuracy", "95 % CI", f"ADC, δ = {delta}", "95 % CI", "r", "95 % CI"),
        rows,
        note="Accuracy: share of pairs in which the expected member has the higher score. ADC: share of "
        "pairs whose difference has participants' sign and is within δ of theirs (in standard deviations). "
        f"r: of differences with participants'. Intervals: {models['conventions']['intervals']}. Constant "
        "difference: participants' median difference for every pair.",
    )


def _linking(rows: Sequence[dict[str, Any]]) -> list[Block]:
    visible = [row for row in rows if row["r_cross_validated"] is not None]
    if not visible:
        return []
    models = list(dict.fromkeys(row["model"] for row in visible))
    if (
        len(visible) > MAX_INLINE_ROWS
    ):  # the measure that fits nothing and the one that fits all, of each model
        visible = [row for row in visible if row["function"] in ("slor", linking.FITTED)]
    table = Table(
        "Human scores by functions of models' log probabilities",
        ("Function", "Sentences", "Items", "r, other items", "95 % CI", "Above SLOR", "β", "γ"),
        [
            (
                linking.NAMES[row["function"]] + (f", {row['model']}" if len(models) > 1 else ""),
                count(row["n"]),
                count(row["items"]),
                decimal(row["r_cross_validated"], 2),
                format_interval(row["ci_low"], row["ci_high"]),
                _with_ends(row, "gain"),
                _with_ends(row, "beta"),
                _with_ends(row, "gamma"),
            )
            for row in visible
        ],
        note="r: of the scores of each item with the function fitted to the other items; brackets: 95 % "
        "intervals over clusters of pairs (jackknife; Fieller's for β and γ).",
    )
    return [table]


def _surprisal(rows: Sequence[dict[str, Any]]) -> list[Block]:
    fitted = [row for row in rows if row["terms"]]
    if not fitted:
        return []
    visible = [(row, term) for row in fitted for term in row["terms"] if term["term"] != "intercept"]
    if len(visible) > MAX_INLINE_ROWS:
        visible = [(row, term) for row, term in visible if term["term"] == "surprisal"]
    table = Table(
        "Ratings by surprisal",
        ("Predictor", "1 SD", "Change in z", "95 % CI", "df", "t", "p", "Ratings"),
        [
            (
                term["term"] + (f", {row['model']}" if len(fitted) > 1 else ""),
                decimal(row["sd"].get(term["term"]), 2),
                decimal(term["estimate"]),
                format_interval(term["ci_low"], term["ci_high"]),
                decimal(term["df"], 1),
                decimal(term["statistic"], 2),
                p_value(term["p"]),
                count(row["n"]),
            )
            for row, term in visible
        ],
        note="; ".join(f"{term}: {meaning}" for term, meaning in surprisal.TERMS.items())
        + ". Random effects: "
        + "; ".join(dict.fromkeys(row["structure"] for row in fitted))
        + ". p is not corrected for the number of models.",
    )
    return [table]


def _with_ends(row: dict[str, Any], name: str) -> str:
    ends = format_interval(row.get(f"{name}_low"), row.get(f"{name}_high"))
    return decimal(row[name], 2) if ends == NONE else f"{decimal(row[name], 2)} {ends}"


def _ends(ends: Sequence[float] | None, *, percent: bool = False) -> str:
    low, high = ends or (None, None)
    return format_interval(low, high, percent=percent)


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
            f"{interval(low, high, digits=1)}, p {equals(row['p'])}".replace("-", "−")
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
