"""Latent labels and annotators' skill by Dawid and Skene: a diagnostic, not a replacement of the majority."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ..columns import require_columns
from ..errors import BadInput
from ..rows import Codes, Floats, group_codes

# Judgments of the median annotator; below this, skills are not identified.
MIN_MEDIAN = 20
# Beta prior of skill, as pseudo-counts of right and wrong judgments.
RIGHT, WRONG = 4.0, 1.0
_TINY = 1e-300  # avoids log(0)


@dataclass(frozen=True)
class LatentLabels:
    """Posterior labels of items and skill of annotators; empty unless ``status`` is ok or not_converged."""

    status: str
    items: pd.DataFrame = field(default_factory=pd.DataFrame)
    annotators: pd.DataFrame = field(default_factory=pd.DataFrame)
    prior: dict[str, float] = field(default_factory=dict)
    """Share of each class."""
    steps: int = 0
    converged: bool = False


@dataclass(frozen=True)
class CodedAnswers:
    """Items, annotators and labels of the answers as codes; missing answers are left out."""

    item: Codes
    person: Codes
    label: Codes
    items: list[str]
    people: list[str]
    labels: list[str]

    @classmethod
    def of(cls, answers: pd.DataFrame, unit: str) -> "CodedAnswers":
        """Code a frame of ``unit``, ``participant`` and ``value``."""
        require_columns(answers, unit, "participant", "value")
        rows = answers[answers["value"].notna()]
        item, items = group_codes(rows[unit])
        person, people = group_codes(rows["participant"])
        label, labels = group_codes(rows["value"])
        return cls(item, person, label, items, people, labels)

    def shares(self) -> Floats:
        """Compute each item's share of each label."""
        cells = np.bincount(self.item * len(self.labels) + self.label, minlength=self.size)
        counts = cells.reshape(len(self.items), len(self.labels)).astype(np.float64)
        shares: Floats = counts / counts.sum(axis=1, keepdims=True)
        return shares

    @property
    def size(self) -> int:
        """Number of items times labels."""
        return len(self.items) * len(self.labels)


def one_coin(
    answers: pd.DataFrame,
    *,
    unit: str = "item",
    min_median: int = MIN_MEDIAN,
    right: float = RIGHT,
    wrong: float = WRONG,
    tol: float = 1e-10,
    max_steps: int = 500,
) -> LatentLabels:
    """Estimate one skill per annotator and the probability of each item's label.

    Notes
    -----
    ``items``: unit, ``n``, ``majority`` (empty for a tie), ``label``, ``posterior`` and ``contradicts``
    (the two differ). ``annotators``: ``participant``, ``n`` and ``skill``, the probability of the true
    label. ``status``: ``ok``, ``no_data``, ``too_few`` (too few judgments per annotator), ``no_variation``
    or ``not_converged``.

    P(answer v | truth t) = a_u if v = t, else (1 - a_u) / (q - 1). Classes are equally likely beforehand, so
    the result does not depend on which member of a pair is coded 1. EM from the shares. It assumes one truth
    per item: graded acceptability and dialects break that. On BLiMP's batch it contradicts no majority,
    the full model of Dawid and Skene 40 of 345.

    References
    ----------
    Dawid & Skene (1979), Applied Statistics 28; Raykar et al. (2010), JMLR 11.

    Examples
    --------
    >>> rows = [(i, p, 1 if p != "careless" else i % 2) for i in range(30) for p in ("a", "b", "careless")]
    >>> fit = one_coin(pd.DataFrame(rows, columns=["item", "participant", "value"]))
    >>> fit.annotators.round(2)[["participant", "skill"]].values.tolist()
    [['a', 0.97], ['b', 0.97], ['careless', 0.54]]
    """
    data = CodedAnswers.of(answers, unit)
    status = find_status(data, min_median=min_median)
    if status != "ok":
        return LatentLabels(status)
    q, n = len(data.labels), np.bincount(data.person).astype(np.float64)
    posterior, skill, converged, step = data.shares(), np.zeros(len(n)), False, 0
    while step < max_steps and not converged:
        step += 1
        agreed = np.bincount(data.person, weights=posterior[data.item, data.label])
        skill = (agreed + right) / (n + right + wrong)
        # Log odds that one answer adds to its label.
        gain = np.log(skill * (q - 1) / (1 - skill))
        weights = np.bincount(data.item * q + data.label, weights=gain[data.person], minlength=data.size)
        evidence: Floats = weights.astype(np.float64).reshape(-1, q)
        updated = normalize(evidence)
        converged = bool(np.abs(updated - posterior).max() < tol)
        posterior = updated
    people = pd.DataFrame({"participant": data.people, "n": n.astype(int), "skill": skill})
    prior = dict.fromkeys(data.labels, 1 / q)
    items = build_item_table(data, posterior, unit)
    return LatentLabels("ok" if converged else "not_converged", items, people, prior, step, converged)


