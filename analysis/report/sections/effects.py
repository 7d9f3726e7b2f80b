"""Report sections on contrasts: the five analyses, interactions and power of a replication."""

from collections.abc import Sequence
from typing import Any

from ...choices import CORRECTION_NAMES
from ...mixed_models.structures import INTERCEPTS
from ...rows import RATING_TASKS
from ...text import plural
from ..content import Block, Figure, Paragraph, Section, Table
from ..findings import (
    effects_sentence,
    equivalence_sentence,
    interaction_sentence,
    method_counts,
    sesoi_bounds,
    structures_in_words,
)
from ..page_findings import left_out_sentence, unknown_power_sentence
from ..wording import (
    NONE,
    RATING_UNITS,
    SENTENCES,
    bayes,
    count,
    decimal,
    format_interval,
    p_value,
    readable,
    share,
)
from .results import MAX_INLINE_ROWS

ANALYSES = {
    "direction": "Direction of the difference",
    "two_tailed": "Two-tailed test",
    "one_tailed": "One-tailed test",
    "bayes_factor": "Bayes factor",
    "mixed_model": "Mixed model",
}
MAX_METHODS = 3
"""Largest number of methods of one analysis that a note lists."""
NO_INTERACTION_POWER = (
    "a replication is planned for contrasts of acceptable and unacceptable sentences, and there is none. The "
    "power of an interaction of a planned 2×2 design is on the page Power."
)
OUTCOMES = {"converges": "✓", "reversed": "reversed", "null": "null", "not_estimable": NONE}


def effects_section(numbers: dict[str, Any], figures: Sequence[Figure]) -> tuple[Section, list[Block]]:
    """Build the section on the five analyses and the blocks moved to the appendix."""
    effects = numbers["effects"]
    title = "Contrasts: five analyses"
    factorial = [*_interactions(numbers), *_within(effects)]
    if not effects.get("analyses"):
        has_scores = bool(factorial) or not left_out_sentence(effects)
        why = effects.get("refused") or (
            "no contrast of acceptable and unacceptable sentences was judged."
            if has_scores
            else left_out_sentence(effects)
        )
        return Section("effects", title, [Paragraph(f"Not estimable: {why}"), *factorial]), []
    table = _contrasts(effects, numbers)
    rates = Table(
        "Contrasts supported by each analysis",
        ("Analysis", "Converge", "Reversed", "Null", "Not estimable", "Rate", "95 % CI"),
        [
            (
                ANALYSES[row["analysis"]],
                count(row["converges"]),
                count(row["reversed"]),
                count(row["null"]),
                count(row["not_estimable"]),
                share(row["rate"]),
                format_interval(row["ci_low"], row["ci_high"], percent=True),
            )
            for row in effects["rates"]
        ],
        note=f"Criterion: {effects['conventions']['criterion']}. "
        "Rate: share of the estimable contrasts that converge; Wilson interval, as if they were a random "
        "sample of independent contrasts.",
    )
    sentences = [effects_sentence(numbers), left_out_sentence(effects)]
    blocks: list[Block] = [Paragraph(text) for text in sentences if text]
    has_rates = len(effects["effects"]) > 1
    blocks += [rates] if has_rates else []
    selected: list[Block] = [figure for figure in figures if figure.name in ("five-analyses", "effect-sizes")]
    blocks += selected if len(table.rows) <= MAX_INLINE_ROWS else []
    blocks += factorial
    equivalence = _equivalence(effects)
    sentence: list[Block] = [Paragraph(equivalence_sentence(effects))] if equivalence else []
    if len(table.rows) <= MAX_INLINE_ROWS:
        return Section("effects", title, [*blocks, table, *sentence, *equivalence]), []
    blocks.append(Paragraph(f"All {len(table.rows)} contrasts are listed in the appendix."))
    return Section("effects", title, [*blocks, *sentence]), [*selected, table, *equivalence]


