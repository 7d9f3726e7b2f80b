"""Effects report: the five analyses and factorial interactions as one JSON-ready document."""

from typing import Any

import numpy as np
import pandas as pd

from ..aggregation.ratings import transform_ratings
from ..choices import BY, SLOPES
from ..errors import UnknownName
from ..mixed_models.linear import CROSSED, Random
from ..multiple_tests import CORRECTIONS
from ..rows import RATING_TASKS, is_kind, name_items_apart, tasks
from ..scales import participant_scales, usable_ratings
from .contrasts import contrast_of_conditions
from .equivalence import equivalence_tests
from .factorial import factorial_designs, interactions, unrecognized_designs
from .factors import Levels
from .five_analyses import five_analyses
from .model_interactions import model_interactions
from .within import within_designs

FACTORIAL = (
    "main, simple and interaction effects are contrasts of cell means of one mixed model, tested by F with "
    "Satterthwaite degrees of freedom; other factors are averaged with equal weights; differences: the first "
    "level less the second, of interactions the first factor's difference at the second level of the others "
    "less that at the first; p is corrected among main effects and interactions, among simple effects, and "
    "among pairs of levels"
)
EQUIVALENCE_CONVENTIONS = {
    "equivalence": "two one-sided tests (TOST) against the bounds of the smallest effect of interest, each "
    "at p < .05, and the 90 % interval; equivalent: both significant; different: the two-tailed test is; "
    "both: all are; undecided: neither. Verdicts go by uncorrected p",
    "sesoi": "on the scale of the ratings; yes-no: of shares of yes; choices: of the share less 1/2",
}


