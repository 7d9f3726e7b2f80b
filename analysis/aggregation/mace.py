"""Latent labels and annotators' competence by MACE: a diagnostic beside the majority."""

import numpy as np
import pandas as pd
import scipy

from ..rows import Floats
from .dawid_skene import (
    MIN_MEDIAN,
    CodedAnswers,
    LatentLabels,
    build_item_table,
    find_status,
    normalize,
)

# Beta prior of knowing an answer, and Dirichlet prior of the answers given without judging.
KNOWING = 0.5
STRATEGY = 10.0


def mace(
    answers: pd.DataFrame,
    *,
    unit: str = "item",
    min_median: int = MIN_MEDIAN,
    tol: float = 1e-7,
    max_steps: int = 5_000,
) -> LatentLabels:
    """Estimate how often each annotator judges instead of answering regardless of the item, and the labels.

    Notes
    -----
    ``items`` as in :func:`obelus.aggregation.dawid_skene.one_coin`. ``annotators``: ``participant``, ``n``,
    ``competence``, the posterior mean of the share of answers that the annotator judged (the others have
    the annotator's own distribution of labels, whatever the item), ``guesses`` (expected number of those
    others) and ``guess_LABEL``, that distribution. ``status``: ``ok``, ``no_data``, ``too_few``,
    ``no_variation`` or ``not_converged``.

    P(answer v | truth t) = c_u [v = t] + (1 - c_u) g_u(v), truth uniform over the labels, c_u with a
    Beta(½, ½) and g_u with a Dirichlet(10) prior: variational Bayes as in the authors' program, from c = ½
    and equal g, where the program takes the best of ten random starts. Unlike one skill, it tells apart an
    annotator who errs from one who gives the same answer throughout. A competence is not below 0: an
    annotator who answers the opposite is taken to guess. It assumes one truth per item; graded
    acceptability and dialects break that.

    References
    ----------
    Hovy, Berg-Kirkpatrick, Vaswani & Hovy (2013), "Learning whom to trust with MACE", NAACL-HLT.

    Examples
    --------
    >>> rows = [(i, p, i % 2 if p != "yes-sayer" else 1) for i in range(30) for p in ("a", "b", "yes-sayer")]
    >>> fit = mace(pd.DataFrame(rows, columns=["item", "participant", "value"]))
    >>> fit.annotators.round(2)[["participant", "competence", "guess_1"]].values.tolist()
    [['a', 0.98, 0.5], ['b', 0.98, 0.5], ['yes-sayer', 0.02, 0.8]]
    """
    data = CodedAnswers.of(answers, unit)
    status = find_status(data, min_median=min_median)
    if status != "ok":
        return LatentLabels(status)
    q, people = len(data.labels), len(data.people)
    n, cell = np.bincount(data.person).astype(np.float64), data.person * q + data.label
    n_cell, of_item = np.bincount(cell, minlength=people * q), data.item * q + data.label
    knows, guessing, strategy = np.full(people, 0.5), np.full(people, 0.5), np.full((people, q), 1 / q)
    guesses, posterior = np.zeros((people, q)), data.shares()
    converged, step = False, 0
    while step < max_steps and not converged:
        step += 1
        by_chance = np.maximum(guessing[:, None] * strategy, 1e-300)
        gain = np.log1p(knows[:, None] / by_chance).ravel()
        evidence: Floats = np.bincount(of_item, gain[cell], data.size).astype(np.float64).reshape(-1, q)
        posterior = normalize(evidence)
        right = np.bincount(cell, posterior.ravel()[of_item], people * q).reshape(people, q)
        before, guesses = (
            guesses,
            n_cell.reshape(people, q) - right * knows[:, None] / (knows[:, None] + by_chance),
        )
        total = guesses.sum(axis=1)
        knows = _variational(n - total + KNOWING, n + 2 * KNOWING)
        guessing = _variational(total + KNOWING, n + 2 * KNOWING)
        strategy = _variational(guesses + STRATEGY, total[:, None] + q * STRATEGY)
        # Labels that are certain do not change while competence still does.
        converged = bool((np.abs(guesses - before).max(axis=1) < tol * n).all())
    total = guesses.sum(axis=1)
    table = pd.DataFrame(
        {
            "participant": data.people,
            "n": n.astype(int),
            "competence": (n - total + KNOWING) / (n + 2 * KNOWING),
            "guesses": total,
            **{
                f"guess_{label}": (guesses[:, place] + STRATEGY) / (total + q * STRATEGY)
                for place, label in enumerate(data.labels)
            },
        }
    )
    items = build_item_table(data, posterior, unit)
    prior = dict.fromkeys(data.labels, 1 / q)
    return LatentLabels("ok" if converged else "not_converged", items, table, prior, step, converged)


def _variational(counts: Floats, total: Floats) -> Floats:
    """Compute exp E[log p] of a probability with a Beta or Dirichlet posterior."""
    expected: Floats = np.exp(scipy.special.digamma(counts) - scipy.special.digamma(total))
    return expected
