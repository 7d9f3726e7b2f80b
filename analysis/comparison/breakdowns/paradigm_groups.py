"""Groups of paradigms of BLiMP's analyses: adjective between, attractor, regular or irregular noun."""

import re
from collections.abc import Callable, Mapping

import pandas as pd

from ...errors import UnknownName

NONE = "none"


def adjective_between(paradigm: str) -> str:
    """Return whether determiner and noun have an adjective between them; empty for other paradigms.

    Examples
    --------
    >>> adjective_between("determiner_noun_agreement_with_adj_irregular_1"), adjective_between("wh_island")
    ('adjective between', '')
    """
    if not paradigm.startswith("determiner_noun_agreement"):
        return ""
    return "adjective between" if "_with_adj" in paradigm else "adjacent"


def attractor(paradigm: str) -> str:
    """Return the kind of noun between subject and verb; empty for paradigms without subject-verb agreement.

    Examples
    --------
    >>> attractor("distractor_agreement_relative_clause")
    'relative clause'
    """
    if match := re.match(r"distractor_agreement_(relational_noun|relative_clause)", paradigm):
        return match[1].replace("_", " ")
    return NONE if "plural_subject_verb_agreement" in paradigm else ""


def noun_morphology(paradigm: str) -> str:
    """Return whether number is marked regularly on the nouns of an agreement paradigm; empty for others.

    Examples
    --------
    >>> noun_morphology("irregular_plural_subject_verb_agreement_1")
    'subject-verb, irregular'
    """
    if paradigm.startswith("determiner_noun_agreement"):
        kind = "irregular" if "irregular" in paradigm else "regular"
        return f"determiner-noun, {kind}"
    if match := re.match(r"(irregular|regular)_plural_subject_verb_agreement", paradigm):
        return f"subject-verb, {match[1]}"
    return ""


GROUPINGS: Mapping[str, Callable[[str], str]] = {
    "adjective": adjective_between,
    "attractor": attractor,
    "morphology": noun_morphology,
}


def group_accuracies(accuracies: pd.DataFrame, grouping: str) -> pd.DataFrame:
    """Average accuracies over the paradigms of each group.

    Parameters
    ----------
    accuracies : DataFrame, one row per paradigm
        Indexed by the name of the paradigm, as in BLiMP; a column for each judge.
    grouping : str
        A key of :data:`GROUPINGS`: ``adjective``, ``attractor`` or ``morphology``.

    Returns
    -------
    DataFrame, one row per group and judge
        ``group``, ``judge``, ``value`` (unweighted mean of paradigms), ``paradigms`` (their number).
        Paradigms without a number are left out of a judge's mean.

    Raises
    ------
    UnknownName
        If there is no such grouping.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8, sections 6.1 and 6.2.

    Examples
    --------
    >>> names = ["determiner_noun_agreement_1", "determiner_noun_agreement_with_adj_2"]
    >>> table = group_accuracies(pd.DataFrame({"m": [0.9, 0.6]}, index=names), "adjective")
    >>> table[["group", "value"]].to_numpy().tolist()
    [['adjacent', 0.9], ['adjective between', 0.6]]
    """
    if grouping not in GROUPINGS:
        raise UnknownName("grouping", grouping, list(GROUPINGS))
    names = accuracies.index.astype(str).map(GROUPINGS[grouping])
    rows = [
        {"group": group, "judge": str(judge), "value": float(part.mean()), "paradigms": len(part)}
        for group in sorted({name for name in names if name}, key=lambda name: (name != NONE, name))
        for judge in accuracies.columns
        if len(part := accuracies.loc[names == group, judge].dropna())
    ]
    return pd.DataFrame(rows, columns=["group", "judge", "value", "paradigms"])


def spread_over_models(accuracies: pd.DataFrame, phenomena: Mapping[str, str]) -> pd.DataFrame:
    """Return mean and SD over models of their accuracies by phenomenon, as over sizes of one model.

    Parameters
    ----------
    accuracies : DataFrame, one row per paradigm
        A column for each model.
    phenomena : mapping of str to str
        Phenomenon of each paradigm.

    Returns
    -------
    DataFrame, one row per phenomenon, then ``overall``
        ``phenomenon``, ``mean``, ``sd`` (ddof 1, over models), ``models``. A phenomenon is the unweighted
        mean of its paradigms.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8, section 6.3.

    Examples
    --------
    >>> table = pd.DataFrame({"small": [0.8, 0.6], "large": [0.9, 0.7]}, index=["a", "b"])
    >>> spread_over_models(table, {"a": "x", "b": "x"})["mean"].round(2).tolist()
    [0.75, 0.75]
    """
    by_phenomenon = accuracies.groupby(accuracies.index.map(phenomena)).mean()
    table = pd.concat([by_phenomenon, accuracies.mean().to_frame("overall").T])
    return pd.DataFrame({
        "phenomenon": table.index.astype(str),
        "mean": table.mean(axis=1).to_numpy(),
        "sd": table.std(axis=1, ddof=1).to_numpy(),
        "models": accuracies.shape[1],
    })  # fmt: skip
