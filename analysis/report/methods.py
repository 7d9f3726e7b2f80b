"""The methods and results paragraphs, ready to paste into a paper."""

from typing import Any

from analysis.exclusions.criteria import CRITERIA
from analysis.plurals import plural
from analysis.report.findings import agreement_words, effects_words, interaction_words, reliability_words
from analysis.report.released import Released
from analysis.report.wording import TASKS, count, listed, readable
from analysis.rows import RATING_TASKS

RULES = {
    "blimp": "a paradigm was included if a strict majority of annotators preferred the expected member in at "
    "least four of every five pairs (Warstadt et al. 2020)",
    "climp": "a paradigm was included if its mean individual agreement was at least .85 (Xiang et al. 2021)",
}
SHOWN = {
    "forced_choice": "chose between the two members of minimal pairs",
    "yes_no": "judged sentences as acceptable or not",
    "likert": "rated sentences on a scale",
    "magnitude_estimation": "estimated the acceptability of sentences as numbers relative to a "
    "reference sentence",
    "slider": "rated sentences on a slider",
    "best_worst": "named the best and the worst sentence of small sets",
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
        filter(
            None,
            [
                agreement_words(numbers),
                reliability_words(numbers),
                effects_words(numbers),
                interaction_words(numbers),
            ],
        )
    )
    with_what = f"Obelus {released.study['software']['Obelus']}, seed {released.options['seed']}"
    made = (
        f"All numbers were computed with {with_what}; the replication package gives them again from the data."
    )
    return [text for text in (first, second, third, made) if text]


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
            if materials[name] and not (name == "paradigms" and materials[name] == materials["phenomena"])
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


def _rule(rule: str) -> str:
    if rule in RULES:
        return RULES[rule]
    if "/" in rule:
        right, of = rule.split("/")
        return f"a paradigm was included if at least {right} of every {of} items had the expected majority"
    return f"a paradigm was included if its mean individual agreement was at least {rule}"


def _removed(row: dict[str, Any]) -> str:
    told = [
        plural(row[f"{unit}s_removed"], unit)
        for unit in ("participant", "session", "judgment")
        if row[f"{unit}s_removed"]
    ]
    return ", ".join(told) or "none"


def reason_of(step: dict[str, Any]) -> str:
    """Give a step's criterion in words.

    Parameters
    ----------
    step : dict
        Of a plan.

    Returns
    -------
    str
    """
    criterion = CRITERIA.get(step["rule"])
    return criterion.reason if criterion else readable(step["name"])


def _analysis(numbers: dict[str, Any]) -> str:
    task, rule = numbers["task"], numbers["agreement"].get("rule")
    words = []
    if task in RATING_TASKS:
        what = "Magnitude estimates" if task == "magnitude_estimation" else "Ratings"
        words.append(
            f"{what} were standardized within participants over target and filler trials (ddof 1; Schütze & "
            "Sprouse 2013)."
        )
    if rule:
        words.append(f"For inclusion, {_rule(rule)}.")
    if agreement_words(numbers):
        words.append(
            "Confidence intervals of agreement are percentile intervals of a bootstrap over participants."
        )
    return " ".join(words)


def task_words(task: str) -> str:
    """Give a task's name in a paper.

    Parameters
    ----------
    task : str

    Returns
    -------
    str
    """
    return TASKS.get(task, readable(task))
