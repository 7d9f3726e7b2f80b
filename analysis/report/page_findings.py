"""The finding of each results page: one sentence with its main number and interval, or an empty text."""

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from ..aggregation.proportions import wilson_interval
from ..comparison.in_depth.linking import NAMES
from ..comparison.leaderboard import PEOPLE
from ..rows import MIN_RATINGS
from ..text import plural
from .wording import RATING_UNITS, count, decimal, join_list, p_value, readable, share

PREFERRED = ("mixed_model", "two_tailed", "direction")
NOT_SCALED = {"constant": "gave one rating throughout", "too_few": f"gave fewer than {MIN_RATINGS} ratings"}
NO_SIGNAL = "no signal"
TESTS = {
    "mixed_model": "over participants and items (mixed model)",
    "two_tailed": "by a two-tailed test, over these items only",
    "direction": "in their direction",
}


def interval(low: float | None, high: float | None, *, percent: bool = False, digits: int = 2) -> str:
    """Write an interval as a parenthesis; empty if it is undefined.

    Examples
    --------
    >>> interval(0.71, 0.96), interval(0.5, 0.75, percent=True), interval(None, None)
    (' (95 % CI 0.71 to 0.96)', ' (95 % CI 50.0 to 75.0 %)', '')
    """
    if low is None or high is None:
        return ""
    factor, digits, unit = (100, 1, " %") if percent else (1, digits, "")
    return f" (95 % CI {decimal(factor * low, digits)} to {decimal(factor * high, digits)}{unit})"


def format_share(k: int, n: int, noun: str) -> str:
    """Write k of n with the share and its Wilson interval, which a single participant does not have.

    Examples
    --------
    >>> format_share(3, 24, "participant"), format_share(1, 1, "participant")
    ('3 of 24 participants, 12.5 % (95 % CI 4.3 to 31.0 %)', '1 of 1 participant')
    """
    counts = f"{count(k)} of {plural(n, noun)}"
    if n < 2:
        return counts
    low, high = (float(end) for end in wilson_interval(k, n))
    return f"{counts}, {share(k / n)}{interval(low, high, percent=True)}"


def participants_finding(people: pd.DataFrame, measure: str) -> str:
    """Write how many participants have a quality signal or a flag, and the median agreement with the others.

    Examples
    --------
    >>> people = pd.DataFrame({"agreement": [0.9, 0.8], "state": ["no signal", "quality signal or flag"]})
    >>> participants_finding(people, "r")
    'Quality signals or flags mark 1 of 2 participants, 50.0 % (95 % CI 9.5 to 90.5 %); the median r is 0.85.'
    """
    if not len(people):
        return ""
    n_marked = int((people["state"] != NO_SIGNAL).sum())
    median = float(people["agreement"].median())
    middle = (
        f"; the median {measure} is {share(median) if measure.startswith('share') else decimal(median, 2)}"
        if len(people) > 1
        else ""
    )
    return f"Quality signals or flags mark {format_share(n_marked, len(people), 'participant')}{middle}."


def live_finding(
    n_complete: int,
    *,
    target: int | None,
    n_live: int,
    n_started: int,
    n_lost: int,
    median_time: str | None,
) -> str:
    """Write how many participants are complete or in session, the median time, and how many dropped out."""
    total = count(n_complete) + (f" of {count(target)}" if target else "")
    noun = "participant" if (target or n_complete) == 1 else "participants"
    parts = [
        f"{total} {noun} {_are(n_complete)} complete, {count(n_live)} {_are(n_live)} in session now",
        f"half took less than {median_time} minutes" if median_time and n_complete > 1 else "",
        f"{format_share(n_lost, n_started, 'session')}{',' if n_started > 1 else ''} dropped out"
        if n_started
        else "",
    ]
    return f"{'; '.join(part for part in parts if part)}."


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def agreement_finding(report: dict[str, Any]) -> str:
    """Write how many judgments agree with the expected labels, and which paradigms the rule includes."""
    block = report["overall_included"] if report["rule"] else report["overall"]
    overall = report["overall"]
    rule = (
        f"{overall['included']} of {plural(overall['paradigms'], 'paradigm')} "
        f"{'meets' if overall['included'] == 1 else 'meet'} the rule {report['rule']}"
        if report["rule"]
        else ""
    )
    if block["individual_agreement"] is None:
        return f"{rule}." if rule else ""
    ends = interval(block["ci_low"], block["ci_high"], percent=True)
    text = f"{share(block['individual_agreement'])} of judgments are as expected{ends}"
    if block["items"]:
        majority = f"{count(block['items_right'])} of {plural(block['items'], 'item')}"
        text = f"{text}, and the majority is in {majority}"
    return f"{rule}; in these, {text}." if rule else f"{text}."


