"""The methods and results paragraphs, ready to paste into a paper."""

from typing import Any

from analysis.effects.convergence import ALPHA
from analysis.exclusions.criteria import CRITERIA
from analysis.report.released import Released
from analysis.report.wording import (
    TASKS,
    bayes,
    count,
    decimal,
    ends,
    listed,
    p_value,
    plural,
    readable,
    share,
)
from analysis.rows import RATING_TASKS

RULES = {
    "blimp": "a paradigm was included if a strict majority of annotators preferred the expected member in at "
    "least four of every five pairs (Warstadt et al. 2020)",
    "climp": "a paradigm was included if its mean individual agreement was at least .85 (Xiang et al. 2021)",
}
TIES = {
    "strict": "ties do not count as agreement",
    "half": "ties count one half",
    "drop": "ties are left out",
}
SHOWN = {
    "forced_choice": "chose between the two members of each minimal pair",
    "yes_no": "judged each sentence as acceptable or not",
    "likert": "rated each sentence on a scale",
    "magnitude_estimation": "estimated the acceptability of each sentence as a number relative to a "
    "reference sentence",
    "slider": "rated each sentence on a slider",
    "best_worst": "named the best and the worst sentence of each small set",
}


def methods_paragraphs(released: Released, numbers: dict[str, Any]) -> list[str]:
    """Write participants, materials, exclusions, analysis and results as paragraphs of a paper.

    Parameters
    ----------
    released : Released
    numbers : dict
        From :func:`analysis.report.numbers.report_numbers`.

    Returns
    -------
    list of str
        Methods first, results last.
    """
    first = " ".join(filter(None, [_participants(released, numbers), _materials(released, numbers)]))
    second = " ".join(filter(None, [_exclusions(released, numbers), _analysis(numbers)]))
    third = " ".join(
        filter(None, [agreement_words(numbers), reliability_words(numbers), effects_words(numbers)])
    )
    with_what = f"Obelus {released.study['software']['Obelus']}, seed {released.options['seed']}"
    made = (
        f"All numbers were computed with {with_what}; the replication package gives them again from the data."
    )
    return [text for text in (first, second, third, made) if text]


def agreement_words(numbers: dict[str, Any]) -> str:
    """Say how far people agree with the expected labels, and which paradigms a rule includes."""
    found = numbers["agreement"]
    if "refused" in found or found["overall"]["individual_agreement"] is None:
        return ""
    block = found["overall_included"]
    words = [inclusion_words(numbers)] if found["rule"] else []
    over = "Over the included paradigms" if found["rule"] else "Overall"
    if block["majority_agreement"] is not None:
        words.append(
            f"{over}, the majority vote agreed with the expected label for {block['items_right']} of "
            f"{block['items']} {_unit(numbers)} ({share(block['majority_agreement'])}; "
            f"{TIES[found['ties']]}), and"
        )
        lead = "individual annotators agreed with it in"
    else:
        lead = f"{over}, individual annotators agreed with the expected label in"
    low, high = block["ci_low"], block["ci_high"]
    interval = f", 95 % CI {ends(low, high, percent=True)} over participants" if low is not None else ""
    words.append(
        f"{lead} {share(block['individual_agreement'])} of judgments (mean of item shares{interval}; "
        f"{count(block['judgments'])} judgments)."
    )
    return " ".join(words)


def inclusion_words(numbers: dict[str, Any]) -> str:
    """Say how many paradigms the rule includes, and name those that it does not."""
    found = numbers["agreement"]
    rows = found["paradigms"]
    short = [row["paradigm"] for row in rows if row["status"] == "insufficient_items"]
    rejected = [row["paradigm"] for row in rows if row["status"] == "rejected"]
    judged = len(rows) - len(short)
    included = found["overall"]["included"]
    of = f"All {judged}" if included == judged > 1 else f"Of {plural(judged, 'paradigm')}, {included}"
    said = f"{of}{' paradigms' if included == judged > 1 else ''} met the inclusion criterion."
    if rejected and len(rejected) <= 4:
        said = f"{said[:-1]}; {listed([named(name) for name in rejected])} did not."
    if short and len(short) <= 4:
        names = listed([named(name) for name in short])
        what, verb = ("A further paradigm", "was") if len(short) == 1 else ("Further paradigms", "were")
        said += f" {what}, {names}, {verb} not decided: fewer pairs were judged than the rule asks for."
    elif short:
        said += f" Another {len(short)} had fewer judged pairs than the rule asks for."
    return said


