"""Accuracy by phenomenon and by paradigm as tables, with marks of prefix methods, and as LaTeX."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

MARKS = {"one_prefix": "1pfx", "two_prefix": "2pfx"}
OVERALL = "overall"
_SPECIAL = re.compile(r"[\\&%$#_{}~^]")
_ESCAPES = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def phenomenon_table(accuracies: pd.DataFrame, phenomena: Mapping[str, str]) -> pd.DataFrame:
    """Average accuracies by phenomenon, as BLiMP's table 3.

    Parameters
    ----------
    accuracies : DataFrame, one row per paradigm
        Indexed by paradigm; a column of shares for each judge.
    phenomena : mapping of str to str
        Phenomenon of each paradigm.

    Returns
    -------
    DataFrame
        ``phenomenon``, ``paradigms`` and a column for each judge; first the row ``overall``, the unweighted
        mean of all paradigms, then the phenomena in the order of ``phenomena``, each the unweighted mean of
        its paradigms. A judge without a number for a paradigm is averaged over the others.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8, table 3.

    Examples
    --------
    >>> shares = pd.DataFrame({"model": [0.5, 1.0, 0.9]}, index=["a", "b", "c"])
    >>> phenomenon_table(shares, {"a": "x", "b": "x", "c": "y"}).round(2).to_numpy().tolist()
    [['overall', 3, 0.8], ['x', 2, 0.75], ['y', 1, 0.9]]
    """
    names = accuracies.index.map(phenomena)
    order = [name for name in dict.fromkeys(phenomena.values()) if name in set(names)]
    means = accuracies.groupby(names).mean().reindex(order)
    table = pd.concat([accuracies.mean().to_frame(OVERALL).T, means])
    counts = [len(accuracies), *(int((names == name).sum()) for name in order)]
    table.insert(0, "phenomenon", table.index.astype(str))
    table.insert(1, "paradigms", counts)
    return table.reset_index(drop=True)


def paradigm_table(
    accuracies: pd.DataFrame, phenomena: Mapping[str, str], pairs: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return accuracies by paradigm with marks of the prefix methods, as BLiMP's table 4.

    Parameters
    ----------
    accuracies : DataFrame, one row per paradigm
        Indexed by paradigm; a column of shares for each judge.
    phenomena : mapping of str to str
        Phenomenon of each paradigm.
    pairs : DataFrame, optional
        ``paradigm`` and the flags ``one_prefix_method``, ``two_prefix_method`` of BLiMP's lines.

    Returns
    -------
    DataFrame, one row per paradigm
        ``phenomenon``, ``paradigm``, a column for each judge, ``1pfx`` and ``2pfx`` (True where every pair
        of the paradigm is made for the method; missing where the pairs do not say).

    Examples
    --------
    >>> pairs = pd.DataFrame({"paradigm": ["a"], "one_prefix_method": [True]})
    >>> paradigm_table(pd.DataFrame({"model": [0.5]}, index=["a"]), {"a": "x"}, pairs).to_numpy().tolist()
    [['x', 'a', 0.5, True, <NA>]]
    """
    table = accuracies.copy()
    names = table.index.astype(str)
    table.insert(0, "phenomenon", [phenomena.get(name, "") for name in names])
    table.insert(1, "paradigm", names)
    for method, mark in MARKS.items():
        column = f"{method}_method"
        flags: dict[str, object] = {}
        if pairs is not None and {"paradigm", column} <= set(pairs.columns):
            flags = {str(name): _all_true(part) for name, part in pairs.groupby("paradigm")[column]}
        values = [flags.get(name, pd.NA) for name in names]
        table[mark] = pd.Series(values, index=table.index, dtype="boolean")
    return table.reset_index(drop=True)


def _all_true(flags: pd.Series) -> object:
    words = flags.astype(object).map(lambda flag: str(flag).strip().lower() if not pd.isna(flag) else "")
    return pd.NA if (words == "").all() else bool(words.isin(["true", "1", "1.0", "yes"]).all())


def latex_table(
    table: pd.DataFrame, *, caption: str, label: str, percent: Sequence[str] = (), decimals: int = 1
) -> str:
    """Write a table as LaTeX for the package booktabs.

    Parameters
    ----------
    table : DataFrame
        Columns of text, numbers and marks (True is a check mark of the package amssymb).
    caption, label : str
        Of the table.
    percent : sequence of str
        Columns of shares, written in percent.
    decimals : int
        Digits after the point of shares.

    Examples
    --------
    >>> rows = pd.DataFrame({"paradigm": ["wh_island"], "gpt2": [0.789], "1pfx": [True]})
    >>> print(latex_table(rows, caption="Accuracy.", label="tab:a", percent=["gpt2"]).splitlines()[5])
    wh\\_island & 78.9 & $\\checkmark$ \\\\
    """
    is_text = [not (pd.api.types.is_numeric_dtype(table[name]) or name in percent) for name in table.columns]
    lines = [
        rf"\begin{{longtable}}{{{''.join('l' if text else 'r' for text in is_text)}}}",
        rf"\caption{{{_escape(caption)}}}\label{{{label}}}\\",
        r"\toprule",
        " & ".join(_escape(str(name)) for name in table.columns) + r" \\",
        r"\midrule\endhead",
    ]
    for row in table.itertuples(index=False):
        cells = [
            _cell(value, is_percent=name in percent, decimals=decimals)
            for name, value in zip(table.columns, row, strict=True)
        ]
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{longtable}", ""])


def _cell(value: object, *, is_percent: bool, decimals: int) -> str:
    if value is pd.NA or value is None or (isinstance(value, float) and value != value):
        return "--"
    if isinstance(value, bool | np.bool_):
        return r"$\checkmark$" if value else ""
    if is_percent:
        return f"{100 * float(str(value)):.{decimals}f}"
    return f"{value:.3f}" if isinstance(value, float) else _escape(str(value))


def _escape(text: str) -> str:
    return _SPECIAL.sub(lambda match: _ESCAPES.get(match[0], "\\" + match[0]), text)
