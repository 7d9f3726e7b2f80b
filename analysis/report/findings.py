"""What a study found, in the sentences of a results paragraph."""

from typing import Any

from analysis.effects.convergence import ALPHA
from analysis.plurals import plural
from analysis.report.wording import bayes, count, decimal, ends, listed, p_value, readable, share
from analysis.rows import RATING_TASKS

TIES = {
    "strict": "ties do not count as agreement",
    "half": "ties count one half",
    "drop": "ties are left out",
}
MOST_LISTED = 6
"""So many interactions are told one by one."""


def agreement_words(numbers: dict[str, Any]) -> str:
    """Say how far people agree with the expected labels, and which paradigms a rule includes.

    Parameters
    ----------
    numbers : dict
        From :func:`analysis.report.numbers.report_numbers`.

    Returns
    -------
    str
    """
    found = numbers["agreement"]
    if "refused" in found or found["overall"]["individual_agreement"] is None:
        return ""
    block = found["overall_included"]
    words = [inclusion_words(numbers)] if found["rule"] else []
    over = "Over the included paradigms" if found["rule"] else "Overall"
    if block["majority_agreement"] is not None:
        n_min = found["conventions"]["n_min"]
        enough = f" with at least {n_min} judgments" if block["items_insufficient"] else ""
        words.append(
            f"{over}, the majority vote agreed with the expected label for {block['items_right']} of "
            f"{block['items']} {_unit(numbers)}{enough} ({share(block['majority_agreement'])}; "
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
    """Say how many paradigms the rule includes, and name those that it does not.

    Parameters
    ----------
    numbers : dict
        From :func:`analysis.report.numbers.report_numbers`.

    Returns
    -------
    str
    """
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
    """Give a paradigm's name within a sentence.

    Parameters
    ----------
    paradigm : str

    Returns
    -------
    str
    """
    return f"“{readable(paradigm)}”"


def reliability_words(numbers: dict[str, Any]) -> str:
    """Say how far annotators agree with each other.

    Parameters
    ----------
    numbers : dict
        From :func:`analysis.report.numbers.report_numbers`.

    Returns
    -------
    str
    """
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
    """Say how many contrasts hold.

    Parameters
    ----------
    numbers : dict
        From :func:`analysis.report.numbers.report_numbers`.

    Returns
    -------
    str
    """
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


def interaction_words(numbers: dict[str, Any]) -> str:
    """Say how large the interactions of 2×2 designs are, and how many differ from 0.

    Parameters
    ----------
    numbers : dict
        From :func:`analysis.report.numbers.report_numbers`.

    Returns
    -------
    str
    """
    found = numbers["effects"].get("interactions") or []
    known = [row for row in found if row["mixed"]["p"] is not None]
    if not known:
        return ""
    sizes = [f"{decimal(row['mixed']['estimate'], 2)} {_ends(row)}" for row in known]
    model = "mixed model with crossed random intercepts, 95 % CI"
    if len(known) == 1:
        p = p_value(known[0]["mixed"]["p"])
        said = f"p {p if p.startswith('<') else '= ' + p}"
        return f"The difference of differences of the 2×2 design was {sizes[0]} ({model}, {said})."
    if len(known) <= MOST_LISTED:
        named = [
            f"{size} ({readable(row[numbers['by']]) or 'all'})"
            for row, size in zip(known, sizes, strict=True)
        ]
        said = f"The differences of differences of the 2×2 designs were {listed(named)} ({model})"
    else:
        said = f"There were {len(known)} 2×2 designs ({model})"
    n = sum((row["p_holm"] or 0) < ALPHA for row in known)
    which = f"all {n}" if n == len(known) else f"{n} of {len(known)}"
    return f"{said}; {which} differed from 0 after Holm's correction."


def _ends(row: dict[str, Any]) -> str:
    return ends(row["mixed"]["ci_low"], row["mixed"]["ci_high"])


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


def _unit(numbers: dict[str, Any]) -> str:
    return {"forced_choice": "pairs", "yes_no": "sentences"}.get(numbers["task"], "items")
