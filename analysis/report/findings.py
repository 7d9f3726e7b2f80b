"""Methods and results paragraphs of a report, written for reuse in a paper."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..effects.five_analyses import ALPHA
from ..rows import RATING_TASKS
from ..text import plural
from .page_findings import selection_sentence
from .wording import (
    RATING_UNITS,
    TASKS,
    bayes,
    count,
    decimal,
    format_interval,
    join_list,
    p_value,
    readable,
    share,
)

TIES = {
    "strict": "ties do not count as agreement",
    "half": "ties count one half",
    "drop": "ties are left out",
}
NO_RANDOM = "none,"
"""Beginning of the structure of a fit without random effects, in place of a mixed model."""
MAX_LISTED = 6
"""Largest number of interactions that are reported individually."""


def agreement_sentences(numbers: dict[str, Any]) -> str:
    """Report agreement with the expected labels and the paradigms that the rule includes."""
    agreement = numbers["agreement"]
    if "refused" in agreement or agreement["overall"]["individual_agreement"] is None:
        return ""
    block = agreement["overall_included"]
    clauses = [inclusion_sentences(numbers)] if agreement["rule"] else []
    over = "Over the included paradigms" if agreement["rule"] else "Overall"
    if block["majority_agreement"] is not None:
        n_min = agreement["conventions"]["n_min"]
        enough = f" with at least {n_min} judgments" if block["items_insufficient"] else ""
        clauses.append(
            f"{over}, the majority vote agreed with the expected label for {block['items_right']} of "
            f"{block['items']} {_unit(numbers)}{enough} ({share(block['majority_agreement'])}; "
            f"{TIES[agreement['ties']]}), and"
        )
        lead = "individual annotators agreed with it in"
    else:
        lead = f"{over}, individual annotators agreed with the expected label in"
    low, high = block["ci_low"], block["ci_high"]
    interval = (
        f", 95 % CI {format_interval(low, high, percent=True)} over participants" if low is not None else ""
    )
    clauses.append(
        f"{lead} {share(block['individual_agreement'])} of judgments (mean of item shares{interval}; "
        f"{count(block['judgments'])} judgments)."
    )
    if agreement["rule"] and 0 < agreement["overall"]["included"] < len(agreement["paradigms"]):
        clauses.append(selection_sentence(agreement))
    return " ".join(clauses)


def inclusion_sentences(numbers: dict[str, Any]) -> str:
    """Report how many paradigms the rule includes and name the rejected ones."""
    agreement = numbers["agreement"]
    rows = agreement["paradigms"]
    short = [row["paradigm"] for row in rows if row["status"] == "insufficient_items"]
    rejected = [row["paradigm"] for row in rows if row["status"] == "rejected"]
    judged = len(rows) - len(short)
    included = agreement["overall"]["included"]
    of = f"All {judged}" if included == judged > 1 else f"Of {plural(judged, 'paradigm')}, {included}"
    text = f"{of}{' paradigms' if included == judged > 1 else ''} met the inclusion criterion."
    if rejected and len(rejected) <= 4:
        text = f"{text[:-1]}; {join_list([quoted_name(name) for name in rejected])} did not."
    if short and len(short) <= 4:
        names = join_list([quoted_name(name) for name in short])
        subject = "A further paradigm" if len(short) == 1 else "Further paradigms"
        text += f" {subject}, {names}, could not be decided: fewer pairs were judged than the rule requires."
    elif short:
        text += f" Another {len(short)} paradigms had fewer judged pairs than the rule requires."
    return text


def quoted_name(paradigm: str) -> str:
    """Quote a paradigm's name for use in a sentence."""
    return f"“{readable(paradigm)}”"


def _over_included(numbers: dict[str, Any], row: dict[str, Any]) -> str:
    """Add the coefficient over the included paradigms, where a rule includes some but not all."""
    included, agreement = numbers["reliability"]["included"], numbers["agreement"]
    if included is None or row["value_included"] is None:
        return ""
    n_paradigms = len(agreement["paradigms"])
    if included["paradigms"] == n_paradigms:
        return f" over all {n_paradigms} paradigms, which the rule includes"
    return (
        f" over all {n_paradigms} paradigms and {decimal(row['value_included'], 2)} over the "
        f"{included['paradigms']} that the rule includes"
    )


