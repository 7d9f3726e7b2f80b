"""The in-depth comparison as one JSON document, for page, command, API and notebook."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ...mixed_models.structures import LARGEST
from ..adc_curve import CURVE_PERMUTATIONS, DELTA_MAX, all_curves
from ..ceilings.noise import SPLITS, correlation_ceilings, people_right
from ..criteria import DELTAS, Signs
from ..intervals import FEWEST_CLUSTERS, FOLDS, cluster_basis
from ..model_differences import model_tests
from ..pairs import PairTable, pair_table, warn_of_signs
from .abilities import ability_scale
from .filtered_training import filtered_training
from .learning_curves import learning_curves
from .linking import linking_functions
from .matrices import (
    delta_matrix,
    paradigm_accuracies,
    paradigm_matrix,
)
from .models import roster
from .predictors import shallow_predictors
from .prefixes import prefix_methods
from .surprisal import surprisal_models
from .thresholds import decision_rows

SECTIONS = (
    "correlations", "curves", "tests", "linking", "surprisal", "abilities", "predictors", "prefixes",
    "learning", "filtered", "decisions",
)  # fmt: skip


def depth_report(
    human: pd.DataFrame | None,
    pairs: pd.DataFrame,
    scores: pd.DataFrame,
    *,
    models: pd.DataFrame | None = None,
    already_standardized: bool = False,
    signs: Signs = "strict",
    deltas: Sequence[float] = DELTAS,
    judgments: pd.DataFrame | None = None,
    counts: pd.DataFrame | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Compare models with humans in depth: correlations, curves, tests, predictors, training, decisions.

    ``human`` and ``scores`` as for :func:`obelus.comparison.report.compare_report`; ``pairs`` may also
    have ``paradigm``, ``phenomenon``, ``sentence_good``, ``dependency_length`` and ``attractor``;
    ``models`` is the metadata from :func:`obelus.comparison.in_depth.models.roster`, ``counts`` log
    probabilities and lengths for :func:`obelus.comparison.in_depth.linking.linking_functions`.

    Notes
    -----
    Each section has its own random stream: the same seed gives the same document.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8. Vázquez Martínez (2021), "The Acceptability Delta Criterion",
    BlackboxNLP.
    """
    table = pair_table(human, pairs, scores, already_standardized=already_standardized)
    warn_of_signs(table, scores.attrs.get("signs", {}))
    return depth_document(
        table,
        models=models,
        signs=signs,
        deltas=deltas,
        judgments=judgments,
        counts=counts,
        seed=seed,
    )


def depth_document(
    table: PairTable,
    *,
    models: pd.DataFrame | None = None,
    signs: Signs = "strict",
    deltas: Sequence[float] = DELTAS,
    judgments: pd.DataFrame | None = None,
    counts: pd.DataFrame | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Compare models with humans in depth on joined pairs; the document of :func:`depth_report`."""

    def rng(use: str) -> np.random.Generator:
        return np.random.default_rng([seed, *f"depth {use}".encode()])

    metadata = roster(table.models, models)
    right, basis = people_right(table.human_delta, table.pairs, judgments)
    people = pd.Series(right, index=table.pairs.index)
    ceilings = (
        correlation_ceilings(judgments, table.pairs, rng=rng("ceilings")) if judgments is not None else {}
    )
    accuracies = paradigm_accuracies(table, people)
    return {
        "models": _plain(metadata),
        "people": {
            "accuracy": float(people.mean()) if people.notna().any() else None,
            "pairs": int(people.notna().sum()),
            "basis": basis,
        },
        "correlations": {
            "deltas": delta_matrix(table, ceiling=ceilings.get("deltas")),
            "paradigms": paradigm_matrix(accuracies, ceiling=ceilings.get("paradigms")),
            "accuracies": _plain(accuracies.reset_index()),
            "ceilings": ceilings or None,
        },
        "curves": all_curves(table, signs=signs, judgments=judgments, rng=rng("curves")),
        "tests": model_tests(table, deltas=deltas, signs=signs, rng=rng("tests")),
        "linking": linking_functions(table, metadata, counts),
        "surprisal": surprisal_models(table, metadata, judgments, counts),
        "abilities": ability_scale(table, judgments),
        "predictors": shallow_predictors(table, metadata),
        "prefixes": prefix_methods(table, metadata, rng=rng("prefixes")),
        "learning": learning_curves(table, metadata, people),
        "filtered": filtered_training(table, metadata),
        "decisions": decision_rows(table, judgments),
        "conventions": _conventions(table, signs=signs, seed=seed),
    }


def _conventions(table: PairTable, *, signs: Signs, seed: int) -> dict[str, Any]:
    scale = "as given" if table.already_standardized else "z over all scored sentences, ddof 0"
    return {
        "standardization": scale,
        "signs": signs,
        "clusters": cluster_basis(table.pairs),
        "intervals": "95 %, jackknife of r over clusters, of differences clusters as units; t on "
        f"clusters - 1; none below {FEWEST_CLUSTERS} clusters",
        "tests": "models exchanged in whole clusters, each way (above 13 clusters that differ 10000 ways at "
        "random); Holm within a criterion; the least p of n "
        "clusters that differ is 2 / 2^n",
        "ceilings": f"root of split-half reliability, Spearman-Brown, {SPLITS} splits within list",
        "curves": f"grid to δ = {DELTA_MAX:g}; chance: {CURVE_PERMUTATIONS} permutations of a model's scores",
        "recalibrated": "Δh on Δlm fitted on the other clusters, 10 folds",
        "linking": f"least squares over the members of pairs; r of predictions from the other items, {FOLDS} "
        "folds; β and γ by Fieller, jackknife over clusters",
        "surprisal": "z of ratings within participants, ddof 1; predictors (x - mean) / SD over the rated "
        f"rows, surprisal -log p / tokens; REML, Satterthwaite; {LARGEST}",
        "abilities": "marginal maximum likelihood over participants, abilities normal with mean 0 and SD 1; "
        "models and participants by Warm's weighted likelihood",
        "predictors": "up to 8 values or 5 bins of equal size, Wilson; perplexity by white-space words",
        "learning": "least squares on log2 tokens, models as units; Fieller's interval",
        "filtered": "points; Welch interval over seeds",
        "decisions": "threshold of a cluster chosen on the others, 10 folds",
        "missing": "leaves the denominator and is counted",
        "seed": seed,
    }


def _plain(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows for JSON, missing values as None."""
    cells = frame.astype(object).where(frame.notna(), None)
    return [{str(key): value for key, value in row.items()} for row in cells.to_dict("records")]