def selection_sentence(report: dict[str, Any]) -> str:
    """Write that included paradigms were selected by the same judgments, and the corrected agreement.

    Examples
    --------
    >>> selection_sentence(
    ...     {"cross_fitted": {"individual_agreement": 0.87, "paradigms": 8.9, "status": "ok"}}
    ... )  # doctest: +NORMALIZE_WHITESPACE
    'Measured by participants who had no part in the selection, individual agreement with the included
    paradigms (8.9 on average) is 87.0 %.'
    """
    cross_fitted = report.get("cross_fitted")
    if not cross_fitted:
        return (
            "The included paradigms were selected by the same judgments, which makes their agreement "
            "slightly too high on average."
        )
    if cross_fitted["individual_agreement"] is None:
        return (
            "Without a tenth of the participants the rule includes no paradigm, so nothing can be corrected."
        )
    return (
        "Measured by participants who had no part in the selection, individual agreement with the included "
        f"paradigms ({cross_fitted['paradigms']:.1f} on average) is "
        f"{share(cross_fitted['individual_agreement'])}."
    )


def reliability_finding(report: dict[str, Any]) -> str:
    """Write how well other humans would reproduce the means, and the ceiling for models."""
    halves = [half for half in report["split_half"] if half["spearman_brown"] is not None]
    if not halves:
        return ""
    half = halves[0]
    ends = interval(half["ci_low"], half["ci_high"])
    ceiling = (
        f", so a perfect model reaches r = {decimal(half['ceiling_model'], 2)}"
        if half["ceiling_model"] is not None
        else ""
    )
    return (
        f"As many other people would give means of {half['unit']}s that correlate "
        f"{decimal(half['spearman_brown'], 2)}{ends} with these{ceiling}."
    )


def effects_finding(report: dict[str, Any]) -> str:
    """Write the size of the contrast, or how many contrasts hold."""
    effects = [row for row in report.get("effects") or [] if row["mean_difference"] is not None]
    if len(effects) == 1:
        effect = effects[0]
        rows = {row["analysis"]: row for row in report["analyses"]}
        mixed, tested = rows["mixed_model"], rows["two_tailed"]
        scope = " over these items only"
        if mixed["p"] is not None:
            unit = " logits" if mixed["method"].startswith("logit") else ""
            difference = f"{decimal(mixed['estimate'], 2)}{unit}"
            tested, scope = mixed, " over participants and items (mixed model)"
            ends = interval(mixed["ci_low"], mixed["ci_high"])
        else:
            difference = decimal(effect["mean_difference"], 2)
            ends = interval(effect["ci_low"], effect["ci_high"])
        # A test of counts has no difference in units of the scale; its interval is left out.
        p = f", p {_p(tested['p'])}," if tested["p"] is not None else ""
        sides = report.get("conditions")
        contrast = f"The contrast {sides[0]} − {sides[1]}" if sides else "The expected contrast"
        return f"{contrast} is {difference}{ends}{p}{scope}."
    rates = {row["analysis"]: row for row in report.get("rates") or []}
    name = next((name for name in PREFERRED if rates.get(name, {}).get("estimable")), None)
    if name is None:
        return ""
    rate = rates[name]
    verb = "holds" if rate["estimable"] == 1 else "hold"
    hold = f"{rate['converges']} of {plural(rate['estimable'], 'contrast')} {verb} {TESTS[name]}"
    if rate["estimable"] == 1:
        return f"{hold}."
    ends = interval(rate["ci_low"], rate["ci_high"], percent=True)
    return f"{hold}: {share(rate['rate'])}{ends}."


def left_out_sentence(effects: dict[str, Any]) -> str:
    """Write how many ratings have no score, why, and what keeps them; empty if all have one.

    Examples
    --------
    >>> counts = {"judgments": 30, "participants": 30, "constant": 0, "too_few": 30}
    >>> left_out_sentence({"transform": "z", "left_out": counts})
    '30 ratings of 30 participants have no z (30 gave fewer than 4 ratings) and are left out; raw are kept.'
    """
    counts = effects.get("left_out") or {"judgments": 0}
    if not counts["judgments"]:
        return ""
    reasons = [f"{counts[status]} {why}" for status, why in NOT_SCALED.items() if counts[status]]
    why = f" ({join_list(reasons)})" if reasons else ""
    verb = ("has", "is") if counts["judgments"] == 1 else ("have", "are")
    return (
        f"{plural(counts['judgments'], 'rating')} of {plural(counts['participants'], 'participant')} "
        f"{verb[0]} no {RATING_UNITS[effects['transform']]}{why} and {verb[1]} left out; raw are kept."
    )