def times_section(numbers: dict[str, Any], figures: Sequence[Figure]) -> Section | None:
    """Build the section on response times; none where no target has one."""
    times = numbers["times"]
    if not times.get("timed"):
        return None
    dropped = times["dropped"]
    is_choice = numbers["task"] == "forced_choice"
    conditions = Table(
        f"Response times by {'the sentence chosen' if is_choice else 'condition'}, in milliseconds",
        (
            "Chosen" if is_choice else "Condition",
            "Trials",
            "Geometric mean",
            "95 % CI",
            "Shift",
            "Lognormal mean",
            "Median",
        ),
        [
            (
                readable(row["condition"]) or "all",
                count(row["n"]),
                count(row["geometric_mean"]),
                f"[{count(row['ci_low'])}, {count(row['ci_high'])}]" if row["ci_low"] is not None else NONE,
                decimal(row["shift"], 0) if row["lognormal_status"] == "ok" else NONE,
                count(row["lognormal_mean"]),
                count(row["median"]),
            )
            for row in times["conditions"]
        ],
        note=f"Geometric mean: {times['conventions']['geometric_mean']}. Shift and mean of the lognormal: "
        f"{times['conventions']['lognormal']}; {NONE}: no shift.",
    )
    ratios = Table(
        "Ratios of response times",
        ("Contrast", "Ratio", "95 % CI", "p", "p (items)", "Mixed model", "95 % CI", "p (mixed)"),
        [
            (
                readable(row[times["by"]]) or f"{readable(row['slow'])} / {readable(row['fast'])}",
                decimal(row["ratio"], 3),
                format_interval(row["ci_low"], row["ci_high"]),
                p_value(row["p"]),
                p_value(row["items"]["p"]),
                decimal(row["mixed"]["ratio"], 3),
                format_interval(row["mixed"]["ci_low"], row["mixed"]["ci_high"]),
                p_value(row["mixed"]["p"])
                if row["mixed"]["p"] is not None
                else readable(row["mixed"]["status"]),
            )
            for row in times["contrasts"]
        ],
        note="Unacceptable over acceptable where sentences have an expected status. "
        f"Ratio: {times['conventions']['ratio']}. Mixed model: {times['conventions']['mixed']}.",
    )
    text = (
        f"Outliers: {times['rule']}; {count(dropped['n'])} of {plural(times['timed'], 'response time')} "
        f"of {plural(len(dropped['participants']), 'participant')} left out."
        if dropped["n"]
        else f"None of {plural(times['timed'], 'response time')} was left out (outliers: {times['rule']})."
    )
    selected = [figure for figure in figures if figure.name == "condition-times"]
    last: list[Block] = [ratios] if ratios.rows else [Paragraph(times["reason"])]
    return Section("times", "Response times", [Paragraph(text), conditions, *selected, *last])


def power_section(numbers: dict[str, Any], figures: Sequence[Figure]) -> Section:
    """Build the section on the sample size of a replication; post hoc power is never reported."""
    power = numbers["power"]
    title = "Power of a replication"
    if "refused" in power:
        has_interaction = bool(numbers["effects"].get("interactions")) and not numbers["effects"]["analyses"]
        why = NO_INTERACTION_POWER if has_interaction else power["refused"]
        return Section("power", title, [Paragraph(f"Not estimable: {why}")])
    enough = next((row["n"] for row in power["sizes"] if row["share_powered"] >= 0.8), None)
    text = (
        f"With {plural(enough, 'participant')}, at least four in five contrasts would reach a power of .8"
        if enough
        else f"No sample size up to {power['sizes'][-1]['n']} participants would give four in five contrasts "
        "a power of at least .8"
    )
    half = next((row for row in power["sizes"] if enough and 2 * row["n"] == enough), None)
    text += f"; with {half['n']}, {share(half['share_powered'])} would" if half else ""
    if power["variation"]:
        items, people = (power["variation"][name] for name in ("item_effect", "participant_effect"))
        text += (
            f"; the effect varies with an SD of {decimal(items, 2)} between items and {decimal(people, 2)} "
            "between participants"
        )
    notes = [power["few_note"], unknown_power_sentence(power)]
    few = "".join(f" {note}" for note in notes if note)
    has_ends = "share_sure" in power["sizes"][0]
    lower_end = f"Lower end: {power['conventions']['share_sure']}. " if has_ends else ""
    table = Table(
        "Share of contrasts with a power of at least .8",
        ("Participants", "Contrasts", "Powered", *(["Powered at the lower end"] if has_ends else [])),
        [
            (
                count(row["n"]),
                count(row["phenomena"]),
                share(row["share_powered"]),
                *([share(row["share_sure"])] if has_ends else []),
            )
            for row in power["sizes"]
        ],
        note=f"Test: {power['test']}; {power['conventions']['criterion']}. Participants: numbers of "
        f"{power['conventions']['participants']}. {lower_end}Post hoc power, computed from the result of the "
        "study itself, only restates the p value and is not reported (Hoenig & Heisey 2001); the confidence "
        "intervals show the precision of the study.",
    )
    selected = [figure for figure in figures if figure.name == "power-share"]
    return Section("power", title, [Paragraph(f"{text}.{few}"), table, *selected])


