"""Everything the effects page shows, as one document."""

from typing import Any

import pandas as pd

from analysis.aggregation.transforms import transformed
from analysis.effects.five_analyses import five_analyses
from analysis.effects.interactions import interactions
from analysis.effects.mixed import CROSSED, Random
from analysis.errors import UnknownName
from analysis.rows import RATING_TASKS, is_kind, tasks

BY = ("phenomenon", "paradigm")
SLOPES = ("", "participant", "item", "participant,item")


def effects_report(
    judgments: pd.DataFrame,
    *,
    by: str = "phenomenon",
    transform: str = "z",
    slopes: str = "",
    population: int | None = None,
    factorial: str = "",
    experiment: str = "",
) -> dict[str, Any]:
    """Report the five analyses of every contrast, how many hold, and the interactions of factorial designs.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        The kept rows; needs ``participant``, ``item`` and ``value``, and ``expected`` for ratings and yes-no.
    by : {"phenomenon", "paradigm"}
        What a contrast is.
    transform : str
        Of ratings.
    slopes : {"", "participant", "item", "participant,item"}
        Uncorrelated random slopes of the condition beside the crossed intercepts.
    population : int, optional
        Published contrasts of which these are a sample.
    factorial : str
        Four conditions as a comma list (plain-plain, marked-plain, plain-marked, marked-marked); empty
        reads the factors from the names of the conditions.
    experiment : str
        Copied into the document.

    Returns
    -------
    dict
        JSON-ready: ``analyses``, ``effects``, ``rates``, ``interactions`` and ``conventions``.

    Raises
    ------
    MissingColumns, UnknownName, BadInput
        If a column is absent or a choice is another word.

    See Also
    --------
    analysis.effects.five_analyses.five_analyses : The same as frames, with the formulas.

    References
    ----------
    Sprouse, Schütze & Almeida (2013), Lingua 134; Sprouse, Wagers & Phillips (2012), Language 88.

    Examples
    --------
    >>> rows = pd.DataFrame([(f"p{p}", "i", 1.0 if p else 0.0) for p in range(12)],
    ...     columns=["participant", "item", "value"]).assign(task="forced_choice", phenomenon="islands")
    >>> report = effects_report(rows)
    >>> [row["outcome"] for row in report["analyses"]][:3]
    ['converges', 'converges', 'converges']
    """
    if by not in BY:
        raise UnknownName("kind of contrast", by, BY)
    if slopes not in SLOPES:
        raise UnknownName("choice of random slopes", slopes, SLOPES)
    random = (*CROSSED, *(Random(factor, "condition") for factor in slopes.split(",") if factor))
    rows = judgments if "expected" in judgments.columns else judgments.assign(expected="")
    document = five_analyses(
        rows, by=by, transform=transform, random=random, population=population
    ).document()
    given = [word.strip() for word in factorial.split(",") if word.strip()]
    told = document.pop("conventions")
    return {
        "experiment": experiment,
        "by": by,
        "transform": transform,
        "slopes": slopes,
        "population": population,
        "participants": int(rows["participant"].nunique()),
        **document,
        "interactions": interactions(_scored(rows, transform), by=by, given=given, random=random),
        "conventions": told
        | {
            "interaction": "difference of differences: cost of the first factor's marked level at the marked "
            "level of the second, less its cost at the plain level",
            "factors": "read from conditions such as island.embedded; the marked levels are those of the one "
            "condition expected to be unacceptable, else the later ones in the alphabet",
        },
    }


def _scored(judgments: pd.DataFrame, transform: str) -> pd.DataFrame:
    """Give the rated targets on the scale that is averaged; choices have no cells of their own."""
    if judgments.empty or "condition" not in judgments.columns:
        return judgments.iloc[:0].assign(score=0.0, condition="")
    rated = judgments[tasks(judgments).astype(object).isin([*RATING_TASKS, "yes_no"]).to_numpy()]
    if rated.empty:
        return rated.assign(score=0.0)
    how = "raw" if (tasks(rated) == "yes_no").all() else transform
    scored = rated.assign(score=transformed(rated, transform=how))
    return scored[is_kind(scored, ("target",)) & scored["score"].notna()]
