"""One figure in the registry: what it shows, what it needs, and how it is drawn from the evidence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import altair as alt
import pandas as pd

from analysis.figures.evidence import Evidence
from analysis.rows import RATING_TASKS, column_or_blank, is_kind

About = Literal["study", "models"]


@dataclass(frozen=True)
class Drawing:
    """A figure under its name.

    Parameters
    ----------
    name : str
        As in addresses, file names and commands: letters and hyphens.
    number : int
        Place in the list; figures of one number belong together.
    title : str
        Heading of the figure.
    shows : str
        One sentence for those who do not see the figure; ends without a full stop.
    needs : str
        What the figure cannot be drawn without, after "Needs".
    about : {"study", "models"}
        Whether it is drawn from a study's judgments or from models beside people.
    lacking : callable
        From the evidence to the reason why the figure does not apply; empty where it does.
    draw : callable
        From the evidence to the chart; raises ``NotEnoughData`` where nothing can be drawn.
    is_slow : bool
        Whether drawing may take many seconds; pages draw such a figure when asked.
    """

    name: str
    number: int
    title: str
    shows: str
    needs: str
    about: About
    lacking: Callable[[Evidence], str]
    draw: Callable[[Evidence], alt.LayerChart]
    is_slow: bool = False


NO_JUDGMENTS = "There are no judgments yet."


def lacks_task(*wanted: str) -> Callable[[Evidence], str]:
    """Give the test of figures that are drawn from judgments of certain tasks.

    Parameters
    ----------
    *wanted : str
        Names of tasks; none means any.

    Returns
    -------
    callable
        The ``lacking`` of a drawing.

    Examples
    --------
    >>> lacks_task("likert")(Evidence())
    'There are no judgments yet.'
    """

    def lacking(evidence: Evidence) -> str:
        if not evidence.tasks:
            return NO_JUDGMENTS
        if wanted and not set(wanted) & set(evidence.tasks):
            return f"It is about {_listed(wanted)}; this study asks for {_listed(evidence.tasks)}."
        return ""

    return lacking


def lacks_expectation(evidence: Evidence) -> str:
    """Give the test of figures that count answers as expected or not.

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    str
        Why there is nothing to draw; empty where there is.

    Examples
    --------
    >>> lacks_expectation(Evidence())
    'There are no judgments yet.'
    """
    missing = lacks_task()(evidence)
    if missing or "forced_choice" in evidence.tasks:
        return missing
    named = column_or_blank(evidence.everyone, "expected").isin(["acceptable", "unacceptable"])
    return "" if named.any() else "No judged sentence has an expected status."


def lacks_decisions(evidence: Evidence) -> str:
    """Give the test of figures that count judgments for the expected side of an item.

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    str
        Why there is nothing to draw; empty where there is.

    Examples
    --------
    >>> lacks_decisions(Evidence())
    'There are no judgments yet.'
    """
    missing = lacks_expectation(evidence)
    if missing or not set(evidence.tasks) <= set(RATING_TASKS):
        return missing
    rows = evidence.everyone[is_kind(evidence.everyone, ("target",)) & evidence.everyone["value"].notna()]
    names = ["participant", "paradigm", "item", "expected"]
    sides = pd.DataFrame({name: column_or_blank(rows, name).to_numpy() for name in names})
    sides = sides[sides["expected"].isin(["acceptable", "unacceptable"])].drop_duplicates()
    both = sides.duplicated(names[:3]).any()
    return "" if both else "Nobody rated both sides of an item: see the mean ratings."


def lacks_kind(kind: str, *columns: str) -> Callable[[Evidence], str]:
    """Give the test of figures that need trials of one kind, with some columns filled.

    Parameters
    ----------
    kind : str
        ``target``, ``catch``, …
    *columns : str
        Columns of which the trials must hold a value.

    Returns
    -------
    callable
        The ``lacking`` of a drawing.
    """

    def lacking(evidence: Evidence) -> str:
        if not evidence.tasks or evidence.judgments is None:
            return NO_JUDGMENTS
        rows = evidence.judgments[is_kind(evidence.judgments, (kind,))]
        if not len(rows):
            return f"There are no {kind} trials."
        empty = [
            name
            for name in columns
            if name not in rows.columns or not rows[name].astype(object).replace("", None).notna().any()
        ]
        return f"The {kind} trials have no {_listed(empty)}." if empty else ""

    return lacking


def lacks_models(evidence: Evidence) -> str:
    """Say why a figure of models cannot be drawn: no scores, or no pairs.

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    str
        Empty where there are both.
    """
    if evidence.report is None and (evidence.pairs is None or evidence.scores is None):
        return "There are no scores of a model on minimal pairs."
    return ""


def lacks_paradigms(evidence: Evidence) -> str:
    """Say why a figure of models by paradigm cannot be drawn.

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    str
        Empty where the pairs belong to paradigms.
    """
    missing = lacks_models(evidence)
    if missing or evidence.comparison is None:
        return missing
    if not any(model["by_paradigm"] for model in evidence.comparison["models"]):
        return "The pairs belong to no paradigms."
    return ""


def lacks_labels(evidence: Evidence) -> str:
    """Say why a figure of models beside people cannot be drawn.

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    str
        Empty where pairs have scores of models and of people.
    """
    if evidence.pairs is None or evidence.scores is None:
        return "There are no scores of a model on minimal pairs."
    if evidence.table is None or not evidence.table.labeled.any():
        return "No pair has human scores of both members."
    return ""


def _listed(names: Sequence[str]) -> str:
    words = [name.replace("_", " ") for name in names]
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
