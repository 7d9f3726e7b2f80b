"""The methods of a study in words, for reports and for the methods file of a release."""

from typing import Any

from ..exclusions.criteria import CRITERIA
from ..gold.labels import label_rule
from ..rows import RATING_TASKS
from ..text import plural
from .citations import works_cited
from .deviations import deviations_paragraph
from .findings import (
    agreement_sentences,
    effects_sentence,
    equivalence_sentence,
    interaction_sentence,
    reliability_sentences,
)
from .page_findings import NOT_SCALED, scales_sentence
from .released import Released
from .sections.models import models_sentences
from .wording import count, join_list, readable

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
    "best_worst": "chose the best and the worst sentence of each set",
}


DOING_WITHOUT_REFERENCE = "estimated the acceptability of sentences as numbers"
INTERVALS = {
    "participant_bootstrap": "percentile intervals of a bootstrap over participants",
    "participant_wilson_effective": "Wilson intervals with the effective number of judgments, from the "
    "variance between participants (Dean & Pagano 2015)",
    "participant_wilson": "Wilson intervals over participants, who all have the same share",
    "participant_linearized": "closed-form intervals with participants as clusters",
}


def methods_paragraphs(released: Released, numbers: dict[str, Any]) -> list[str]:
    """Write the participants, materials, exclusions, analysis and results paragraphs of a paper."""
    results = [
        agreement_sentences(numbers),
        reliability_sentences(numbers),
        effects_sentence(numbers),
        equivalence_sentence(numbers["effects"]),
        interaction_sentence(numbers),
        models_sentences(numbers),
    ]
    software = f"Obelus {released.study['software']['Obelus']}, seed {released.options['seed']}"
    provenance = (
        f"All numbers were computed with {software}; the replication package reproduces them from the data."
    )
    collected, analysed = collection_paragraphs(released.study, released.manifest["plan"], numbers)
    deviations = deviations_paragraph(released.deviations, released.frozen_plan)
    paragraphs = (collected, analysed, deviations, " ".join(filter(None, results)), provenance)
    return [text for text in paragraphs if text]


def collection_paragraphs(
    study: dict[str, Any], plan: dict[str, Any], numbers: dict[str, Any]
) -> tuple[str, str]:
    """Write who judged what, and what was excluded, transformed and left out."""
    first = [_participants(study, numbers), _materials(study, numbers)]
    second = [_exclusions(plan, numbers), _analysis(numbers)]
    return " ".join(filter(None, first)), " ".join(filter(None, second))


def release_methods(
    study: dict[str, Any],
    plan: dict[str, Any],
    numbers: dict[str, Any],
    *,
    deviations: str,
    n_min: int,
    made_with: str,
) -> str:
    """Write the methods file of a release: the paragraphs of a report, the labels and the references."""
    collected, analysed = collection_paragraphs(study, plan, numbers)
    is_rating = numbers["task"] in RATING_TASKS
    rule = label_rule(numbers["task"])
    label = (
        f"Labels: {rule}; items with fewer than {n_min} kept judgments are undecided. Intervals of single "
        "items are Wilson score intervals (Brown et al. 2001)."
    )
    undecided = numbers["agreement"].get("undecided") or {}
    statement = undecided.get("statement")
    answers = f"Participants could also answer without a choice: {statement}." if statement else ""
    results = " ".join(filter(None, ["" if is_rating else label, answers, agreement_sentences(numbers)]))
    paragraphs = [collected, analysed, deviations, results, f"The release was made by {made_with}."]
    text = "\n\n".join(filter(None, paragraphs))
    absent = {"effects": {}, "times": {}, "power": {"refused": ""}, "reliability": {"refused": ""}}
    works = "".join(f"- {work}\n" for work in works_cited(absent | numbers))
    return f"# Methods\n\n{text}\n\n## References\n\n{works}"


def _participants(study: dict[str, Any], numbers: dict[str, Any]) -> str:
    counts = numbers["counts"]
    first, last = (str(study["answered"][end])[:10] for end in ("first", "last"))
    when = "" if not first else f" on {first}" if first == last else f" between {first} and {last}"
    n_simulated = counts["simulated_participants"]
    people = [
        plural(n, noun)
        for n, noun in (
            (counts["participants"] - n_simulated, "participant"),
            (n_simulated, "simulated participant"),
        )
        if n
    ]
    recruited = sorted({recruiter["recruiter"] for recruiter in study["recruiters"]} - {"direct"})
    via = f", recruited through {join_list([name.capitalize() for name in recruited])}," if recruited else ""
    n_sessions = counts["sessions"]
    in_sessions = f" in {count(n_sessions)} sessions" if n_sessions != counts["participants"] else ""
    return (
        f"{join_list(people) or 'No participants'}{via} {_doing(study, numbers)}{when}, giving "
        f"{count(counts['target_trials'])} judgments{in_sessions}."
    )