def ordinal_finding(report: dict[str, Any]) -> str:
    """Write the contrast in logits, or in how many contrasts it is above 0."""
    rows = [row for row in report["rows"] if row["beta"] is not None and row["se"] is not None]
    if not rows:
        return ""
    if len(rows) == 1:
        beta, half = rows[0]["beta"], 1.96 * rows[0]["se"]
        ends = interval(beta - half, beta + half) if rows[0]["participants"] > 1 else ""
        return f"Acceptable sentences are {decimal(beta, 2)} logits above unacceptable ones{ends}."
    above = sum(row["beta"] - 1.96 * row["se"] > 0 for row in rows)
    return f"The interval of the contrast is above 0 logits in {above} of {len(rows)} contrasts."


def unknown_power_sentence(report: dict[str, Any]) -> str:
    """Name the contrasts of a pilot whose power is unknown, with the reasons; empty without any.

    Examples
    --------
    >>> unknown_power_sentence({"left_out": [{"phenomenon": "islands", "reason": "too few items"}]})
    'Power is unknown for 1 contrast: islands (too few items).'
    """
    rows = report.get("left_out", [])  # absent from stored reports of version 0.2.0
    if not rows:
        return ""
    names: dict[str, list[str]] = {}
    for row in rows:
        names.setdefault(row["reason"], []).append(readable(row["phenomenon"]) or "not named")
    parts = "; ".join(f"{join_list(group)} ({reason})" for reason, group in names.items())
    return f"Power is unknown for {plural(len(rows), 'contrast')}: {parts}."


def posterior_sentence(posterior: dict[str, Any]) -> str:
    """Write a posterior of the Bayesian ordinal model, and whether its sampler converged."""
    ends = interval(posterior["ci_low"], posterior["ci_high"])
    quality = (
        f"; not converged: R-hat {decimal(posterior['r_hat'], 3)}, "
        f"{count(int(posterior['ess']))} effective draws, "
        f"{plural(posterior['divergences'], 'divergence')}; do not use it"
        if posterior["status"] != "ok"
        else ""
    )
    return (
        f"posterior: {decimal(posterior['beta'], 2)} logits{ends}, "
        f"P(β > 0) {decimal(posterior['above_zero'])}{quality}"
    )


def exclusions_finding(report: dict[str, Any]) -> str:
    """Write how many participants and judgments stay, and what that does to the main result."""
    first, last = report["flow"][0], report["flow"][-1]
    if not report["plan"]["steps"]:
        return (
            f"Nothing is excluded: {plural(first['judgments_left'], 'judgment')} by "
            f"{plural(first['participants_left'], 'participant')} are analysed."
        )
    text = (
        f"{format_share(last['participants_left'], first['participants_left'], 'participant')}, and "
        f"{count(last['judgments_left'])} of {plural(first['judgments_left'], 'judgment')} stay"
    )
    rows = {row["recipe"]: row for row in report["sensitivity"]}
    for measure, name in (("individual_agreement", "individual agreement"), ("alpha", "α")):
        values = [rows[recipe][measure] for recipe in ("plan", "none") if recipe in rows]
        if len(values) == 2 and None not in values:
            written = [share(value) if measure != "alpha" else decimal(value) for value in values]
            return f"{text}; {name} is {written[0]} with the exclusions and {written[1]} without them."
    return f"{text}."


def items_finding(table: pd.DataFrame) -> str:
    """Write in how many items the majority is as expected, and how many are tied."""
    judged = table[table["n"] > 0] if "n" in table else table.iloc[:0]
    decided = judged[judged["majority"].isin(["expected", "unexpected", "tie"])]
    if not len(decided):
        return ""
    k, n = int((decided["majority"] == "expected").sum()), len(decided)
    low, high = (float(end) for end in wilson_interval(k, n))
    ties = int((decided["majority"] == "tie").sum())
    tied = f"; {ties} {'is' if ties == 1 else 'are'} tied" if ties else ""
    ends = interval(low, high, percent=True)
    return f"The majority is as expected in {k} of {plural(n, 'item')}, {share(k / n)}{ends}{tied}."