def dawid_skene(
    answers: pd.DataFrame, *, unit: str = "item", tol: float = 1e-12, max_steps: int = 1000
) -> LatentLabels:
    """Estimate a full confusion matrix per annotator: for comparison with other programs only.

    Notes
    -----
    E: q_it ∝ p_t Π_u π^u_{t, r_ui}; M: π^u_tv ∝ Σ_i q_it [r_ui = v], p_t the mean of q; from the shares,
    without smoothing. Its labels are not gold labels: annotators with few judgments overfit, ambiguous
    pairs move to the rarer class, and 11 of BLiMP's 67 published paradigms would be rejected.

    References
    ----------
    Dawid & Skene (1979), Applied Statistics 28.
    """
    data = CodedAnswers.of(answers, unit)
    status = find_status(data, min_median=1)
    if status != "ok":
        return LatentLabels(status)
    q, people = len(data.labels), len(data.people)
    posterior, converged, step = data.shares(), False, 0
    prior, confusion = posterior.mean(axis=0), np.zeros((people, q, q))
    while step < max_steps and not converged:
        step += 1
        prior, confusion = posterior.mean(axis=0), _confusion(data, posterior, people=people)
        log_p = np.log(np.maximum(confusion, _TINY))[data.person, :, data.label]
        evidence = np.column_stack(
            [np.bincount(data.item, weights=log_p[:, t], minlength=len(data.items)) for t in range(q)]
        )
        updated = normalize(evidence + np.log(np.maximum(prior, _TINY)))
        converged = bool(np.abs(updated - posterior).max() < tol)
        posterior = updated
    skill = np.einsum("t,utt->u", prior, confusion)
    n = np.bincount(data.person)
    table = pd.DataFrame({"participant": data.people, "n": n, "skill": skill})
    shares = {label: float(share) for label, share in zip(data.labels, prior, strict=True)}
    items = build_item_table(data, posterior, unit)
    return LatentLabels("ok" if converged else "not_converged", items, table, shares, step, converged)


def find_status(data: CodedAnswers, *, min_median: int) -> str:
    """Return ``ok``, or why nothing is estimated."""
    if not data.items:
        return "no_data"
    if len(data.labels) < 2:
        return "no_variation"
    return "ok" if np.median(np.bincount(data.person)) >= min_median else "too_few"


def _confusion(data: CodedAnswers, posterior: Floats, *, people: int) -> Floats:
    """Compute P(answer | truth) of each annotator: annotators × truths × answers."""
    q = len(data.labels)
    cell = data.person * q + data.label
    sums = np.stack(
        [np.bincount(cell, weights=posterior[data.item, t], minlength=people * q) for t in range(q)], axis=1
    ).reshape(people, q, q)
    sums = sums.transpose(0, 2, 1)  # from annotators × answers × truths
    total = sums.sum(axis=2, keepdims=True)
    confusion: Floats = np.divide(sums, total, out=np.full(sums.shape, 1 / q), where=total > 0)
    return confusion


def normalize(evidence: Floats) -> Floats:
    """Compute the posterior of each item from its log evidence for each label."""
    likely = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    posterior: Floats = likely / likely.sum(axis=1, keepdims=True)
    return posterior


def build_item_table(data: CodedAnswers, posterior: Floats, unit: str) -> pd.DataFrame:
    """Build the table of items, with the majority beside the estimated label."""
    labels = np.array(data.labels, dtype=object)
    shares = data.shares()
    top = shares.max(axis=1)
    tied = (np.abs(shares - top[:, None]) < 1e-12).sum(axis=1) > 1
    majority = np.where(tied, "", labels[shares.argmax(axis=1)])
    best = labels[posterior.argmax(axis=1)]
    columns = {f"p_{label}": posterior[:, place] for place, label in enumerate(data.labels)}
    if unit in ("n", "majority", "label", "posterior", "contradicts"):
        raise BadInput(f"{unit!r} is a column of the result.", column=unit, remedy="Rename it.")
    return pd.DataFrame(
        {
            unit: data.items,
            "n": np.bincount(data.item),
            "majority": majority,
            "label": best,
            "posterior": posterior.max(axis=1),
            "contradicts": (majority != best) & (majority != ""),
            **columns,
        }
    )