def _contrasts(effects: dict[str, Any], numbers: dict[str, Any]) -> Table:
    by, corrected = effects["by"], f"p_{effects['correction']}"
    rows_of: dict[str, dict[str, dict[str, Any]]] = {}
    for row in effects["analyses"]:
        rows_of.setdefault(row[by], {})[row["analysis"]] = row
    is_choice = numbers["task"] == "forced_choice"
    rows = [
        _contrast(
            effect,
            rows_of[effect[by]],
            by=by,
            is_choice=is_choice,
            corrected=corrected,
            has_structures=_has_structures(effects),
        )
        for effect in effects["effects"]
    ]
    measure = "Share" if is_choice else "Difference"
    p_corrected = f"p ({CORRECTION_NAMES[effects['correction']]})"
    head = (
        *("Contrast", "n", measure, "95 % CI", "d_z", "p", p_corrected, "BF₁₀", "p (mixed)"),
        *(["Random effects"] if _has_structures(effects) else []),
        "Holds in",
    )
    unit = RATING_UNITS[effects["transform"]] if numbers["task"] in RATING_TASKS else "share of yes"
    text = (
        "Share: of choices of the expected member"
        if is_choice
        else f"Difference: acceptable minus unacceptable ({unit})"
    )
    note = (
        f"n: participants × items. {text}. "
        f"p: over these items only; two-tailed, {_methods(effects, 'two_tailed')}. "
        f"BF₁₀: {_methods(effects, 'bayes_factor')}. "
        f"Mixed: over participants and items, {_methods(effects, 'mixed_model')}. "
        f"d_z: {effects['conventions']['d_z']}. "
        "Holds in: number of the five analyses whose criterion is met in the expected direction; the mixed "
        "model is the only one of them that is about other participants and items."
    )
    return Table(f"The five analyses by {by}", head, rows, note=note)


def _contrast(
    effect: dict[str, Any],
    rows: dict[str, dict[str, Any]],
    *,
    by: str,
    is_choice: bool,
    corrected: str,
    has_structures: bool,
) -> tuple[str, ...]:
    if is_choice:
        size = share(effect.get("share"))
        interval = format_interval(effect.get("share_low"), effect.get("share_high"), percent=True)
    else:
        size = decimal(effect["mean_difference"], 2)
        interval = format_interval(effect["ci_low"], effect["ci_high"])
    mixed = rows["mixed_model"]
    holds = sum(row["outcome"] == "converges" for row in rows.values())
    return (
        readable(effect[by]) or "all",
        f"{effect['n_participants']} × {effect['n_items']}",
        size,
        interval,
        decimal(effect.get("d_z"), 2),
        p_value(rows["two_tailed"]["p"]),
        p_value(rows["two_tailed"][corrected]),
        bayes(rows["bayes_factor"]["statistic"]),
        p_value(mixed["p"]) if mixed["p"] is not None else readable(mixed["status"]),
        *([_random_effects(mixed)] if has_structures else []),
        f"{holds}/5",
    )