def scales_sentence(scales: Sequence[str]) -> str:
    """Write that ratings on several scales are kept apart; empty for one scale.

    Examples
    --------
    >>> scales_sentence(["likert 1–7", "slider 0–100"])
    'Ratings are on 2 scales (likert 1–7 and slider 0–100): standardized and averaged on each separately.'
    """
    if len(scales) < 2:
        return ""
    names = join_list([readable(name) for name in scales])
    return f"Ratings are on {len(scales)} scales ({names}): standardized and averaged on each separately."


def ratings_finding(conditions: dict[str, Any]) -> str:
    """Write the highest and the lowest condition with their intervals."""
    rows = [row for row in conditions.get("conditions") or [] if row["mean"] is not None]
    if len(rows) < 2:
        return ""
    rows.sort(key=lambda row: -row["mean"])
    best, worst = (
        f"{readable(row['condition'] or 'not named')}, {decimal(row['mean'], 2)}"
        f"{interval(row['ci_low'], row['ci_high'])}"
        for row in (rows[0], rows[-1])
    )
    return f"The highest mean is that of {best}; the lowest that of {worst}."


def times_finding(report: dict[str, Any]) -> str:
    """Write the surest ratio of response times, or the slowest and the fastest condition."""
    tested = [row for row in report["contrasts"] if row["p"] is not None]
    if tested:
        surest = min(tested, key=lambda row: float(row["p"]))
        of = readable(surest[report["by"]])
        n = len(tested)
        significant = sum(row["p_participants_holm"] < 0.05 for row in tested)
        among = f", the clearest of {n} contrasts; p < .05 (Holm) in {significant} of {n}"
        is_labelled = surest["slow"] == "unacceptable" and surest["fast"] == "acceptable"
        subject, other = (
            ("Unacceptable sentences take", "acceptable ones")
            if is_labelled
            else (f"Condition {readable(surest['slow'])} takes", readable(surest["fast"]))
        )
        low, high = surest["simultaneous"]
        lead = "Whether response times differ is open: " if low is None or low <= 1 <= high else ""
        subject = f"{subject[0].lower()}{subject[1:]}" if lead else subject
        return (
            f"{lead}{subject} {decimal(surest['ratio'], 2)} times as long as {other}"
            f"{_among(interval(low, high), 'contrasts', n if n > 1 else None)}"
            f"{f' in {of}' if of else ''}{among if n > 1 else ''}."
        )
    rows = sorted(report["conditions"], key=lambda row: float(row["geometric_mean"]))
    if not rows:
        return ""
    extremes = [
        f"{readable(row['condition'] or 'all trials')}, {count(row['geometric_mean'])} ms"
        f"{interval(row['ci_low'], row['ci_high'], digits=0)}"
        for row in (rows[-1], rows[0])
    ]
    if len(rows) == 1:
        return f"The geometric mean is that of {extremes[0]}."
    return f"The longest geometric mean is that of {extremes[0]}; the shortest that of {extremes[1]}."


def multiverse_finding(report: dict[str, Any]) -> str:
    """Write how many specifications agree with the study's own."""
    summary = report["summary"]
    n = summary["estimated"]
    if not n:
        return ""
    current = next((row for row in report["specifications"] if row["is_current"]), None)
    has_own = current is not None and summary["rank"] is not None
    sign = "the sign of the study's own" if has_own else "the sign of the median"
    own_specification = ""
    if current is not None and has_own:
        own_specification = (
            f"; the study's own is {decimal(current['estimate'], 2)}"
            f"{interval(current['ci_low'], current['ci_high'])}, rank {summary['rank']} from the lowest"
        )
    return (
        f"{summary['same_sign']} of {plural(n, 'specification')} have {sign}, "
        f"{summary['significant_same_sign']} of them with p < .05; estimates range from "
        f"{decimal(summary['low'], 2)} to {decimal(summary['high'], 2)}{own_specification}."
    )


def power_finding(report: dict[str, Any], cost: str) -> str:
    """Write the smallest design with enough power, its simulation error and cost."""
    smallest = report["smallest"]
    if smallest is None:
        best = max(report["designs"], key=lambda design: float(design["power"]))
        return (
            f"None of these sizes has a power of .80; {plural(best['participants'], 'participant')} with "
            f"{plural(best['items'], 'item')} have {decimal(best['power'], 2)}{_simulation_note(best)}: "
            f"{report['analysis']}."
        )
    price = f", for {cost}" if cost else ""
    return (
        f"{plural(smallest['participants'], 'participant')} with {plural(smallest['items'], 'item')} have a "
        f"power of {decimal(smallest['power'], 2)}{_simulation_note(smallest)}{price}: {report['analysis']}."
    )