def reliability_sentences(numbers: dict[str, Any]) -> str:
    """Report agreement between annotators and split-half reliability."""
    reliability = numbers["reliability"]
    if "refused" in reliability:
        return ""
    rating = numbers["task"] in RATING_TASKS
    measure = "alpha_interval" if rating else "alpha_nominal"
    alpha = next((row for row in reliability["coefficients"] if row["measure"] == measure), None)
    words = []
    if alpha and alpha["value"] is not None:
        of = "of standardized ratings" if rating else "nominal"
        if reliability["coding"] == "label_blind":
            of = "nominal, label-blind coding"
        words.append(
            f"Krippendorff's α ({of}) was {decimal(alpha['value'], 2)}{_over_included(numbers, alpha)}."
        )
    half = next((row for row in reliability["split_half"] if row["spearman_brown"] is not None), None)
    if half:
        interval = format_interval(half["ci_low"], half["ci_high"])
        beside = f" (95 % CI {interval})" if half["ci_low"] is not None else ""
        words.append(
            f"The split-half reliability of {half['unit']} means was {decimal(half['spearman_brown'], 2)}"
            f"{beside} after Spearman–Brown correction."
        )
    return " ".join(words)


def effects_sentence(numbers: dict[str, Any]) -> str:
    """Report how many contrasts go in the expected direction and are significant."""
    effects = numbers["effects"]
    if not effects.get("analyses"):
        return ""
    rates = {row["analysis"]: row for row in effects["rates"]}
    names = {"phenomenon": ("phenomenon", "phenomena"), "paradigm": ("paradigm", "paradigms")}[numbers["by"]]
    total = len(effects["effects"])
    if total == 1:
        return _single_contrast(effects)
    if not rates["direction"]["estimable"]:
        return ""
    way, tested, mixed = (rates[name] for name in ("direction", "two_tailed", "mixed_model"))
    text = f"The contrast went in the expected direction in {_converging(way, total)} {names[1]}"
    text += _mixed_clause(effects, mixed, total)
    if tested["estimable"]:
        methods = " or ".join(name for name, _ in method_counts(effects, "two_tailed").most_common())
        text += (
            f"; over these items only, by a two-tailed test ({methods}), in {_converging(tested, total)}, "
            f"{_still_significant(effects, tested['converges'], analysis='two_tailed')} after "
            f"{_correction(effects)}"
        )
    return f"{text}."


def _mixed_clause(effects: dict[str, Any], mixed: dict[str, Any], total: int) -> str:
    """Report in how many contrasts the headline test, over participants and items, is significant."""
    if not mixed["estimable"]:
        return ""
    fits = [row for row in effects["analyses"] if row["analysis"] == "mixed_model" and row["p"] is not None]
    mixed_fits = [row for row in fits if not row.get("structure", "").startswith(NO_RANDOM)]
    text = (
        "; over participants and items it was significant by a mixed model with "
        f"{structures_in_words(mixed_fits)} in {_converging(mixed, total)}"
    )
    if mixed["estimable"] < total:
        text += " for which one could be estimated"
    if len(mixed_fits) < len(fits):
        text += (
            f" (in {len(fits) - len(mixed_fits)} of them no mixed model has a finite estimate: logistic "
            "regression with cluster-robust errors, or penalized where all answers agree)"
        )
    n_after = _still_significant(effects, mixed["converges"], analysis="mixed_model")
    return f"{text}, {n_after} after {_correction(effects)}"


VERDICTS = {
    "equivalent": ("is equivalent", "are equivalent"),
    "different": ("is different", "are different"),
    "both": ("is both different and equivalent", "are both different and equivalent"),
    "undecided": ("is undecided", "are undecided"),
    "not_estimable": ("cannot be tested", "cannot be tested"),
}
"""Verdicts of the tests of equivalence, for one contrast and for several."""


def sesoi_bounds(effects: dict[str, Any]) -> str:
    """Write the bounds of the smallest effect of interest with their unit."""
    rows, sesoi = effects["equivalence"], f"{effects['sesoi']:g}"
    task = rows[0]["task"] if rows else ""
    if task == "forced_choice":
        low, high = (f"{100 * (0.5 + side * effects['sesoi']):g}" for side in (-1, 1))
        return f"within {low} to {high} % of choices"
    if task == "yes_no":
        return f"within ±{100 * effects['sesoi']:g} points of the share of yes"
    return f"within ±{sesoi} {RATING_UNITS[effects['transform']]}"