def effects_report(
    judgments: pd.DataFrame,
    *,
    by: str = "phenomenon",
    transform: str = "z",
    slopes: str = "auto",
    population: int | None = None,
    factorial: str = "",
    conditions: str = "",
    correction: str = "holm",
    sesoi: float | None = None,
    factors: Levels | None = None,
    scores: pd.DataFrame | None = None,
    sentences: pd.DataFrame | None = None,
    experiment: str = "",
) -> dict[str, Any]:
    """Report the five analyses of every contrast, how many hold, and the interactions of factorial designs.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        After exclusion; needs ``participant``, ``item`` and ``value``, and ``expected`` for ratings and
        yes-no.
    by : {"phenomenon", "paradigm"}
        Column that defines the contrasts.
    transform : {"z", "z-log", "raw", "robust-z", "rank-normal"}
        Scale of ratings, as in :func:`obelus.aggregation.ratings.ratings_report`; choices ignore it.
    slopes : {"auto", "none", "participant", "item", "participant,item"}
        Random slopes of the condition, added to the crossed intercepts of the mixed model: the largest
        structure that the data of each contrast support, with correlations (default); none (also ``""``); or
        uncorrelated slopes by these factors.
    population : int, optional
        Number of published contrasts from which these are a sample; narrows the interval of the rates.
    factorial : str
        Four conditions as a comma-separated list (plain-plain, marked-plain, plain-marked, marked-marked); if
        empty, the columns in ``factors`` are used, else factors are read from the names of conditions.
    conditions : str
        Two conditions, or two levels of a factor, separated by a comma: the first less the second, whatever
        their expected status. If empty, acceptable less unacceptable sentences.
    correction : {"holm", "bh"}
        The correction for several tests that pages, texts and reports show: Holm, or Benjamini-Hochberg for
        the false discovery rate. The document has the p values of both.
    sesoi : float, optional
        Smallest effect of interest, chosen before the data: a difference on the scale of the ratings, of
        shares of yes, or of the share of choices from one half. Adds a test of equivalence to each contrast.
    factors : Mapping of str to sequence of str, optional
        Columns of the design's factors, each with its levels in order, the plain level first.
    scores : DataFrame, optional
        ``sentence_id`` and one column per model; adds the interactions of models.
    sentences : DataFrame, optional
        Needed with ``scores``: ``sentence_id``, ``item``, ``condition``, the column ``by`` and the factors.
    experiment : str
        Name of the study, copied into the document.

    Returns
    -------
    dict
        JSON-ready: ``analyses``, ``effects``, ``rates``, ``equivalence`` (empty without ``sesoi``),
        ``left_out`` (ratings without a score, with participants by reason), ``interactions``,
        ``factorial`` (main, simple and interaction effects of factorial designs),
        ``not_recognized`` (groups whose conditions form no 2×2 design, with the reason),
        ``models`` (interactions of models), ``within`` (groups of more than two conditions: analysis of
        variance with repeated measures, sphericity and normality) and ``conventions``.

    Raises
    ------
    MissingColumns, UnknownName, BadInput
        If a column is absent or a parameter has an unknown value.

    See Also
    --------
    obelus.effects.five_analyses.five_analyses : The same as frames, with the formulas.

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
    slopes = slopes or "none"
    if slopes not in SLOPES:
        raise UnknownName("choice of random slopes", slopes, SLOPES)
    if correction not in CORRECTIONS:
        raise UnknownName("correction for several tests", correction, list(CORRECTIONS))
    factors_with_slopes = [] if slopes == "none" else slopes.split(",")
    random = (
        None
        if slopes == "auto"
        else (*CROSSED, *(Random(factor, "condition") for factor in factors_with_slopes))
    )
    rows = name_items_apart(judgments if "expected" in judgments.columns else judgments.assign(expected=""))
    contrasted = contrast_of_conditions(rows, conditions, factors=factors) if conditions else rows
    document = five_analyses(
        contrasted, by=by, transform=transform, random=random, population=population
    ).document()
    cells = [word.strip() for word in factorial.split(",") if word.strip()]
    conventions = document.pop("conventions")
    if sesoi is not None:
        conventions |= EQUIVALENCE_CONVENTIONS
    scored = scored_targets(rows, transform)
    designs = interactions(scored, by=by, factors=factors, conditions=cells, random=random)
    return {
        "experiment": experiment,
        "by": by,
        "transform": transform,
        "slopes": slopes,
        "population": population,
        "correction": correction,
        "conditions": [name.strip() for name in conditions.split(",") if name.strip()],
        "participants": int(rows["participant"].nunique()),
        "left_out": ratings_without_score(rows, transform),
        **document,
        "sesoi": sesoi,
        "equivalence": []
        if sesoi is None
        else equivalence_tests(contrasted, sesoi=sesoi, by=by, transform=transform),
        "within": within_designs(scored, by=by),
        "factors": {name: list(levels) for name, levels in (factors or {}).items()},
        "factorial": [
            row | {"note": _between_note(row, transform)}
            for row in factorial_designs(scored, designs, by=by, factors=factors, random=random)
        ],
        "interactions": designs,
        "not_recognized": unrecognized_designs(scored, by=by, factors=factors, conditions=cells)
        or _without_means(rows, scored, by=by, factors=factors),
        "models": []
        if scores is None or sentences is None
        else model_interactions(scores, sentences, designs, by=by, factors=factors, conditions=cells),
        "conventions": conventions
        | {
            "contrast": conditions.replace(",", " less ") or "acceptable less unacceptable sentences",
            "interaction": "difference of differences: cost of the first factor's marked level at the marked "
            "level of the second, less its cost at the plain level",
            "factors": _source(designs),
            "factorial": FACTORIAL,
            "within": "analysis of variance with repeated measures over participants with every condition; "
            "p corrected by Greenhouse and Geisser's epsilon; sphericity by Mauchly's test, normality of "
            "the residuals by that of Shapiro and Wilk",
            "models": "z of each model over all scored sentences, fillers included, ddof 0",
        },
    }


def _between_note(row: dict[str, Any], transform: str) -> str:
    """Warn that scores within participants hide the main effect of a factor between them; else empty."""
    between = [factor["name"] for factor in row["factors"] if not factor["within_participants"]]
    if not between or transform == "raw":
        return ""
    return (
        f"{', '.join(between)} varies between participants: scores standardized within participants "
        f"({transform}) hide most of its main effect; take raw ratings for it."
    )


def _source(rows: list[dict[str, Any]]) -> str:
    """Say where factors and marked levels come from."""
    sources = {
        "columns": "columns of the materials, levels in the researcher's order: the second is the marked one",
        "given": "the four conditions that were named, plain and marked",
        "names": "read from names of conditions such as non-island.embedded; the marked levels are those "
        "of the one condition expected to be unacceptable, else the later ones in the alphabet",
    }
    sources_read = [text for name, text in sources.items() if name in {row["read_from"] for row in rows}]
    return "; ".join(sources_read or [sources["names"]])


def _without_means(
    rows: pd.DataFrame, scored: pd.DataFrame, *, by: str, factors: Levels | None
) -> list[dict[str, Any]]:
    """Return the reason why a factorial study of choices has no interaction."""
    if not factors or len(scored) or rows.empty:
        return []
    reason = (
        "choices between sentences give no means of conditions; a difference of differences takes ratings."
    )
    return [{by: "", "reason": reason}]


def ratings_without_score(judgments: pd.DataFrame, transform: str) -> dict[str, Any]:
    """Count the rated targets that the transform gives no score, with their participants by reason.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": list("ab"), "item": "i", "value": [3, 5], "task": "likert"})
    >>> ratings_without_score(rows, "z")
    {'judgments': 2, 'participants': 2, 'constant': 0, 'too_few': 2}
    """
    rated = judgments[tasks(judgments).astype(object).isin(RATING_TASKS).to_numpy()]
    counts = {"judgments": 0, "participants": 0, "constant": 0, "too_few": 0}
    if rated.empty or transform == "raw":
        return counts
    is_lost = is_kind(rated, ("target",)) & ~np.isnan(usable_ratings(rated))
    is_lost &= transform_ratings(rated, transform=transform).isna().to_numpy()
    people = set(rated.loc[is_lost, "participant"].astype(str))
    scales = participant_scales(rated)
    status = scales[scales["participant"].isin(people)].groupby("status")["participant"].nunique()
    return {
        "judgments": int(is_lost.sum()),
        "participants": len(people),
        "constant": int(status.get("constant", 0)),
        "too_few": int(status.get("too_few", 0)),
    }


def scored_targets(judgments: pd.DataFrame, transform: str) -> pd.DataFrame:
    """Return the rated targets with their scores; choices have no cell means and are omitted."""
    if judgments.empty or "condition" not in judgments.columns:
        return judgments.iloc[:0].assign(score=0.0, condition="")
    rated = judgments[tasks(judgments).astype(object).isin([*RATING_TASKS, "yes_no"]).to_numpy()]
    if rated.empty:
        return rated.assign(score=0.0)
    how = "raw" if (tasks(rated) == "yes_no").all() else transform
    scored = rated.assign(score=transform_ratings(rated, transform=how))
    return scored[is_kind(scored, ("target",)) & scored["score"].notna()]