def _equivalence(effects: dict[str, Any]) -> list[Block]:
    """Build the table of the tests of equivalence; none without a smallest effect of interest."""
    by, tests = effects["by"], effects["equivalence"]
    if not tests:
        return []
    corrected = f"p_{effects['correction']}"
    p_corrected = f"p ({CORRECTION_NAMES[effects['correction']]})"
    rows = [
        (
            readable(row[by]) or "all",
            count(row["n"]),
            decimal(row["estimate"], 2),
            format_interval(row["ci_low"], row["ci_high"]),
            p_value(row["p"]),
            p_value(row[corrected]),
            p_value(row["p_difference"]),
            readable(row["verdict"]),
        )
        for row in tests
    ]
    head = ("Contrast", "n", "Estimate", "90 % CI", "p (TOST)", p_corrected, "p (difference)", "Verdict")
    methods = " or ".join(dict.fromkeys(row["method"] for row in tests))
    note = (
        f"Equivalent: {sesoi_bounds(effects)}. {methods}; n: its units. p (TOST): the larger of both "
        "one-sided tests. Different: two-tailed p < .05; both: different from zero and yet equivalent; "
        "undecided: neither. Verdicts go by uncorrected p."
    )
    return [Table("Tests of equivalence", head, rows, frozenset({7}), note=note)]


def _within(effects: dict[str, Any]) -> list[Block]:
    """Build the table of groups with more than two conditions; none without such a group."""
    rows = [
        (
            readable(row[effects["by"]]) or "all",
            count(row["levels"]),
            count(row["n"]),
            NONE if row["F"] is None else f"{decimal(row['F'], 2)} ({row['df1']}, {row['df2']})",
            p_value(row["p"]),
            decimal(row["epsilon"], 2),
            p_value(row["p_corrected"]),
            p_value(row["p_sphericity"]),
            p_value(row["p_normality"]),
        )
        for row in effects.get("within") or []
    ]
    head = (
        *("Contrast", "Conditions", "n", "F (df)", "p", "ε", "p (corrected)"),
        *("p (sphericity)", "p (normality)"),
    )
    note = (
        f"{effects['conventions']['within'][0].upper()}{effects['conventions']['within'][1:]}."
        if rows
        else ""
    )
    return [Table("Conditions within participants", head, rows, note=note)] if rows else []


def _has_structures(effects: dict[str, Any]) -> bool:
    """Whether the random structure was chosen for each contrast."""
    return any(row.get("structure") for row in effects["analyses"])


def _random_effects(mixed: dict[str, Any]) -> str:
    """Shorten a random structure for a cell: ``slopes by participant and item, correlated``."""
    if mixed["p"] is None:
        return NONE
    effects, _, how = (mixed["structure"] or INTERCEPTS).partition(", ")
    if effects == INTERCEPTS:
        return "intercepts"
    if how.startswith(("correlated", "without")):
        how = "uncorrelated" if how.startswith("without") else "correlated"
    return f"{effects}, {how}"


def _methods(effects: dict[str, Any], analysis: str) -> str:
    """List the methods of an analysis, the most frequent first, with their contrasts where they differ."""
    counts = method_counts(effects, analysis).most_common()
    if len(counts) < 2:
        return "".join(name for name, _ in counts) or NONE
    listed = [f"{name} ({plural(n, 'contrast')})" for name, n in counts[:MAX_METHODS]]
    n_others = sum(n for _, n in counts[MAX_METHODS:])
    unlisted = (
        [f"{plural(n_others, 'contrast')} by other methods, listed in numbers.json"] if n_others else []
    )
    return "; ".join([*listed, *unlisted])


def _interactions(numbers: dict[str, Any]) -> list[Block]:
    interactions = numbers["effects"].get("interactions")
    reasons: list[Block] = [
        Paragraph(f"No difference of differences{_of_group(row[numbers['by']])}: {row['reason']}")
        for row in numbers["effects"].get("not_recognized") or []
    ]
    if not interactions:
        return [*_factorial(numbers), *reasons]
    rows = [
        (
            readable(row[numbers["by"]]) or "all",
            f"{readable(row['first']['marked'])} × {readable(row['second']['marked'])}",
            decimal(row["participants"]["estimate"], 2),
            format_interval(row["participants"]["ci_low"], row["participants"]["ci_high"]),
            decimal(row["mixed"]["estimate"], 2),
            format_interval(row["mixed"]["ci_low"], row["mixed"]["ci_high"]),
            p_value(row["mixed"]["p"]),
            p_value(row[f"p_{numbers['effects']['correction']}"]),
            f"{row['participants']['n']} × {row['items']['n']}",
        )
        for row in interactions
    ]
    head = (
        "Contrast",
        "Marked levels",
        "By participants",
        "95 % CI",
        "Mixed model",
        "95 % CI",
        "p",
        f"p ({CORRECTION_NAMES[numbers['effects']['correction']]})",
        "n",
    )
    note = (
        "n: participants × items. Difference of differences: the cost of the first factor's marked level at "
        "the marked level of the second, minus its cost at the plain level. By participants: paired t. The "
        "mixed model has "
        f"{structures_in_words([row['mixed'] for row in interactions])} and Satterthwaite degrees of "
        "freedom; p belongs to the mixed model. " + SENTENCES["floor_or_ceiling"]
    )
    if any(row["oriented_by"] == "alphabetical" for row in interactions):
        note += " " + SENTENCES["alphabetical"]
    table = Table("Interactions of 2×2 designs", head, rows, frozenset({1}), note=note)
    blocks: list[Block] = [
        *_factorial(numbers),
        table,
        *reasons,
        *_model_interactions(numbers),
        *_item_differences(numbers),
    ]
    return [Paragraph(interaction_sentence(numbers)), *blocks] if interaction_sentence(numbers) else blocks