def _doing(study: dict[str, Any], numbers: dict[str, Any]) -> str:
    """Describe what participants did, with the ends of the scale."""
    task, parameters = numbers["task"], study["parameters"]
    doing = SHOWN.get(task, "judged the sentences")
    if task == "magnitude_estimation" and (study["origin"] == "imported" or not parameters.get("modulus")):
        doing = DOING_WITHOUT_REFERENCE
    ends = _scale_ends(study, numbers)
    return f"{doing} from {ends[0]} to {ends[1]}" if ends else doing


def _scale_ends(study: dict[str, Any], numbers: dict[str, Any]) -> tuple[int, int] | None:
    """Return the ends of a labelled scale: those of the study, else those in the data."""
    parameters, points = study["parameters"], numbers["conditions"].get("points")
    if numbers["task"] != "likert":
        return None
    if parameters.get("points"):
        low = 1 if parameters.get("lowest") is None else int(parameters["lowest"])
        return low, low + int(parameters["points"]) - 1
    return (points[0], points[-1]) if points else None


#: Whether participants saw the contexts of sentences, in words.
SEEN = {
    "above": "which participants saw above it",
    "before": "which participants read on a separate screen before it",
    "above or before": "which participants saw above it or, in some versions, on a screen before it",
    "some": "which participants of some versions of the study saw above it",
    "hidden": "which participants were not shown",
    "unknown": "and whether participants saw it is not recorded",
}


def _context_times(contexts: dict[str, Any]) -> str:
    """How long contexts on a separate screen were shown."""
    words = []
    if contexts.get("ms"):
        words.append(f"shown for {join_list([str(ms) for ms in contexts['ms']])} ms")
    if contexts.get("median_ms"):
        words.append(f"left by a key or button after a median of {contexts['median_ms'] / 1000:.1f} s")
    return f" ({'; '.join(words)})" if words else ""


def _materials(study: dict[str, Any], numbers: dict[str, Any]) -> str:
    materials, lists, design = study["materials"], study["lists"], study["design"]
    words = []
    if materials:
        of = (
            plural(materials["pairs"], "minimal pair")
            if numbers["task"] == "forced_choice"
            else plural(materials["sentences"], "sentence")
        )
        groups = [
            plural(materials[name], singular, plural_form)
            for name, singular, plural_form in (
                ("items", "item", "items"),
                ("paradigms", "paradigm", "paradigms"),
                ("phenomena", "phenomenon", "phenomena"),
            )
            if materials[name]
            and not (name == "paradigms" and materials[name] == materials["phenomena"])
            and not (name == "items" and numbers["task"] == "forced_choice")
        ]
        source = f" from {join_list(groups)}" if groups else ""
        words.append(f"The materials were {of}{source} ({materials['language_name']}).")
    if contexts := study.get("contexts"):
        seen = SEEN[contexts["shown"]] + _context_times(contexts)
        words.append(f"{plural(contexts['sentences'], 'sentence')} had a context, {seen}.")
    if deadline := study.get("deadline"):
        words.append(_deadline(deadline))
    if lists and lists["n"] > 1:
        words.append(f"They were distributed over {lists['n']} lists.")
    trials = [text for kind in ("target", "filler", "catch") if (text := _trials(kind, lists, numbers))]
    if trials:
        words.append(f"Each {'list' if lists else 'session'} contained {join_list(trials)} trials.")
    if design and design["fillers"]:
        words.append(f"The fillers were from {design['fillers']}.")
    return " ".join(words)


def _deadline(deadline: dict[str, Any]) -> str:
    """State the time for each answer, and the target trials without one.

    Examples
    --------
    >>> _deadline({"ms": [3000], "is_everywhere": True, "timed_out": 12, "trials": 480})
    'Each answer had to be given within 3 s; 12 of 480 target trials (2.5 %) timed out and have no value.'
    """
    limits = " or ".join(f"{ms / 1000:g}" for ms in deadline["ms"])
    versions = "" if deadline["is_everywhere"] else " in some versions of the study"
    n, n_trials = deadline["timed_out"], deadline["trials"]
    share = f" ({100 * n / n_trials:.1f} %)" if n_trials else ""
    return (
        f"Each answer had to be given within {limits} s{versions}; {count(n)} of "
        f"{plural(n_trials, 'target trial')}{share} timed out and have no value."
    )


def _trials(kind: str, lists: dict[str, Any] | None, numbers: dict[str, Any]) -> str:
    """Count the trials of a kind, as planned in the lists or else as answered in the sessions."""
    low, high = lists["trials"][kind] if lists else numbers["counts"]["per_session"][kind]
    if not high:
        return ""
    return f"{count(high) if low == high else f'{count(low)} to {count(high)}'} {kind}"


