"""Signal: answers that go with language models beyond what other participants explain."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from ..aggregation.undecided import is_undecided
from ..rows import Codes, Floats, column_or_blank, group_codes, joint_codes
from .base import answered_rows, session_codes, signal_frame
from .leave_one_out import means_of_others

NAME, VERSION, LABEL = "model_agreement", 2, "closer to models than to other participants"
MIN_TRIALS = 20  # of a participant, with a score of every model and an answer of others
LEVEL = 0.01
DRAWS = 5_000


@dataclass(frozen=True)
class Evidence:
    """Answers of rows, those of others, and the preference of each model."""

    rows: Codes
    participant: Codes
    answers: Floats
    others: Floats
    models: Floats
    is_choice: bool


def model_agreement(
    judgments: pd.DataFrame, scores: pd.DataFrame, *, pairs: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Flag participants whose answers go with models' scores beyond what the other participants explain.

    Notes
    -----
    For each participant, over all sessions: the partial correlation of the answers with a model (each, and
    the mean of all), given the other participants' mean answer to the same sentence or pair. ``value`` is the
    clearest one. Flagged if one-sided p, times the number of models tried, is below .01 and the answers go
    less with other participants, given that model: where participants and model part, the answers follow the
    model. p: t for ratings; for choices and yes-no by 5,000 simulated participants whose unexpected answers
    are as many, and fall where those of others do. At least 20 answers.

    A signal for review, never a verdict: speakers of a dialect near the model's training data look alike, and
    no plan can exclude by it. False alarms and detection: ``benchmarks/analysis/bench_delegation.py``.

    References
    ----------
    Agreement beyond what is common knowledge, conditional on models' labels: Zhang et al. (2025), "Evaluating
    LLM-corrupted crowdsourcing data without ground truth".
    """
    names = [str(name) for name in scores.columns if name != "sentence_id"]
    session, labels = session_codes(judgments)
    value, flagged = np.full(len(labels), np.nan), np.zeros(len(labels), dtype=bool)
    reasons: dict[int, str] = {}
    for evidence in _collect_evidence(judgments, scores, names=names, pairs=pairs):
        tried = [*names, "the models' mean"] if len(names) > 1 else names
        for person in np.unique(evidence.participant):
            part = evidence.participant == person
            if part.sum() < MIN_TRIALS:
                continue
            found = delegation_test(
                evidence.answers[part],
                evidence.others[part],
                evidence.models[part],
                is_choice=evidence.is_choice,
                seed=int(person),
            )
            if found is None:
                continue
            best, r_model, r_people, p = found
            is_marked = p < LEVEL and r_model > r_people
            for number in np.unique(session[evidence.rows[part]]):
                value[number], flagged[number] = r_model, is_marked
                reasons[int(number)] = (
                    f"answers go with {tried[best]} beyond other participants (partial r = {r_model:.2f}, "
                    f"p = {p:.4f}, {int(part.sum())} answers), less with participants beyond it "
                    f"(r = {r_people:.2f}); for review, no proof"
                )
    return signal_frame(
        labels, value, has_data=~np.isnan(value), flagged=flagged, reason=lambda row: reasons[row]
    )


def delegation_test(
    answers: Floats, others: Floats, models: Floats, *, is_choice: bool, seed: int = 0
) -> tuple[int, float, float, float] | None:
    """Return the clearest model, its partial r, that of others given it, and p corrected for the models.

    None where answers, others or all models do not vary.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> people, model = rng.normal(size=(2, 40))
    >>> best, r_model, r_people, p = delegation_test(model, people, model[:, None], is_choice=False)
    >>> best, round(r_model, 2), p < 0.001
    (0, 1.0, True)
    """
    columns = [*models.T, models.mean(axis=1)] if models.shape[1] > 1 else list(models.T)
    results = []
    for place, column in enumerate(columns):
        r_model = partial_r(answers, column, given=others)
        if np.isnan(r_model):
            continue
        r_people = np.nan_to_num(partial_r(answers, others, given=column), nan=-1.0)
        if is_choice:
            p = _choice_p(answers, others, column, rng=np.random.default_rng([seed, place]))
        else:
            df = len(answers) - 3
            t = r_model * np.sqrt(df / max(1 - r_model**2, 1e-12))
            p = float(scipy.stats.t.sf(t, df))
        results.append((p, place, float(r_model), float(r_people)))
    if not results:
        return None
    p, place, r_model, r_people = min(results)
    return place, r_model, r_people, min(1.0, p * len(columns))