def _factorial(numbers: dict[str, Any]) -> list[Block]:
    """Build a table of main, interaction and simple effects for each factorial design."""
    effects = numbers["effects"]
    corrected = f"p_{effects['correction']}"
    head = (
        "Effect",
        "Difference",
        "95 % CI",
        "F (df)",
        "p",
        f"p ({CORRECTION_NAMES[effects['correction']]})",
    )
    blocks: list[Block] = []
    for row in effects.get("factorial") or []:
        design = " × ".join(factor["name"] for factor in row["factors"])
        if row["reason"]:
            blocks.append(
                Paragraph(f"No effects of {design}{_of_group(row[numbers['by']])}: {row['reason']}")
            )
            continue
        rows = [
            (
                effect["label"],
                decimal(effect["estimate"], 2),
                format_interval(effect["ci_low"], effect["ci_high"]),
                NONE
                if effect["df2"] is None
                else f"{decimal(effect['F'], 2)} ({effect['df1']}, {decimal(effect['df2'], 1)})",
                p_value(effect["p"]),
                p_value(effect[corrected]),
            )
            for effect in row["effects"]
        ]
        text = effects["conventions"]["factorial"]
        note = f"{text[0].upper()}{text[1:]}. Random structure: {row['structure']}. {row['note']}"
        caption = f"Main, interaction and simple effects of {design}{_of_group(row[numbers['by']])}"
        blocks.append(Table(caption, head, rows, note=note.strip()))
    return blocks


def _of_group(name: str) -> str:
    return f" of {readable(name)}" if name else ""


def _model_interactions(numbers: dict[str, Any]) -> list[Block]:
    """Build the table of the models beside humans; none without models."""
    rows = [
        (
            readable(row[numbers["by"]]) or "all",
            row["model"],
            decimal(row["items"]["estimate"], 2),
            format_interval(row["items"]["ci_low"], row["items"]["ci_high"]),
            p_value(row["items"]["p"]),
            f"{row['items']['above_zero']} of {row['items']['n']}",
            decimal(row["people_r"], 2),
        )
        for row in numbers["effects"].get("models") or []
    ]
    head = ("Contrast", "Model", "By items", "95 % CI", "p", "Above zero", "r with people")
    note = (
        "Difference of differences of models by items, paired t; "
        f"{numbers['effects']['conventions']['models']}. r: Pearson, of the differences of the items in "
        "the model and in people."
    )
    return [Table("Interactions of models", head, rows, frozenset({1}), note=note)] if rows else []


def _item_differences(numbers: dict[str, Any]) -> list[Block]:
    """Build the table of each item's difference where it fits a page; ``numbers.json`` always has them."""
    by = numbers["by"]
    rows = [
        (readable(row[by]) or "all", entry["item"], decimal(entry["difference"], 2))
        for row in numbers["effects"]["interactions"]
        for entry in row["differences"]["items"]
    ]
    if not 0 < len(rows) <= MAX_INLINE_ROWS:
        return []
    note = "Those of participants are in the release, differences.csv."
    caption = "Difference of differences of each item"
    return [Table(caption, ("Contrast", "Item", "Difference"), rows, frozenset({1}), note=note)]
