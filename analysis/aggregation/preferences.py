"""Strengths of sentences from paired choices: the Bradley–Terry model."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import scipy

from ..columns import require_columns
from ..errors import BadInput
from ..rows import Codes, Floats, group_codes, is_kind, merge_answers, numbers
from .undecided import is_undecided


@dataclass(frozen=True)
class Strengths:
    """Bradley–Terry strengths; empty where there is no finite estimate."""

    status: str
    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    """``option``, ``wins``, ``n``, ``share`` (sums to 1), ``log_strength`` (mean 0) and ``se``."""
    method: str = "maximum likelihood"
    steps: int = 0


def pair_wins(judgments: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Count wins from forced choices between the members of pairs.

    Notes
    -----
    ``winner``, ``loser`` and ``n``; an answer of both or neither with a value is half a win for
    each member. With ``participant``, each counts once for a pair.

    Examples
    --------
    >>> pairs = pd.DataFrame({"pair_id": ["x"], "good_id": ["good"], "bad_id": ["bad"]})
    >>> choices = pd.DataFrame({"pair_id": ["x"] * 3, "value": [1, 1, 0]})
    >>> pair_wins(choices, pairs).sort_values("n").to_dict("records")
    [{'winner': 'bad', 'loser': 'good', 'n': 1}, {'winner': 'good', 'loser': 'bad', 'n': 2}]
    """
    require_columns(judgments, "pair_id", "value")
    require_columns(pairs, "pair_id", "good_id", "bad_id")
    value = numbers(judgments)
    answered = is_kind(judgments, ("target",)) & ~np.isnan(value)
    rows, chosen_good = merge_answers(judgments[answered], value[answered], unit="pair_id")
    split = is_undecided(rows) | (chosen_good == 0.5)
    good = rows[["pair_id"]].assign(good=chosen_good == 1, n=np.where(split, 0.5, 1.0))
    good["good"] |= split
    chosen = pd.concat([good, good[split].assign(good=False)])
    counts = chosen.groupby(["pair_id", "good"], observed=True)["n"].sum().reset_index()
    if not split.any():
        counts["n"] = counts["n"].astype(np.int64)
    merged = counts.merge(pairs[["pair_id", "good_id", "bad_id"]], on="pair_id")
    return pd.DataFrame(
        {
            "winner": merged["good_id"].where(merged["good"], merged["bad_id"]),
            "loser": merged["bad_id"].where(merged["good"], merged["good_id"]),
            "n": merged["n"],
        }
    )


def bradley_terry(
    wins: pd.DataFrame, *, prior: float = 0.0, tol: float = 1e-12, max_steps: int = 100_000
) -> Strengths:
    """Estimate strengths w with P(a beats b) = w_a / (w_a + w_b).

    Notes
    -----
    ``status``: ``ok``, ``no_data``, ``not_connected_or_separated`` (some group of options never lost to,
    or was never compared with, the others: no finite estimate) or ``not_converged``.

    MM: w_a = W_a / Σ_b n_ab / (w_a + w_b), W_a the wins of a (Ford 1957; Hunter 2004); the estimate exists
    where the graph of wins is strongly connected. Errors from the inverse information with the mean of log
    strengths held at 0. Choices of one participant are treated as independent.

    References
    ----------
    Bradley & Terry (1952), Biometrika 39; Ford (1957), American Mathematical Monthly 64; Hunter (2004),
    Annals of Statistics 32.

    Examples
    --------
    >>> wins = pd.DataFrame({"winner": ["a", "b"], "loser": ["b", "a"], "n": [3, 1]})
    >>> bradley_terry(wins).table[["option", "share"]].round(3).values.tolist()
    [['a', 0.75], ['b', 0.25]]
    """
    require_columns(wins, "winner", "loser")
    options, matrix = _win_matrix(wins)
    if len(options) < 2:
        return Strengths("no_data")
    method = "maximum likelihood"
    if prior:
        compared = (matrix + matrix.T) > 0
        matrix = matrix + prior * compared
        method = f"maximum likelihood with {prior:g} added wins each way"
    parts = scipy.sparse.csgraph.connected_components(scipy.sparse.csr_array(matrix), connection="strong")[0]
    if parts > 1:
        return Strengths("not_connected_or_separated", method=method)
    strength, steps, converged = _minorize_maximize(matrix, tol=tol, max_steps=max_steps)
    logs = np.log(strength) - np.log(strength).mean()
    table = pd.DataFrame(
        {
            "option": options,
            "wins": matrix.sum(axis=1),
            "n": matrix.sum(axis=1) + matrix.sum(axis=0),
            "share": strength / strength.sum(),
            "log_strength": logs,
            "se": _standard_errors(matrix, strength),
        }
    )
    return Strengths("ok" if converged else "not_converged", table, method, steps)


def _win_matrix(wins: pd.DataFrame) -> tuple[list[str], Floats]:
    codes, options = group_codes(pd.concat([wins["winner"], wins["loser"]], ignore_index=True))
    winner: Codes = codes[: len(wins)]
    loser: Codes = codes[len(wins) :]
    if (winner == loser).any():
        row = int(np.flatnonzero(winner == loser)[0])
        raise BadInput("an option is compared with itself.", row=row + 1, column="loser")
    n = wins["n"].to_numpy(dtype=np.float64) if "n" in wins.columns else np.ones(len(wins))
    if (n < 0).any():
        raise BadInput("a count of wins is negative.", row=int(np.flatnonzero(n < 0)[0]) + 1, column="n")
    size = len(options)
    cells = np.bincount(winner * max(size, 1) + loser, weights=n, minlength=size * size)
    return options, cells.astype(np.float64).reshape(size, size)


def _minorize_maximize(matrix: Floats, *, tol: float, max_steps: int) -> tuple[Floats, int, bool]:
    wins, n_compared = matrix.sum(axis=1), matrix + matrix.T
    strength = np.full(len(matrix), 1.0)
    for step in range(1, max_steps + 1):
        updated = wins / (n_compared / (strength[:, None] + strength)).sum(axis=1)
        updated /= np.exp(np.log(updated).mean())
        change = np.abs(np.log(updated / strength)).max()
        strength = updated
        if change < tol:
            return strength, step, True
    return strength, max_steps, False


def _standard_errors(matrix: Floats, strength: Floats) -> Floats:
    p = strength[:, None] / (strength[:, None] + strength)
    information = -(matrix + matrix.T) * p * (1 - p)
    np.fill_diagonal(information, 0.0)
    np.fill_diagonal(information, -information.sum(axis=1))
    errors: Floats = np.sqrt(np.diag(np.linalg.pinv(information, hermitian=True)))
    return errors
