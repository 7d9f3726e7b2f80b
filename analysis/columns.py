"""The columns of every tidy frame: name, type, unit and meaning.

Pages, commands, API, exports and notebooks share these names. A *judgment frame* has one row per
judgment; :data:`JUDGMENT_COLUMNS` lists its possible columns. Each statistic requires a few columns
and ignores the others, so any CSV file with these names can be analysed.
"""

from dataclasses import dataclass
from typing import Literal

import pandas as pd

from .errors import MissingColumns

Kind = Literal["text", "number", "integer", "flag", "time"]


@dataclass(frozen=True)
class Column:
    """A column that may appear in a frame or an exported file."""

    name: str
    kind: Kind
    meaning: str
    unit: str = ""


def _table(*columns: Column) -> dict[str, Column]:
    return {column.name: column for column in columns}


JUDGMENT_COLUMNS = _table(
    Column("participant", "text", "Pseudonym of the participant."),
    Column("session", "text", "One sitting of one participant with one list."),
    Column("trial", "text", "One showing; unique in the file."),
    Column("position", "integer", "Place of the trial in its session, from 1."),
    Column("kind", "text", "target, filler, catch, practice or anchor."),
    Column("task", "text", "forced_choice, likert, yes_no, magnitude_estimation or another task's name."),
    Column("list", "text", "Presentation list of the session."),
    Column("round", "integer", "Round of the study that the list belongs to, from 1."),
    Column("phenomenon", "text", "Group of paradigms."),
    Column("paradigm", "text", "Group of minimal pairs or sentences of one contrast."),
    Column("item", "text", "One lexicalization; in forced choice, the minimal pair."),
    Column(
        "condition", "text", "Cell of the factorial design; in forced choice, that of the chosen sentence."
    ),
    Column("sentence_id", "text", "The rated sentence; in forced choice, the chosen one."),
    Column("pair_id", "text", "The minimal pair shown (forced choice)."),
    Column("response", "text", "The answer as given, before any parsing."),
    Column(
        "value",
        "number",
        "Answer on the task's scale; forced choice: 1 the expected member, 0 the other; yes-no: 1 yes, 0 no.",
    ),
    Column("scale_low", "number", "Lowest point of the scale shown."),
    Column("scale_high", "number", "Highest point of the scale shown."),
    Column("modulus", "number", "Number given to the reference sentence (magnitude estimation)."),
    Column("shown_first", "text", "sentence_id of the member shown first (forced choice)."),
    Column("expected_first", "flag", "Whether the expected member was shown first (forced choice)."),
    Column(
        "expected", "text", "The author's intended status of the rated sentence: acceptable or unacceptable."
    ),
    Column("correct", "flag", "Whether a catch or practice trial was answered as intended."),
    Column("status", "text", "answered, missing, skipped or timed_out."),
    Column("rt_ms", "integer", "From onset of the sentence to the answer.", "ms"),
    Column("session_status", "text", "State of the session: complete, abandoned, ..."),
    Column(
        "submission_status", "text", "Decision recorded by the platform: approved, rejected, ... or empty."
    ),
    Column(
        "native",
        "flag",
        "Whether the participant reports the study's language as a native one; empty when not asked.",
    ),
    Column("flagged", "flag", "Whether a researcher flagged the participant or session by hand."),
    Column("n_planned", "integer", "Trials planned in the session."),
)

#: The columns that open every file of judgments, in their order.
CONTRACT = (
    "participant",
    "session",
    "item",
    "condition",
    "sentence_id",
    "trial",
    "task",
    "response",
    "value",
    "rt_ms",
    "position",
    "shown_first",
)
#: Columns that the download for analysis adds to a judgment frame.
EXPORT_COLUMNS = _table(
    Column("sentence", "text", "Text of the rated sentence; in forced choice, of the chosen one."),
    Column("sentence_good", "text", "Text of the expected member (forced choice)."),
    Column("sentence_bad", "text", "Text of the other member (forced choice)."),
    Column("chosen", "text", "good, bad, both or neither (forced choice)."),
    Column(
        "z",
        "number",
        "Rating in SD of the participant's own kept ratings of targets and fillers (ddof 1).",
    ),
    Column("z_log", "number", "The same of log10(value / modulus) (magnitude estimation)."),
    Column("exclusion", "text", "Step of the plan that excludes the judgment; empty where it is kept."),
    Column("exclusion_plan", "text", "The exclusion plan, name@version; none where nothing is excluded."),
)
ITEM_COLUMNS = _table(
    Column("k", "integer", "Judgments that chose the expected member (or said yes)."),
    Column("n", "integer", "Kept, non-missing judgments."),
    Column("n_missing", "integer", "Missing judgments."),
    Column("share", "number", "k / n."),
    Column("majority", "text", "expected, unexpected, tie, insufficient or no_data."),
    Column("ci_low", "number", "Lower end of the 95 % interval."),
    Column("ci_high", "number", "Upper end of the 95 % interval."),
    Column("mean", "number", "Mean of the transformed ratings."),
    Column("sd", "number", "Standard deviation (ddof 1) over participants."),
    Column("se", "number", "Standard error of the mean, sd / sqrt(n)."),
    Column("mean_raw", "number", "Mean of the raw values."),
)


def require_columns(frame: pd.DataFrame, *names: str) -> None:
    """Raise :class:`~obelus.errors.MissingColumns` unless the frame has every named column.

    Parameters
    ----------
    frame : DataFrame
        Table to check.
    *names : str
        Names of the columns that it must have.

    Raises
    ------
    MissingColumns
        If a column is absent; the message lists the missing and the existing columns.

    Examples
    --------
    >>> require_columns(pd.DataFrame({"participant": []}), "participant", "value")
    Traceback (most recent call last):
    obelus.errors.MissingColumns: missing column value. The columns found are: participant.
    """
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise MissingColumns(missing, existing=[str(column) for column in frame.columns])
