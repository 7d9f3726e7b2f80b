"""A methods paragraph ready for a paper, with its references."""

from typing import Any

from analysis.gold.facts import TASK_WORDS, Facts
from analysis.gold.labels import label_rule
from analysis.rows import RATING_TASKS

RULE_WORDS = {
    "blimp": (
        "a paradigm is included if a strict majority preferred the expected member in at least four of "
        "every five pairs (Warstadt et al. 2020)"
    ),
    "climp": "a paradigm is included if its mean accuracy is at least .85 (Xiang et al. 2021)",
}
TIE_WORDS = {"strict": "do not count as agreement", "half": "count one half", "drop": "are left out"}
REFERENCES = {
    "wilson": (
        "Brown, Cai & DasGupta (2001). Interval estimation for a binomial proportion. Statistical Science 16."
    ),
    "z": (
        "Schütze & Sprouse (2013). Judgment data. In Research Methods in Linguistics. "
        "Cambridge University Press."
    ),
    "blimp": (
        "Warstadt et al. (2020). BLiMP: The Benchmark of Linguistic Minimal Pairs for English. TACL 8."
    ),
    "climp": "Xiang et al. (2021). CLiMP: A Benchmark for Chinese Language Model Evaluation. EACL.",
    "flow": "Moher et al. (2010). CONSORT 2010 explanation and elaboration. BMJ 340.",
}


def methods_text(facts: Facts) -> str:
    """Write the methods paragraph: participants, task, exclusions, aggregation, agreement, references.

    Parameters
    ----------
    facts : Facts

    Returns
    -------
    str
        Markdown.

    See Also
    --------
    analysis.gold.card.dataset_card : The whole card.
    """
    sentences = [_collected(facts), facts.left_out, _aggregated(facts), *_agreement(facts), _made(facts)]
    cited = _cited(facts)
    return f"# Methods\n\n{' '.join(sentences)}\n\n## References\n\n" + "".join(
        f"- {line}\n" for line in cited
    )


def _collected(facts: Facts) -> str:
    counts = facts.counts
    when = ""
    if facts.first_answer:
        when = f" between {facts.first_answer[:10]} and {facts.last_answer[:10]}"
        when = when if facts.first_answer[:10] != facts.last_answer[:10] else f" on {facts.first_answer[:10]}"
    return (
        f"{facts.people} gave {counts.get('judgments', 0):,} judgments"
        f"{when}. The task was {TASK_WORDS.get(facts.task, facts.task)} (language: {facts.language})."
    )


def _aggregated(facts: Facts) -> str:
    if facts.task in RATING_TASKS:
        return (
            "Ratings were standardized within each participant (ddof 1, over target and filler trials, at "
            "least four ratings; participants who gave one answer throughout were left out) and averaged by "
            "sentence (Schütze & Sprouse 2013)."
        )
    return (
        f"Labels: {label_rule(facts.task)}; items with fewer than {facts.n_min} kept judgments are "
        "undecided. Intervals of single items are Wilson score intervals (Brown et al. 2001)."
        + (f" Participants could also answer without a choice: {facts.undecided}." if facts.undecided else "")
    )


def _agreement(facts: Facts) -> list[str]:
    if not facts.agreement:
        return []
    block = facts.agreement.get("overall_included" if facts.rule else "overall") or {}
    sentences = [_rule(facts)] if facts.rule else []
    shares = {name: block.get(name) for name in ("majority_agreement", "individual_agreement")}
    if shares["majority_agreement"] is not None:
        sentences.append(
            f"The majority agreed with the expected label on {block.get('items_right')} of "
            f"{block.get('items')} items ({_percent(shares['majority_agreement'])}; "
            f"ties {TIE_WORDS.get(facts.ties, facts.ties)})."
        )
    if shares["individual_agreement"] is not None:
        sentences.append(
            f"Individual agreement, the mean of item shares, was {_percent(shares['individual_agreement'])}"
            f"{_interval(block)}."
        )
    return sentences


def _rule(facts: Facts) -> str:
    words = RULE_WORDS.get(facts.rule, f"paradigms are included by the rule {facts.rule}")
    overall, kept = facts.agreement or {}, (facts.agreement or {}).get("overall_included") or {}
    judged = (overall.get("overall") or {}).get("paradigms", 0)
    return f"Inclusion: {words}; {kept.get('paradigms', 0)} of {judged} paradigms are included."


def _interval(block: dict[str, Any]) -> str:
    if block.get("ci_low") is None:
        return ""
    low, high = _percent(block["ci_low"]), _percent(block["ci_high"])
    return f" (95 % interval {low} to {high}, bootstrap over participants)"


def _made(facts: Facts) -> str:
    return f"The release was made by Obelus {facts.code_version} with seed {facts.seed}."


def _cited(facts: Facts) -> list[str]:
    keys = ["z"] if facts.task in RATING_TASKS else ["wilson"]
    keys += [facts.rule] if facts.rule in REFERENCES else []
    return sorted(REFERENCES[key] for key in [*keys, *(["flow"] if facts.flow else [])])


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