def partial_r(first: Floats, second: Floats, *, given: Floats) -> float:
    """Correlate two columns, a third held constant; NaN without variation.

    Examples
    --------
    >>> x = np.array([1.0, 2, 3, 4, 5])
    >>> round(partial_r(x, np.array([2.0, 1, 4, 3, 6]), given=np.array([1.0, 1, 2, 2, 2])), 3)
    0.417
    """
    centred = [column - column.mean() for column in (first, second, given)]
    spread = float(centred[2] @ centred[2])
    if spread > 0:
        centred = [column - centred[2] * (column @ centred[2] / spread) for column in centred[:2]]
    x, y = centred[:2]
    size = float(np.sqrt((x @ x) * (y @ y)))
    floor = 1e-12 * max(1.0, float(first @ first), float(second @ second))
    return float(x @ y / size) if size > floor else float("nan")


def _choice_p(answers: Floats, others: Floats, model: Floats, *, rng: np.random.Generator) -> float:
    """Simulate participants with as many unexpected answers, which fall where those of others do."""
    n_unexpected = int(round(len(answers) - float(answers.sum())))
    if n_unexpected in (0, len(answers)):
        return 1.0
    others = np.clip(others, 1e-3, 1 - 1e-3)
    # the largest of logit + Gumbel noise are a sample without replacement, by these odds
    keys = np.log((1 - others) / others) + rng.gumbel(size=(DRAWS, len(answers)))
    unexpected = np.argpartition(-keys, n_unexpected - 1, axis=1)[:, :n_unexpected]
    simulated = -model[unexpected].sum(axis=1)
    observed = -float(((1 - answers) * model).sum())
    return float((1 + (simulated >= observed - 1e-9).sum()) / (1 + DRAWS))


def _collect_evidence(
    judgments: pd.DataFrame, scores: pd.DataFrame, *, names: list[str], pairs: pd.DataFrame | None
) -> Iterator[Evidence]:
    """Yield the evidence of ratings and yes-no answers, and that of choices."""
    table = scores.assign(sentence_id=scores["sentence_id"].astype(str))
    table = table.drop_duplicates("sentence_id").set_index("sentence_id")[names].astype(np.float64)
    person, _ = group_codes(column_or_blank(judgments, "participant"))
    z = (table - table.mean()) / table.std(ddof=0)
    beside = means_of_others(judgments)
    of_sentence = _values_by_name(judgments, "sentence_id", z)
    is_yes_no = (column_or_blank(judgments, "task").astype(object) == "yes_no").to_numpy(dtype=bool)
    for is_choice in (False, True):
        use = beside.rows & (is_yes_no == is_choice) & ~np.isnan(of_sentence).any(axis=1)
        if use.any():
            rows = np.flatnonzero(use)
            yield Evidence(
                rows, person[rows], beside.values[rows], beside.means[rows], of_sentence[rows], is_choice
            )
    if pairs is None:
        return
    sides = [table.reindex(pairs[side].astype(str)).to_numpy() for side in ("good_id", "bad_id")]
    margins = pd.DataFrame((np.sign(sides[0] - sides[1]) + 1) / 2, index=pairs["pair_id"].astype(str))
    prefers = _values_by_name(judgments, "pair_id", margins[~margins.index.duplicated()])
    answered, values = answered_rows(judgments, of=("forced_choice",))
    share = _others_share(judgments, answered, values)
    use = answered & np.isin(values, (0.0, 1.0)) & ~is_undecided(judgments)
    use &= ~np.isnan(share) & ~np.isnan(prefers).any(axis=1)
    if use.any():
        rows = np.flatnonzero(use)
        yield Evidence(rows, person[rows], values[rows], share[rows], prefers[rows], True)


def _others_share(judgments: pd.DataFrame, rows: np.ndarray, values: Floats) -> Floats:
    """Compute the share of others who chose the expected member, (k + ½) / (n + 1); NaN without others."""
    pair, _ = group_codes(column_or_blank(judgments, "pair_id"))
    person, _ = group_codes(column_or_blank(judgments, "participant"))
    cell, _, of_pair = joint_codes(person, pair)
    summands, is_used = np.where(rows, values, 0.0), rows.astype(float)
    total, n = (np.bincount(pair, weights=weights) for weights in (summands, is_used))
    own_total, own_n = (np.bincount(cell, weights=weights) for weights in (summands, is_used))
    left = (n[of_pair] - own_n)[cell]
    k = (total[of_pair] - own_total)[cell]
    share: Floats = np.where(left > 0, (k + 0.5) / (left + 1), np.nan)
    return share


def _values_by_name(judgments: pd.DataFrame, column: str, table: pd.DataFrame) -> Floats:
    codes, names = group_codes(column_or_blank(judgments, column))
    by_name: Floats = table.reindex(names).to_numpy(dtype=np.float64)
    return by_name[codes]