def _simulation_note(design: dict[str, Any]) -> str:
    half = 1.96 * (design["mc_error"] or 0)
    if not half:
        return ""
    low, high = max(0.0, design["power"] - half), min(1.0, design["power"] + half)
    return f" ({decimal(low, 2)} to {decimal(high, 2)} over simulations)"


def progress_finding(report: dict[str, Any]) -> str:
    """Write agreement so far with the interval that holds at all looks, and the open decisions."""
    block = report["overall"]
    if block["mean"] is None:
        return ""
    # One participant's interval would be that of a single number.
    has_interval = block["participants"] > 1
    ends = f" (95 % at all looks {share(block['low'])} to {share(block['high'])})" if has_interval else ""
    return (
        f"So far {share(block['mean'])} of judgments are as expected{ends}; {block['included']} of "
        f"{plural(block['paradigms'], 'paradigm')} {_are(block['included'])} included, and "
        f"{block['open']} could still change."
    )


def comparison_finding(report: dict[str, Any]) -> str:
    """Write the model whose differences follow human best, beside the ceiling.

    That they follow is said where the interval excludes 0; without an interval, the number of pairs is said.
    Models without a score for pairs that others have are named apart: other pairs may be easier.

    Examples
    --------
    >>> model = {"model": "gpt2", "pearson_r": 0.73, "pairs": 5, "intervals": {"pearson_r": None}}
    >>> report = {"models": [model], "baselines": {"human_ceiling": None}}
    >>> comparison_finding(report)
    "Whether the differences of gpt2 follow people's is open: r = 0.73, over 5 pairs, without an interval."
    >>> comparison_finding({**report, "models": [{**model, "intervals": {"pearson_r": [-0.2, 0.9]}}]})
    "Whether the differences of gpt2 follow people's is open: r = 0.73 (95 % CI −0.20 to 0.90)."
    >>> comparison_finding({**report, "models": [{**model, "intervals": {"pearson_r": [0.5, 0.9]}}]})
    "The differences of gpt2 follow people's: r = 0.73 (95 % CI 0.50 to 0.90)."
    >>> other = {**model, "model": "bert", "pearson_r": 0.9, "pairs": 2}
    >>> comparison_finding({**report, "models": [model, other]})[-84:]
    'over 5 pairs, without an interval. Scored on fewer pairs and not counted here: bert.'
    """
    rows, apart = _over_most_pairs([row for row in report["models"] if row["pearson_r"] is not None])
    if not rows:
        judged, apart = _over_most_pairs([row for row in report["models"] if row["blimp"] is not None])
        return _pairs_right(max(judged, key=lambda row: float(row["blimp"]))) + apart if judged else ""
    return _correlation_finding(rows, report) + apart


