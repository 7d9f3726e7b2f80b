"""Which way a column of scores points: every comparison takes a higher score as a better sentence."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..choices import SCORE_SIGNS
from ..errors import BadInput, UnknownName
from .measures import MEASURES

EVERY = ""  # key of the sign of all columns whose names or values ask for one
MIN_VALUES = 4  # fewer positive values may be chance
_WORDS = (
    r"surprisals?|surp|p?ppl|pseudo_?ppl|perplexit(?:y|ies)|loss|losses|nlls?|xent|cross[_ -]?entropy|bpc|bpb"
)
_NAME = re.compile(rf"(?:^|[^a-z])(?:{_WORDS})(?:[^a-z]|$)")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def measure_of_column(name: str) -> str:
    """Return the measure in a column's name, as the command ``score`` writes it; empty if there is none.

    Examples
    --------
    >>> [measure_of_column(name) for name in ("gpt2:slor", "gpt2:lp", "gpt2", "slor")]
    ['slor', 'lp', '', '']
    """
    model, _, measure = name.rpartition(":")
    return measure if model and measure in MEASURES else ""


def asks_for_sign(name: str) -> bool:
    """Tell whether a column's name suggests that lower values mean a better sentence.

    Examples
    --------
    >>> [asks_for_sign(name) for name in ("gpt2_surprisal", "PPL", "valLoss", "gloss", "loss-lm:lp", "gpt2")]
    [True, True, True, False, False, False]
    """
    if measure_of_column(name):
        return False
    return bool(_NAME.search(_CAMEL.sub("_", name).lower()))


def are_all_positive(values: Any) -> bool:
    """Tell whether all finite values are above 0, so that they cannot be log probabilities.

    Examples
    --------
    >>> are_all_positive([25.1, 36.2, 8.0, 9.5]), are_all_positive([-1.0, 2.0, 3.0, 4.0])
    (True, False)
    """
    numbers = np.asarray(values, dtype=np.float64)
    finite = numbers[np.isfinite(numbers)]
    return len(finite) >= MIN_VALUES and bool((finite > 0).all())


def is_unclear(name: str, values: Any = None) -> bool:
    """Tell whether a column's name or its values leave open which values mean a better sentence."""
    if measure_of_column(name):
        return False
    return asks_for_sign(name) or (values is not None and are_all_positive(values))


def column_sign(name: str, signs: Mapping[str, str], *, values: Any = None, file: str = "") -> str:
    """Return the sign chosen for a column, by default higher; refused if its name or values ask for one."""
    asks = is_unclear(name, values)
    sign = signs.get(name, signs.get(EVERY, "") if asks else "")
    if sign and sign not in SCORE_SIGNS:
        raise UnknownName("sign", sign, SCORE_SIGNS)
    if asks and not sign:
        reason = "by its name" if asks_for_sign(name) else "as no log probability is above 0"
        raise BadInput(
            f"{reason}, a lower value may mean a better sentence, as in surprisal, perplexity and loss.",
            file=file,
            column=name,
            remedy="Say which: --sign lower (its values are negated) or --sign higher (as for log "
            "probabilities); in a model URI &sign=lower.",
        )
    return sign or "higher"


def lower_columns(
    scores: pd.DataFrame, columns: Sequence[str], signs: Mapping[str, str], *, file: str = ""
) -> list[str]:
    """Return the columns in which a lower value means a better sentence."""
    return [name for name in columns if column_sign(name, signs, values=scores[name], file=file) == "lower"]


def stated_signs(scores: pd.DataFrame, columns: Sequence[str], signs: Mapping[str, str]) -> dict[str, str]:
    """Return the signs that were given, by name or for all columns that ask, of the columns.

    Examples
    --------
    >>> scores = pd.DataFrame({"ppl": [2.0, 9.0], "bert": [-2.0, -9.0]})
    >>> stated_signs(scores, ["ppl", "bert"], {"": "lower"})
    {'ppl': 'lower'}
    """
    every = {name: signs[EVERY] for name in columns if EVERY in signs and is_unclear(name, scores[name])}
    return every | {name: signs[name] for name in columns if name in signs}


def parse_signs(texts: Sequence[str]) -> dict[str, str]:
    """Parse ``--sign``: ``lower`` or ``higher`` for all columns that ask, ``COLUMN=lower`` for one.

    Examples
    --------
    >>> parse_signs(["lower", "gpt2 loss=higher"])
    {'': 'lower', 'gpt2 loss': 'higher'}
    """
    signs: dict[str, str] = {}
    for text in texts:
        column, _, sign = text.rpartition("=")
        if sign not in SCORE_SIGNS:
            raise UnknownName("sign", sign, SCORE_SIGNS)
        signs[column] = sign
    return signs


def refuse_unknown_columns(signs: Mapping[str, str], columns: Sequence[Any]) -> None:
    """Raise for a sign of a column that no file has."""
    names = [str(column) for column in columns]
    for column in signs:
        if column != EVERY and column not in names:
            raise UnknownName("column of scores", column, names)
