"""Tables of a comparison to download: accuracies by phenomenon and paradigm, and criteria by pair."""

from collections.abc import Callable
from typing import cast

import pandas as pd

from analysis.comparison.breakdowns.accuracy_tables import latex_table, paradigm_table, phenomenon_table
from analysis.comparison.breakdowns.criteria import criteria_by_pair
from analysis.comparison.criteria import Signs
from analysis.comparison.pairs import pair_table
from analysis.errors import BadInput
from releases.comparison.compare import Options, comparison_frames, described_pairs
from releases.models import Comparison

CAPTIONS = {
    "phenomena": "Pairs right by phenomenon, in percent.",
    "paradigms": "Pairs right by paradigm, in percent, with marks of the prefix methods.",
}


def comparison_table(comparison: Comparison, name: str) -> pd.DataFrame:
    """Compute a table of a finished comparison.

    ``phenomena`` and ``paradigms`` are shares of pairs right of people and models, as on the page of
    correlations; ``criteria`` has a row for each model and pair.

    Raises
    ------
    BadInput
        If the pairs name no paradigms.
    """
    return TABLES[name](comparison)


def comparison_latex(comparison: Comparison, name: str) -> str:
    """Write the table of phenomena or paradigms as LaTeX."""
    table = comparison_table(comparison, name)
    judges = list(_accuracies(comparison).columns)
    return latex_table(
        table,
        caption=CAPTIONS[name],
        label=f"tab:{name}",
        percent=judges,
        decimals=1 if name == "phenomena" else 0,
    )


def _accuracies(comparison: Comparison) -> pd.DataFrame:
    rows = comparison.report["depth"]["correlations"]["accuracies"]
    if not rows:
        raise BadInput("the pairs name no paradigms.")
    return pd.DataFrame(rows).set_index("paradigm").astype(float)


def _phenomena(pairs: pd.DataFrame) -> dict[str, str]:
    if "phenomenon" not in pairs.columns:
        return {}
    named = pairs.dropna(subset=["paradigm"]).drop_duplicates("paradigm").fillna({"phenomenon": ""})
    return dict(zip(named["paradigm"].astype(str), named["phenomenon"].astype(str), strict=True))


def _by_phenomenon(comparison: Comparison) -> pd.DataFrame:
    return phenomenon_table(_accuracies(comparison), _phenomena(described_pairs(comparison.release)))


def _by_paradigm(comparison: Comparison) -> pd.DataFrame:
    pairs = described_pairs(comparison.release)
    return paradigm_table(_accuracies(comparison), _phenomena(pairs), pairs)


def _criteria(comparison: Comparison) -> pd.DataFrame:
    options = Options(**comparison.options)
    human, pairs, scores = comparison_frames(comparison)
    table = pair_table(human, pairs, scores, already_standardized=options.already_standardized)
    return criteria_by_pair(table, deltas=options.deltas, signs=cast(Signs, options.signs))


TABLES: dict[str, Callable[[Comparison], pd.DataFrame]] = {
    "phenomena": _by_phenomenon,
    "paradigms": _by_paradigm,
    "criteria": _criteria,
}
