"""Agreement of direct probabilities with answers to prompts, on the pairs that both judge."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from .judgment_prompts import PROMPT_METHODS


def method_agreement(scores: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Compare each direct measure of a model with each prompt, pair by pair.

    Parameters
    ----------
    scores : DataFrame, one row per sentence
        ``sentence_id`` and columns ``name:method``, as :func:`obelus.scoring.score_sentences` returns them.
    pairs : sequence of pairs of str
        ``sentence_id`` of the acceptable and of the unacceptable member.

    Returns
    -------
    list of dict
        For each direct method and prompt: ``direct``, ``prompt`` (names of columns), ``pairs`` with four
        scores, how many ``both``, ``direct_only``, ``prompt_only`` and ``neither`` prefer the acceptable
        member (equal scores prefer none), ``kappa`` (Cohen's, of these decisions) and ``r`` (Pearson's, of
        the differences); both None where undefined.

    References
    ----------
    Hu & Levy (2023), "Prompting is not a substitute for probability measurements in large language models",
    EMNLP.

    Examples
    --------
    >>> columns = {"sentence_id": list("abcd"), "m:lp": [-1, -2, -3, -4], "m:yes_no": [1, 0, 1, 2]}
    >>> scores = pd.DataFrame(columns)
    >>> report, = method_agreement(scores, [("a", "b"), ("c", "d")])
    >>> report["both"], report["direct_only"], report["kappa"], report["r"]
    (1, 1, 0.0, None)
    """
    columns = [str(column) for column in scores.columns[1:]]
    prompts = [column for column in columns if column.rpartition(":")[2] in PROMPT_METHODS]
    by_id = scores.drop_duplicates("sentence_id").set_index("sentence_id")
    scored_pairs = [(good, bad) for good, bad in pairs if good in by_id.index and bad in by_id.index]
    differences = pd.DataFrame({
        column: by_id[column].reindex([good for good, _ in scored_pairs]).to_numpy(float)
        - by_id[column].reindex([bad for _, bad in scored_pairs]).to_numpy(float)
        for column in columns
    })  # fmt: skip
    return [
        _agreement(differences, direct, prompt)
        for direct in columns
        if direct not in prompts
        for prompt in prompts
    ]


def _agreement(differences: pd.DataFrame, direct: str, prompt: str) -> dict[str, Any]:
    judged = differences[[direct, prompt]].dropna()
    first, second = (judged[column].to_numpy() for column in (direct, prompt))
    n = len(judged)
    both, either = int(((first > 0) & (second > 0)).sum()), int(((first > 0) | (second > 0)).sum())
    n_first, n_second = int((first > 0).sum()), int((second > 0).sum())
    kappa = r = None
    if n:
        observed = (both + n - either) / n
        expected = (n_first * n_second + (n - n_first) * (n - n_second)) / n**2
        kappa = (observed - expected) / (1 - expected) if expected < 1 else None
    if n > 2 and first.std() > 0 and second.std() > 0:
        r = float(np.corrcoef(first, second)[0, 1])
    return {
        "direct": direct,
        "prompt": prompt,
        "pairs": n,
        "both": both,
        "direct_only": n_first - both,
        "prompt_only": n_second - both,
        "neither": n - either,
        "kappa": kappa,
        "r": r,
    }


def agreement_line(report: dict[str, Any]) -> str:
    """Describe one agreement in a line."""
    n = report["pairs"]
    if not n:
        return f"{report['direct']} and {report['prompt']}: no pair has both scores"
    kappa, r = ("undefined" if report[name] is None else f"{report[name]:.2f}" for name in ("kappa", "r"))
    first, second = ((report["both"] + report[f"{name}_only"]) / n for name in ("direct", "prompt"))
    return (
        f"{report['direct']} right in {first:.1%}, {report['prompt']} in {second:.1%} of {n} pairs; both in "
        f"{report['both'] / n:.1%}, neither in {report['neither'] / n:.1%}; κ {kappa}, r of differences {r}"
    )