def _over_most_pairs(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """Return the models scored on the most pairs, and a sentence that names the others."""
    most = max((row["pairs"] for row in rows), default=0)
    fewer = [row["model"] for row in rows if row["pairs"] < most]
    apart = f" Scored on fewer pairs and not counted here: {join_list(fewer)}." if fewer else ""
    return [row for row in rows if row["pairs"] == most], apart


def _correlation_finding(rows: list[dict[str, Any]], report: dict[str, Any]) -> str:
    best = max(rows, key=lambda row: float(row["pearson_r"]))
    corrected = best["intervals"].get("simultaneous")
    low, high = (corrected or best["intervals"])["pearson_r"] or (None, None)
    noise = (report["baselines"]["human_ceiling"] or {}).get("correlation") or {}
    reach = noise.get("model")
    ceiling = f", of {decimal(reach, 2)} that a perfect model reaches" if reach is not None else ""
    ends = _among(interval(low, high), "models", corrected and corrected["models"])
    r = f"r = {decimal(best['pearson_r'], 2)}{ends}{ceiling}"
    highest = f", the highest of {len(rows)} models" if len(rows) > 1 else ""
    if best["pearson_r"] <= 0:
        return f"The differences of {best['model']} do not follow people's: {r}{highest}."
    if low is None:
        r = f"{r}, over {plural(best['pairs'], 'pair')}, without an interval"
    if low is None or low <= 0:
        return f"Whether the differences of {best['model']} follow people's is open: {r}{highest}."
    among = f" best of {len(rows)} models" if len(rows) > 1 else ""
    return f"The differences of {best['model']} follow people's{among}: {r}."


def _pairs_right(model: dict[str, Any]) -> str:
    corrected = model["intervals"].get("simultaneous")
    low, high = (corrected or model["intervals"])["blimp"] or (None, None)
    ends = _among(interval(low, high, percent=True), "models", corrected and corrected["models"])
    best = f", the most of {corrected['models']} models" if corrected else ""
    return f"{model['model']} gets {share(model['blimp'])} of pairs right{best}{ends}."


def _among(ends: str, noun: str, n: int | None) -> str:
    """Name the number of results that an interval was widened for.

    Examples
    --------
    >>> _among(" (95 % CI 0.10 to 0.90)", "models", 5)
    ' (95 % CI for all 5 models together 0.10 to 0.90)'
    """
    if not n:
        return ends
    all_of_them = f"both {noun}" if n == 2 else f"all {n} {noun}"
    return ends.replace("95 % CI", f"95 % CI for {all_of_them} together")


def leaderboard_finding(rows: list[dict[str, Any]], key: str, title: str) -> str:
    """Write the first model of a leaderboard in the column that it is sorted by."""
    first = next((row for row in rows if row["rank"] == 1 and row.get(key) is not None), None)
    if first is None or key == "model":
        return ""
    ends = interval(first.get(f"{key}_low"), first.get(f"{key}_high"), digits=3)
    n = sum(row["kind"] == "model" for row in rows)
    of = f"first of {n} models" if n > 1 else "the only model"
    chance = first.get(f"{key}_chance")
    beside = f"; chance is {decimal(chance)}" if chance is not None else ""
    low, high = first.get("rank_low"), first.get("rank_high")
    rank = ""
    if n > 1 and low is not None:
        ranks = f"{low}" if low == high else f"{low} to {high}"
        rank = f"; its rank, corrected for {n} models, is {ranks}"
    left_out = first.get("left_out")
    over = f", over {plural(first['pairs'], 'pair')} ({left_out} without a score)" if left_out else ""
    return f"{first['model']} is {of} by {title}: {decimal(first[key])}{ends}{over}{beside}{rank}."


def depth_finding(name: str, depth: dict[str, Any], report: dict[str, Any]) -> str:
    """Write the main number of one section of an in-depth comparison; empty where it has no rows.

    Examples
    --------
    >>> row = {"model": "gpt2", "labels": "expected", "n": 60, "mcc": 0.5, "tp": 25, "tn": 20}
    >>> depth_finding("decisions", {"decisions": [row]}, {})[:80]
    'gpt2 decides 45 of 60 sentences, 75.0 % (95 % CI 62.8 to 84.2 %), as expected; t'
    >>> row = {"predictor": "length", "judge": "people", "r": -0.31, "ci_low": -0.5, "ci_high": -0.1}
    >>> depth_finding("predictors", {"predictors": [row]}, {})
    'Whether people are right goes with length: r = −0.31 (95 % CI −0.50 to −0.10).'
    """
    return DEPTH_FINDINGS[name](depth, report)


def _correlations_finding(depth: dict[str, Any], report: dict[str, Any]) -> str:
    cells = [cell for cell in depth["correlations"]["deltas"] if cell["pearson_r"] is not None]
    beside_people = [cell for cell in cells if PEOPLE in (cell["a"], cell["b"])]
    if not cells:
        return ""
    best = max(beside_people or cells, key=lambda cell: (cell["n"], float(cell["pearson_r"])))
    r = f"r = {decimal(best['pearson_r'], 2)}{interval(best['ci_low'], best['ci_high'])}"
    if not beside_people:
        return f"The differences of {best['a']} and {best['b']} correlate most among the models: {r}."
    model = best["b"] if best["a"] == PEOPLE else best["a"]
    comparable = sum(cell["n"] == best["n"] for cell in beside_people)
    among = f", the highest of {comparable} models" if comparable > 1 else ""
    if comparable < len(beside_people):
        among += f" with {plural(best['n'], 'pair')}"
    return f"The differences of {model} correlate with people's by {r}{among}."


def _curves_finding(depth: dict[str, Any], report: dict[str, Any]) -> str:
    # PostgreSQL stores the keys of a document by their length, so their order says nothing.
    key = min(report["baselines"]["constant"]["adc"], key=float, default="")
    rows, apart = _over_most_pairs([row for row in report["models"] if row["adc"].get(key) is not None])
    if not rows:
        return ""
    best = max(rows, key=lambda row: float(row["adc"][key]))
    low, high = best["intervals"]["adc"].get(key) or (None, None)
    among = f", the highest of {len(rows)} models" if len(rows) > 1 else ""
    ceiling = (report["baselines"]["human_ceiling"] or {}).get("adc") or {}
    other_judges = (
        ("one answer for every pair", report["baselines"]["constant"]["adc"][key]),
        ("another sample of people", ceiling.get(key)),
    )
    beside = " and ".join(
        f"{judge} has {decimal(value)}" for judge, value in other_judges if value is not None
    )
    return (
        f"At δ = {key} the ADC of {best['model']} is {decimal(best['adc'][key])}"
        f"{interval(low, high, digits=3)}{among}{'; ' if beside else ''}{beside}.{apart}"
    )


def _tests_finding(depth: dict[str, Any], report: dict[str, Any]) -> str:
    rows = [row for row in depth["tests"] if row["criterion"] == "blimp"]
    defined = [row for row in rows if row["difference"] is not None]
    if not defined:
        return ""
    # The most pairs decide among equal p, which models that share few pairs may have.
    surest = min(defined, key=lambda row: (1.0 if row["p"] is None else row["p"], -row["pairs"]))
    better, worse = surest["a"], surest["b"]
    points, ends = 100 * float(surest["difference"]), (surest["ci_low"], surest["ci_high"])
    low, high = (None if end is None else 100 * end for end in ends)
    if points < 0:
        better, worse, points = worse, better, -points
        low, high = (None if end is None else -end for end in (high, low))
    p = f", p {_p(surest['p_holm'])} by Holm" if surest["p_holm"] is not None else ""
    text = (
        f"the accuracy of {better} is {decimal(points, 1)} points above that of {worse}"
        f"{interval(low, high, digits=1)}{p}"
    )
    if len(rows) == 1:
        return f"{text[0].upper()}{text[1:]}."
    n_apart = sum(row["p_holm"] is not None and row["p_holm"] < 0.05 for row in rows)
    verb = "differs" if n_apart == 1 else "differ"
    return (
        f"{n_apart} of {plural(len(rows), 'pair')} of models {verb} by the BLiMP criterion "
        f"(p < .05 by Holm); most clearly, {text}."
    )


def _linking_finding(depth: dict[str, Any], report: dict[str, Any]) -> str:
    rows = [row for row in depth["linking"] if row["r_cross_validated"] is not None]
    if not rows:
        return ""
    best = max(rows, key=lambda row: float(row["r_cross_validated"]))
    text = (
        f"Human scores follow those of {best['model']} best by {NAMES[best['function']]}: "
        f"r = {decimal(best['r_cross_validated'], 2)}{interval(best['ci_low'], best['ci_high'])}"
    )
    if best["gain"] is not None:
        ends = interval(best["gain_low"], best["gain_high"])
        text += f" for other items, {decimal(best['gain'], 2)} above SLOR{ends}"
    return f"{text}; the highest of {plural(len(rows), 'function')}, chosen afterwards."


def _surprisal_finding(depth: dict[str, Any], report: dict[str, Any]) -> str:
    estimated = [
        (row, term) for row in depth["surprisal"] for term in row["terms"] if term["term"] == "surprisal"
    ]
    if not estimated:
        return ""
    row, slope = max(estimated, key=lambda pair: abs(pair[1]["statistic"] or 0.0))
    covariates = [term["term"] for term in row["terms"][2:]]
    held = f", with {join_list(covariates)} held constant" if covariates else ""
    many = len(estimated) > 1
    of = f" by Holm; of {plural(len(estimated), 'model')} the clearest, chosen afterwards" if many else ""
    p = _p(row["p_holm"]) if row["p_holm"] is not None else "not defined"
    return (
        f"For each SD of surprisal of {row['model']}, ratings change by {decimal(slope['estimate'], 2)} z"
        f"{interval(slope['ci_low'], slope['ci_high'])}{held}, p {p}{of}."
    )


def _abilities_finding(depth: dict[str, Any], report: dict[str, Any]) -> str:
    rows = [row for row in depth["abilities"]["models"] if row["ability"] is not None]
    if not rows:
        return ""
    best = max(rows, key=lambda row: float(row["ability"]))
    among = f", the most able of {len(rows)} models" if len(rows) > 1 else ""
    return (
        f"The ability of {best['model']} is {decimal(best['ability'], 2)} SD of participants"
        f"{interval(best['ci_low'], best['ci_high'])}, above {share(best['above'])} of them{among}."
    )


def _predictors_finding(depth: dict[str, Any], report: dict[str, Any]) -> str:
    rows = [row for row in depth["predictors"] if row["r"] is not None]
    if not rows:
        return ""
    strongest = max(rows, key=lambda row: abs(row["r"]))
    predictor = strongest["predictor"].replace("_", " ")
    judge = "people are" if strongest["judge"] == PEOPLE else f"{strongest['judge']} is"
    among = f", the strongest of {len(rows)} associations" if len(rows) > 1 else ""
    return (
        f"Whether {judge} right goes with {predictor}: r = {decimal(strongest['r'], 2)}"
        f"{interval(strongest['ci_low'], strongest['ci_high'])}{among}."
    )


def _prefixes_finding(depth: dict[str, Any], report: dict[str, Any]) -> str:
    rows = [row for row in depth["prefixes"] if row["group"] == "all"]
    if not rows:
        return ""
    widest = max(rows, key=lambda row: abs(row["difference"]))
    return (
        f"By {readable(widest['method'])}, {widest['name']} gets {share(widest['accuracy'])} of pairs right"
        f"{interval(widest['ci_low'], widest['ci_high'], percent=True)}, by whole sentences "
        f"{share(widest['whole_accuracy'])}."
    )


def _learning_finding(depth: dict[str, Any], report: dict[str, Any]) -> str:
    rows = [
        row for row in depth["learning"] if row["group"] == "all" and row["slope_per_doubling"] is not None
    ]
    if not rows:
        return ""
    steepest = max(rows, key=lambda row: float(row["slope_per_doubling"]))
    gain, ends = 100 * steepest["slope_per_doubling"], (steepest["ci_low"], steepest["ci_high"])
    low, high = (None if end is None else 100 * end for end in ends)
    change = "gains" if gain >= 0 else "loses"
    if gain < 0:
        gain, low, high = -gain, *(None if end is None else -end for end in (high, low))
    among = f", most of {len(rows)} families" if len(rows) > 1 else ""
    return (
        f"With each doubling of the training text, {steepest['family']} {change} {decimal(gain, 1)} points "
        f"of accuracy{interval(low, high, digits=1)}{among}."
    )


def _filtered_finding(depth: dict[str, Any], report: dict[str, Any]) -> str:
    rows = [row for row in depth["filtered"]["deltas"] if row["accuracy_delta"] is not None]
    targeted = [row for row in rows if row["targeted"]]
    over_all = [row for row in rows if row["group"] == "all"]
    if not targeted and not over_all:
        return ""
    lowest = min(targeted or over_all, key=lambda row: float(row["accuracy_delta"]))
    group = (
        "all pairs" if lowest["group"] == "all" else f"{readable(lowest['group'])}, which the filter targets"
    )
    return (
        f"Trained without {readable(lowest['filter'])}, {lowest['family']} changes by "
        f"{decimal(lowest['accuracy_delta'], 1)} points of accuracy"
        f"{interval(lowest['ci_low'], lowest['ci_high'], digits=1)} on {group}."
    )


def _decisions_finding(depth: dict[str, Any], report: dict[str, Any]) -> str:
    rows = [row for row in depth["decisions"] if row["mcc"] is not None and row["n"]]
    if not rows:
        return ""
    best = max(rows, key=lambda row: float(row["mcc"]))
    key = "as expected" if best["labels"] == "expected" else "as most people do"
    return (
        f"{best['model']} decides {format_share(best['tp'] + best['tn'], best['n'], 'sentence')}, {key}; "
        f"the Matthews correlation is {decimal(best['mcc'])}."
    )


DEPTH_FINDINGS: dict[str, Callable[[dict[str, Any], dict[str, Any]], str]] = {
    "correlations": _correlations_finding,
    "curves": _curves_finding,
    "tests": _tests_finding,
    "linking": _linking_finding,
    "surprisal": _surprisal_finding,
    "abilities": _abilities_finding,
    "predictors": _predictors_finding,
    "prefixes": _prefixes_finding,
    "learning": _learning_finding,
    "filtered": _filtered_finding,
    "decisions": _decisions_finding,
}


def _p(number: float) -> str:
    written = p_value(number)
    return written if written.startswith("<") else f"= {written}"