def _exclusions(plan: dict[str, Any], numbers: dict[str, Any]) -> str:
    flow = numbers["exclusions"].get("flow", [])
    each = _judgments_of_each(numbers)
    if len(flow) < 2:
        return f"No judgment was excluded{f'; there were {each}' if each else ''}."
    reasons = {step["name"]: describe_criterion(step) for step in plan["steps"]}
    steps = [f"{reasons[row['step']]} ({_removed_counts(row)})" for row in flow[1:]]
    last = flow[-1]
    qualifiers = ["fixed before the first response"] if plan["locked_before_first_response"] else []
    qualifiers += ["applied in this order"] if len(steps) > 1 else []
    inserted = f", {join_list(qualifiers)}," if qualifiers else ""
    subject, verb = ("criteria", "were") if len(steps) > 1 else ("criterion", "was")
    return (
        f"The exclusion {subject}{inserted} {verb}: {'; '.join(steps)}. This left "
        f"{plural(last['judgments_left'], 'judgment')} by {plural(last['participants_left'], 'participant')}"
        f"{f', {each}' if each else ''}."
    )


def _judgments_of_each(numbers: dict[str, Any]) -> str:
    """Write the range of the number of kept judgments of each pair or sentence."""
    low, high = numbers["counts"]["judgments_per_item"]
    if not high:
        return ""
    number = plural(high, "judgment") if low == high else f"{count(low)} to {count(high)} judgments"
    return f"{number} of each {'pair' if numbers['task'] == 'forced_choice' else 'sentence'}"


def _rule(rule: str) -> str:
    if rule in RULES:
        return RULES[rule]
    if "/" in rule:
        right, of = rule.split("/")
        return f"a paradigm was included if at least {right} of every {of} items had the expected majority"
    return f"a paradigm was included if its mean individual agreement was at least {rule}"


def _removed_counts(row: dict[str, Any]) -> str:
    removed = [
        plural(row[f"{unit}s_removed"], unit)
        for unit in ("participant", "session", "judgment")
        if row[f"{unit}s_removed"]
    ]
    return ", ".join(removed) or "none"


def describe_criterion(step: dict[str, Any]) -> str:
    """Describe the criterion of an exclusion step."""
    criterion = CRITERIA.get(step["rule"])
    return criterion.reason if criterion else readable(step["name"])


def _analysis(numbers: dict[str, Any]) -> str:
    task, rule = numbers["task"], numbers["agreement"].get("rule")
    words = []
    if task in RATING_TASKS:
        measure = "Magnitude estimates" if task == "magnitude_estimation" else "Ratings"
        words.append(
            f"{measure} were standardized within participants over target and filler trials (ddof 1; Schütze "
            "& Sprouse 2013)."
        )
        if scales := scales_sentence((numbers.get("conditions") or {}).get("scales", [])):
            words.append(scales)
        words += [*unusable_estimates_sentences(numbers), *_without_scale(numbers)]
    if rule:
        words.append(f"For inclusion, {_rule(rule)}.")
    if agreement_sentences(numbers):
        words += _interval_methods(numbers["agreement"])
    return " ".join(words)


def _interval_methods(agreement: dict[str, Any]) -> list[str]:
    """Name the methods of the intervals over participants, that of the overall number first."""
    blocks = [agreement["overall_included"], *agreement["paradigms"]]
    names = dict.fromkeys(INTERVALS[row["ci_method"]] for row in blocks if row["ci_method"] in INTERVALS)
    if not names:
        return []
    first, *other_names = names
    of_some = f"; some paradigms have {join_list(other_names)}" if other_names else ""
    return [f"Confidence intervals of agreement are {first}{of_some}."]


def _without_scale(numbers: dict[str, Any]) -> list[str]:
    """Count the participants whose ratings cannot be standardized."""
    left_out = numbers.get("conditions", {}).get("without_z") or {}
    clauses = [
        f"{plural(left_out[status], 'participant')} {why}"
        for status, why in NOT_SCALED.items()
        if left_out.get(status)
    ]
    if not clauses:
        return []
    return [f"{join_list(clauses)}: {plural(left_out['judgments'], 'judgment')} without z."]


def unusable_estimates_sentences(numbers: dict[str, Any]) -> list[str]:
    """Say what became of magnitude estimates of zero and below."""
    magnitudes = numbers.get("conditions", {}).get("magnitudes") or {}
    sentences = []
    if magnitudes.get("zeros"):
        people = plural(magnitudes["zero_participants"], "participant")
        sentences.append(
            f"{plural(magnitudes['zeros'], 'estimate')} of zero ({people}) entered raw numbers and z; "
            "zero has no logarithm, so logarithms were computed without."
        )
    if magnitudes.get("negative"):
        verb = "was" if magnitudes["negative"] == 1 else "were"
        sentences.append(f"{plural(magnitudes['negative'], 'negative estimate')} {verb} left out.")
    return sentences