def equivalence_sentence(effects: dict[str, Any]) -> str:
    """Report which contrasts are equivalent within the smallest effect of interest."""
    rows = effects.get("equivalence") or []
    if not rows:
        return ""
    bounds = sesoi_bounds(effects)
    if len(rows) == 1:
        row = rows[0]
        verb = VERDICTS[row["verdict"]][0]
        if row["p"] is None:
            return f"Equivalent means {bounds}: the contrast {verb} ({readable(row['status'])})."
        p = p_value(row["p"])
        return (
            f"Equivalent means {bounds}: the contrast {verb}, {decimal(row['estimate'], 2)} (90 % CI "
            f"{format_interval(row['ci_low'], row['ci_high'])}; TOST, "
            f"p {p if p.startswith('<') else '= ' + p})."
        )
    counts = [(sum(row["verdict"] == name for row in rows), words) for name, words in VERDICTS.items()]
    parts = [f"{n} {words[n != 1]}" for n, words in counts if n]
    return f"Equivalent means {bounds}: of {len(rows)} contrasts, {join_list(parts)} (TOST, 90 % intervals)."


def structures_in_words(fits: Sequence[dict[str, Any]]) -> str:
    """Name the random structures of fitted models, with their numbers where there are several.

    Examples
    --------
    >>> structures_in_words([{"structure": ""}])
    'crossed random intercepts'
    >>> structures_in_words([{"structure": "intercepts only"}, {"structure": "slopes by item, correlated"}])
    'crossed random effects (intercepts only: 1; slopes by item, correlated: 1)'
    """
    counts = Counter(fit.get("structure") or "intercepts only" for fit in fits)
    if set(counts) <= {"intercepts only"}:
        return "crossed random intercepts"
    if len(counts) == 1:
        return f"crossed random effects ({next(iter(counts))})"
    parts = [f"{structure}: {n}" for structure, n in sorted(counts.items(), key=lambda part: -part[1])]
    return f"crossed random effects ({'; '.join(parts)})"


def method_counts(effects: dict[str, Any], analysis: str) -> Counter[str]:
    """Count the contrasts of each method of one of the five analyses."""
    rows = (row for row in effects["analyses"] if row["analysis"] == analysis)
    return Counter(row["method"] for row in rows if row["method"])


def interaction_sentence(numbers: dict[str, Any]) -> str:
    """Report the size of the interactions of 2×2 designs and how many differ from 0."""
    interactions = numbers["effects"].get("interactions") or []
    estimated = [row for row in interactions if row["mixed"]["p"] is not None]
    if not estimated:
        return ""
    is_rating = numbers["task"] in RATING_TASKS
    unit = RATING_UNITS[numbers["effects"]["transform"]] if is_rating else "share of yes"
    sizes = [f"{decimal(row['mixed']['estimate'], 2)} {unit} {_mixed_interval(row)}" for row in estimated]
    model = f"mixed model with {structures_in_words([row['mixed'] for row in estimated])}, 95 % CI"
    if len(estimated) == 1:
        p = p_value(estimated[0]["mixed"]["p"])
        text = f"p {p if p.startswith('<') else '= ' + p}"
        first, second = estimated[0]["first"], estimated[0]["second"]
        sample = (
            f"{plural(estimated[0]['participants']['n'], 'participant')} and "
            f"{plural(estimated[0]['items']['n'], 'item')}"
        )
        return (
            f"The difference of differences of {first['name']} × {second['name']}, the cost of "
            f"{first['marked']} (against {first['plain']}) with {second['name']} {second['marked']} less "
            f"that with {second['name']} {second['plain']}, was {sizes[0]} ({model}, {text}; {sample})."
        )
    if len(estimated) <= MAX_LISTED:
        estimates = [
            f"{size} ({readable(row[numbers['by']]) or 'all'})"
            for row, size in zip(estimated, sizes, strict=True)
        ]
        text = f"The differences of differences of the 2×2 designs were {join_list(estimates)} ({model})"
    else:
        text = f"There were {len(estimated)} 2×2 designs ({model})"
    corrected = f"p_{numbers['effects']['correction']}"
    n = sum((row[corrected] or 0) < ALPHA for row in estimated)
    which = f"all {n}" if n == len(estimated) else f"{n} of {len(estimated)}"
    return f"{text}; {which} differed from 0 after {_correction(numbers['effects'])}."


