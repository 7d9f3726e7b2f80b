"""What a comparison of models with people was computed by, in words."""

from typing import Any

from analysis.comparison.baselines import PERMUTATIONS
from analysis.comparison.ceiling import HumanCeiling
from analysis.comparison.criteria import Signs
from analysis.comparison.deltas import PairTable
from analysis.comparison.intervals import RESAMPLES, cluster_basis
from analysis.comparison.joint import RESAMPLES as JOINT_RESAMPLES
from analysis.comparison.recalibration import FOLDS

AREA_TO = 3.0


def conventions(table: PairTable, *, signs: Signs, seed: int, ceiling: HumanCeiling | None) -> dict[str, Any]:
    """Name every convention behind the numbers of a comparison.

    Parameters
    ----------
    table : PairTable
        The pairs.
    signs : {"strict", "published"}
        How the ADC treats zero differences.
    seed : int
        Of every random procedure.
    ceiling : HumanCeiling or None
        What judgments gave.

    Returns
    -------
    dict
        Ready for JSON.

    References
    ----------
    Vázquez Martínez (2021), "The Acceptability Delta Criterion", BlackboxNLP; Warstadt et al. (2020), TACL 8.
    """
    clustered = cluster_basis(table.pairs)
    return {
        "blimp": "good > bad, equal scores fail",
        "adc": "sign(Δh) = sign(Δlm) and |Δh - Δlm| < δ",
        "signs": signs,
        "missing": "leaves the denominator and is counted",
        "constant": "median Δh",
        "chance": f"mean of {PERMUTATIONS} permutations of the model's own sentence scores",
        "recalibrated": f"a line from Δlm to Δh, fitted on the other families of pairs ({FOLDS} folds); "
        "beside it the constant that is people's mean in these families",
        "intervals": f"95 % percentile bootstrap, {RESAMPLES:,} draws of clusters by {clustered}",
        "joint_intervals": None
        if ceiling is None
        else f"95 %, {JOINT_RESAMPLES:,} draws of participants within list and of clusters together, centred "
        "on the estimate",
        "clusters": int(table.clusters.nunique()),
        "ceiling": None
        if ceiling is None
        else f"{ceiling.basis.replace('_', ' ')}: split halves within list, {ceiling.splits} splits, "
        "size-corrected; of r: root of split-half reliability (Spearman-Brown)",
        "area_to": AREA_TO,
        "seed": seed,
    }