def named(paradigm: str) -> str:
    """Give a paradigm's name within a sentence."""
    return f"“{readable(paradigm)}”"


def reliability_words(numbers: dict[str, Any]) -> str:
    """Say how far annotators agree with each other."""
    found = numbers["reliability"]
    if "refused" in found:
        return ""
    rating = numbers["task"] in RATING_TASKS
    measure = "alpha_interval" if rating else "alpha_nominal"
    alpha = next((row for row in found["coefficients"] if row["measure"] == measure), None)
    words = []
    if alpha and alpha["value"] is not None:
        of = "of standardized ratings" if rating else "nominal"
        if found["coding"] == "label_blind":
            of = "nominal, label-blind coding"
        words.append(f"Krippendorff's α ({of}) was {decimal(alpha['value'], 2)}.")
    half = next((row for row in found["split_half"] if row["spearman_brown"] is not None), None)
    if half:
        interval = ends(half["ci_low"], half["ci_high"])
        beside = f" (95 % CI {interval})" if half["ci_low"] is not None else ""
        words.append(
            f"The split-half reliability of {half['unit']} means was {decimal(half['spearman_brown'], 2)}"
            f"{beside} after Spearman–Brown correction."
        )
    return " ".join(words)


def effects_words(numbers: dict[str, Any]) -> str:
    """Say how many contrasts hold."""
    found = numbers["effects"]
    if not found.get("analyses"):
        return ""
    rates = {row["analysis"]: row for row in found["rates"]}
    names = {"phenomenon": ("phenomenon", "phenomena"), "paradigm": ("paradigm", "paradigms")}[numbers["by"]]
    total = len(found["effects"])
    if total == 1:
        return _one_contrast(found)
    if not rates["direction"]["estimable"]:
        return ""
    way, tested, mixed = (rates[name] for name in ("direction", "two_tailed", "mixed_model"))
    said = f"The contrast went in the expected direction in {_of(way, total)} {names[1]}"
    if tested["estimable"]:
        method = next(row["method"] for row in found["analyses"] if row["analysis"] == "two_tailed")
        said += (
            f"; it was significant by a two-tailed test ({method}) in {_of(tested, total)}, "
            f"{_after_holm(found, tested['converges'])} after Holm's correction"
        )
    if mixed["estimable"]:
        said += f", and by a mixed model with crossed random intercepts in {_of(mixed, total)}"
        if mixed["estimable"] < total:
            said += " for which one could be estimated"
    return f"{said}."


def _of(rate: dict[str, Any], total: int) -> str:
    """Give how many hold, of how many."""
    if rate["converges"] == total:
        return f"all {total}"
    return f"{rate['converges']} of {'the ' if rate['estimable'] < total else ''}{rate['estimable']}"


def _after_holm(found: dict[str, Any], before: int) -> str:
    rows = [row for row in found["analyses"] if row["analysis"] == "two_tailed"]
    n = sum(row["outcome"] == "converges" and (row["p_holm"] or 0) < ALPHA for row in rows)
    return "all of them also" if n == before else f"{n} of them also"


def _one_contrast(found: dict[str, Any]) -> str:
    rows = {row["analysis"]: row for row in found["analyses"]}
    effect = found["effects"][0]
    tested = rows["two_tailed"]
    if tested["p"] is None:
        return ""
    size = f", d_z = {decimal(effect['d_z'], 2)}" if effect.get("d_z") is not None else ""
    factor = rows["bayes_factor"]["statistic"]
    beside = f", BF₁₀ {'' if bayes(factor).startswith(('>', '<')) else '= '}{bayes(factor)}" if factor else ""
    p = p_value(tested["p"])
    return (
        f"The expected contrast was {decimal(tested['estimate'], 2)} ({tested['method']}, "
        f"p {p if p.startswith('<') else '= ' + p}{size}{beside})."
    )


