"""Which pairs meet which criterion, and the pairs that meet one criterion and fail another."""

from collections.abc import Sequence

import pandas as pd

from ...errors import UnknownName
from ..criteria import DELTAS, Signs, acceptability_delta_criterion
from ..pairs import PairTable

BLIMP = "blimp"


def criteria_by_pair(
    table: PairTable, *, deltas: Sequence[float] = DELTAS, signs: Signs = "strict"
) -> pd.DataFrame:
    """Evaluate every criterion for every pair and model.

    Parameters
    ----------
    table : PairTable
        From :func:`obelus.comparison.pairs.pair_table`.
    deltas : sequence of float
        Values of δ, in standard deviations.
    signs : {"strict", "published"}
        As in :func:`obelus.comparison.criteria.acceptability_delta_criterion`.

    Returns
    -------
    DataFrame, one row per model and pair
        ``model``, ``pair_id``, ``good_id``, ``bad_id``, ``human_delta``, ``model_delta`` (standard
        deviations), ``blimp`` and one column ``adc_δ`` per δ: True, False, or missing where a score is
        missing.

    Examples
    --------
    >>> from obelus.comparison.pairs import pair_table
    >>> human = pd.DataFrame({"sentence_id": list("abcd"), "score": [1.0, -1.0, -0.2, 0.1]})
    >>> pairs = pd.DataFrame({"pair_id": [1, 2], "good_id": ["a", "c"], "bad_id": ["b", "d"]})
    >>> scores = pd.DataFrame({"sentence_id": list("abcd"), "model": [1.0, -1.0, 0.5, 0.0]})
    >>> table = pair_table(human, pairs, scores, already_standardized=True)
    >>> criteria_by_pair(table, deltas=[5])[["pair_id", "blimp", "adc_5"]].to_numpy().tolist()
    [['1', True, True], ['2', True, False]]
    """
    parts = []
    for model in table.models:
        adc = {
            f"adc_{delta:g}": acceptability_delta_criterion(
                table.human_delta, table.model_delta[model], delta=delta, signs=signs
            )
            for delta in deltas
        }
        part = table.pairs[["pair_id", "good_id", "bad_id"]].assign(
            human_delta=table.human_delta,
            model_delta=table.model_delta[model],
            blimp=table.prefers_good[model].astype("boolean"),
            **adc,
        )
        part.insert(0, "model", model)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def pairs_apart(
    criteria: pd.DataFrame, meets: tuple[str, str], fails: Sequence[tuple[str, str]]
) -> list[str]:
    """Return the pairs that meet one criterion and fail others.

    Parameters
    ----------
    criteria : DataFrame
        From :func:`criteria_by_pair`.
    meets : (model, criterion)
        The criterion (``blimp`` or ``adc_δ``) that the pairs meet.
    fails : sequence of (model, criterion)
        Criteria of the same model or of others, all of which the pairs fail.

    Returns
    -------
    list of str
        ``pair_id`` in the order of the pairs; pairs without a score or a human score are left out.

    Raises
    ------
    UnknownName
        If there is no such model or criterion.

    Examples
    --------
    >>> rows = pd.DataFrame({"model": ["a", "b"], "pair_id": ["1", "1"], "adc_1": [True, False]})
    >>> pairs_apart(rows, ("a", "adc_1"), [("b", "adc_1")])
    ['1']
    """
    verdicts = {(model, name): _verdicts(criteria, model, name) for model, name in [meets, *fails]}
    is_apart = verdicts[meets].eq(True)
    for key in fails:
        is_apart &= verdicts[key].eq(False).reindex(is_apart.index, fill_value=False)
    return [str(pair) for pair in is_apart.index[is_apart.fillna(False)]]


def _verdicts(criteria: pd.DataFrame, model: str, name: str) -> pd.Series:
    names = [str(column) for column in criteria.columns if column == BLIMP or str(column).startswith("adc_")]
    if name not in names:
        raise UnknownName("criterion", name, names)
    rows = criteria[criteria["model"] == model]
    if rows.empty:
        raise UnknownName("model", model, sorted(set(criteria["model"])))
    return rows.set_index("pair_id")[name]