def joint_cost_sentence(
    row: dict[str, Any], *, by: str, transform: str, models: Sequence[dict[str, Any]] = ()
) -> str:
    """Report one interaction in words: its size in the mixed model, its interval, and the items that show it.

    Without a mixed model, by participants, or by items: then the sentence is about these items, or these
    participants, only. Where the interval contains 0, the sentence leaves the question open.
    """
    items = row["items"]
    tests: list[tuple[dict[str, Any], str]] = [
        (row["mixed"], ""),
        (row["participants"], ", over these items only"),
        (items, ", over these participants only"),
    ]
    estimated = [pair for pair in tests if pair[0]["estimate"] is not None]
    if not estimated:
        return ""
    test, scope = estimated[0]
    unit = RATING_UNITS[transform]
    way = "more" if test["estimate"] >= 0 else "less"
    name = f"{readable(row[by])}: " if row[by] else ""
    size = decimal(abs(test["estimate"]), 2)
    ends = [test["ci_low"], test["ci_high"]]
    if None not in ends and way == "less":
        ends = [-ends[1], -ends[0]]
    interval = f" (95 % CI {decimal(ends[0], 2)} to {decimal(ends[1], 2)})" if None not in ends else ""
    n_items = items["above_zero"] if way == "more" else items["n"] - items["above_zero"]
    if None not in ends and test.get("p") is not None:
        p = p_value(test["p"])
        interval = f"{interval[:-1]}, p {p if p.startswith('<') else '= ' + p})"
    where = f"{scope}, in {n_items} of {items['n']} items" if items["n"] else scope
    beside = [
        f"{model['model']} has {decimal(model['items']['estimate'], 2)} on its own scale"
        for model in models
        if model[by] == row[by] and model["items"]["estimate"] is not None
    ]
    both = f"{row['first']['marked']} and {row['second']['marked']} together cost"
    if None not in ends and ends[0] <= 0 <= ends[1]:
        text = (
            f"{name}whether {both} more or less than the two predict separately is open: {size} {unit} {way}"
        )
    else:
        text = f"{name}{both} {size} {unit} {way} than the two predict separately"
    text += f"{interval}{where}"
    text = text[0].upper() + text[1:]
    return f"{text}; {join_list(beside)}." if beside else f"{text}."


def _mixed_interval(row: dict[str, Any]) -> str:
    return format_interval(row["mixed"]["ci_low"], row["mixed"]["ci_high"])


def _converging(rate: dict[str, Any], total: int) -> str:
    """Format the converging contrasts out of the estimable ones."""
    if rate["converges"] == total:
        return f"all {total}"
    return f"{rate['converges']} of {'the ' if rate['estimable'] < total else ''}{rate['estimable']}"


def _correction(effects: dict[str, Any]) -> str:
    return {"holm": "Holm's correction", "bh": "Benjamini and Hochberg's correction"}[effects["correction"]]


def _still_significant(effects: dict[str, Any], before: int, *, analysis: str) -> str:
    rows, corrected = effects["analyses"], f"p_{effects['correction']}"
    rows = [row for row in rows if row["analysis"] == analysis]
    n = sum(row["outcome"] == "converges" and (row[corrected] or 0) < ALPHA for row in rows)
    return "all of them also" if n == before else f"{n} of them also"


def _single_contrast(effects: dict[str, Any]) -> str:
    rows = {row["analysis"]: row for row in effects["analyses"]}
    effect = effects["effects"][0]
    tested = rows["two_tailed"]
    if tested["p"] is None and rows["mixed_model"]["p"] is None:
        return ""
    if tested["p"] is None:
        return f"The expected contrast was {_by_mixed_model(rows['mixed_model'])}."
    lead = _by_mixed_model(rows["mixed_model"])
    size = f", d_z = {decimal(effect['d_z'], 2)}" if effect.get("d_z") is not None else ""
    factor = rows["bayes_factor"]["statistic"]
    beside = f", BF₁₀ {'' if bayes(factor).startswith(('>', '<')) else '= '}{bayes(factor)}" if factor else ""
    p = p_value(tested["p"])
    items_only = (
        f"{decimal(tested['estimate'], 2)} ({tested['method']}, "
        f"p {p if p.startswith('<') else '= ' + p}{size}{beside})"
    )
    if not lead:
        return f"The expected contrast was {items_only}, over these items only."
    return f"The expected contrast was {lead}; over these items only, {items_only}."


def _by_mixed_model(fit: dict[str, Any]) -> str:
    if fit["p"] is None:
        return ""
    p = p_value(fit["p"])
    name = f"mixed model with {structures_in_words([fit])}"
    if fit.get("structure", "").startswith(NO_RANDOM):
        name = fit["method"].partition("; ")[2]
    unit = " logits" if fit["method"].startswith("logit") else ""
    ends = ""
    if fit.get("ci_low") is not None:
        ends = f"95 % CI {format_interval(fit['ci_low'], fit['ci_high'])}, "
    return f"{decimal(fit['estimate'], 2)}{unit} ({name}, {ends}p {p if p.startswith('<') else '= ' + p})"


def _unit(numbers: dict[str, Any]) -> str:
    return {"forced_choice": "pairs", "yes_no": "sentences"}.get(numbers["task"], "items")


def task_label(task: str) -> str:
    """Return the name of a task as used in papers."""
    return TASKS.get(task, readable(task))
