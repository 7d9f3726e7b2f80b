"""Which task do these values come from, and how far does their scale reach? Detected and named."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis.errors import BadInput, UnknownName
from judgments.sources.values import cleaned, flag_of, numbers_of

TASKS = ("forced_choice", "likert", "yes_no", "magnitude_estimation", "slider")
_LONGEST_LIKERT = 11


def values_of(cells: pd.Series, *, column: str, file: str) -> pd.Series:
    """Read answers: numbers, or yes and no where every answer is one of these.

    Parameters
    ----------
    cells : Series of str
        The index is the line of the file.
    column, file : str
        Named in errors.

    Returns
    -------
    Series of float, same index
        NaN where there is no answer.

    Raises
    ------
    BadInput
        For text, NaN or an infinite number; row and column are named.
    """
    levels = [level for level in cells.unique() if cleaned(level)]
    if levels and not any(any(sign.isdigit() for sign in level) for level in levels):
        words = {level: flag_of(level) for level in levels}
        if None not in words.values():
            return cells.map({level: float(bool(flag)) for level, flag in words.items()}).astype("float64")
    return numbers_of(cells, column=column, file=file)


def guess_task(
    values: pd.Series, columns: Mapping[str, str], frame: pd.DataFrame, *, asked: str, file: str
) -> tuple[str, str]:
    """Name the task of a file.

    Parameters
    ----------
    values : Series of float
    columns : mapping of str to str
        Our column → the file's, as understood; a ``task`` column says the task, pairs mean forced choice.
    frame : DataFrame of str
        The file's rows.
    asked : str
        Taken instead of the detection.
    file : str
        Named in errors.

    Returns
    -------
    tuple of (str, str)
        The task and a note that says how it was found.

    Raises
    ------
    UnknownName
        If the task asked for does not exist.
    BadInput
        If the file holds several tasks.
    """
    if asked:
        if asked not in TASKS:
            raise UnknownName("task", asked, TASKS)
        return asked, f"task {asked}, as asked for"
    if "task" in columns:
        named = sorted({cleaned(cell) for cell in frame[columns["task"]].unique()} - {""})
        if len(named) > 1:
            raise BadInput(
                f"the file holds several tasks ({', '.join(named)}).",
                file=file,
                column=columns["task"],
                remedy="Import one task per study.",
            )
        if named and named[0] not in TASKS:
            raise UnknownName("task", named[0], TASKS)
        if named:
            return named[0], f"task {named[0]}, as the file says"
    task = _likely_task(values.dropna().to_numpy(), pairs=bool({"pair_id", "good", "good_id"} & set(columns)))
    return task, f"task {task}, from the values found; say so where it is another"


def _likely_task(values: np.ndarray, *, pairs: bool) -> str:
    if np.isin(values, (0.0, 1.0)).all():
        return "forced_choice" if pairs else "yes_no"
    whole = bool((values % 1 == 0).all())
    if whole and values.min() >= 0 and values.max() <= _LONGEST_LIKERT:
        return "likert"
    if values.min() >= 0 and (values.max() <= 1 or (whole and values.max() == 100)):
        return "slider"
    return "magnitude_estimation"


def scale_of(
    task: str, values: pd.Series, *, low: float | None, high: float | None
) -> tuple[tuple[float | None, float | None], str]:
    """Give the ends of a task's scale.

    Parameters
    ----------
    task : str
    values : Series of float
    low, high : float or None
        Taken instead of the detection.

    Returns
    -------
    tuple
        Lowest and highest point (None where unbounded), and a note that says how they were found.

    Raises
    ------
    BadInput
        If the scale asked for is empty.
    """
    if low is not None and high is not None and low >= high:
        raise BadInput(
            f"a scale from {low:g} to {high:g} is empty.", remedy="Give --scale-low below --scale-high."
        )
    if task in ("forced_choice", "yes_no"):
        return (0.0, 1.0), "scale 0 to 1"
    if task == "magnitude_estimation":
        return (low, high), "no ends of the scale (magnitude estimation)"
    found = values.dropna()
    smallest, largest = (float(found.min()), float(found.max())) if len(found) else (1.0, 7.0)
    if task == "slider":
        guess = (0.0, 1.0 if largest <= 1 else 100.0)
    else:
        guess = (min(smallest, 1.0), max(largest, 2.0))
    scale = (guess[0] if low is None else low, guess[1] if high is None else high)
    stated = low is not None and high is not None
    how = "as asked for" if stated else "from the values found; give its ends where they are others"
    return scale, f"scale {scale[0]:g} to {scale[1]:g}, {how}"