def _participants(released: Released, numbers: dict[str, Any]) -> str:
    study, counts = released.study, numbers["counts"]
    first, last = (str(study["answered"][end])[:10] for end in ("first", "last"))
    when = "" if not first else f" on {first}" if first == last else f" between {first} and {last}"
    simulated = study["simulated"]
    if simulated and simulated >= counts["participants"]:  # some may have withdrawn since
        who = f"{count(counts['participants'])} simulated participants"
    else:
        who = plural(counts["participants"], "participant")
        who += f" ({count(simulated)} of them simulated)" if simulated else ""
    recruited = sorted({one["recruiter"] for one in study["recruiters"]} - {"direct"})
    via = f", recruited through {listed([name.capitalize() for name in recruited])}," if recruited else ""
    sittings = counts["sessions"]
    in_sittings = f" in {count(sittings)} sessions" if sittings != counts["participants"] else ""
    doing = SHOWN.get(released.manifest["task"], "judged the sentences")
    points = numbers["conditions"].get("points")
    doing += f" from {points[0]} to {points[-1]}" if points else ""
    said = f"{who}{via} {doing}{when}, giving {count(counts['target_trials'])} judgments{in_sittings}."
    return said[0].upper() + said[1:]


def _materials(released: Released, numbers: dict[str, Any]) -> str:
    study, counts = released.study, numbers["counts"]
    materials, lists = study["materials"], study["lists"]
    words = []
    if materials:
        of = (
            plural(materials["pairs"], "minimal pair")
            if released.manifest["task"] == "forced_choice"
            else plural(materials["sentences"], "sentence")
        )
        groups = [
            plural(materials[name], one, many)
            for name, one, many in (
                ("paradigms", "paradigm", "paradigms"),
                ("phenomena", "phenomenon", "phenomena"),
            )
            if materials[name]
        ]
        inside = f" from {listed(groups)}" if groups else ""
        words.append(f"The materials were {of}{inside} ({materials['language_name']}).")
    if lists and lists["n"] > 1:
        words.append(f"They were distributed over {lists['n']} lists.")
    low, high = counts["targets_per_session_low"], counts["targets_per_session_high"]
    if high:
        each = count(high) if low == high else f"{count(low)} to {count(high)}"
        beside = [f"{lists['trials'][kind][1]} {kind} trials" for kind in ("catch", "filler")
                  if lists and lists["trials"][kind][1]]  # fmt: skip
        words.append(f"A session held {each} target trials{' beside ' + listed(beside) if beside else ''}.")
    return " ".join(words)


def _exclusions(released: Released, numbers: dict[str, Any]) -> str:
    flow = numbers["exclusions"].get("flow", [])
    if len(flow) < 2:
        return "No judgment was excluded."
    reasons = {step["name"]: reason_of(step) for step in released.steps}
    steps = [f"{reasons[row['step']]} ({_removed(row)})" for row in flow[1:]]
    last = flow[-1]
    plan = released.manifest["plan"]
    fixed = ", fixed before the first response" if plan["locked_before_first_response"] else ""
    order = ", applied in this order" if len(steps) > 1 else ""
    named_so = "Criteria of exclusion were" if len(steps) > 1 else "The criterion of exclusion was"
    return (
        f"{named_so}{fixed}{order}: {'; '.join(steps)}. This left "
        f"{plural(last['judgments_left'], 'judgment')} by {plural(last['participants_left'], 'participant')}."
    )


def _removed(row: dict[str, Any]) -> str:
    told = [
        plural(row[f"{unit}s_removed"], unit)
        for unit in ("participant", "session", "judgment")
        if row[f"{unit}s_removed"]
    ]
    return ", ".join(told) or "none"


def reason_of(step: dict[str, Any]) -> str:
    """Give a step's criterion in words."""
    criterion = CRITERIA.get(step["rule"])
    return criterion.reason if criterion else readable(step["name"])


def _analysis(numbers: dict[str, Any]) -> str:
    task, rule = numbers["task"], numbers["agreement"].get("rule")
    words = []
    if task in RATING_TASKS:
        words.append(
            "Ratings were standardized within participants over target and filler trials (ddof 1; Schütze & "
            "Sprouse 2013)."
        )
    if rule:
        text = RULES.get(rule, f"paradigms were included by the rule {rule} (right pairs of pairs, or share)")
        words.append(f"For inclusion, {text}.")
    if agreement_words(numbers):
        words.append(
            "Confidence intervals of agreement are percentile intervals of a bootstrap over participants."
        )
    return " ".join(words)


def _unit(numbers: dict[str, Any]) -> str:
    return {"forced_choice": "pairs", "yes_no": "sentences"}.get(numbers["task"], "items")


def task_words(task: str) -> str:
    """Give a task's name in a paper."""
    return TASKS.get(task, readable(task))
