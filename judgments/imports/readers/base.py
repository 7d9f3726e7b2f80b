"""Result of every reader: trials with answers, sessions, participants."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from analysis.errors import BadInput
from experiments.materials.encoding import Encoding, InferredEncoding
from judgments.imports.readers.cells import no_value

FORMATS = (
    "mturk-batch",
    "table",
    "pcibex",
    "jspsych",
    "ibex",
    "qualtrics",
    "gorilla",
    "otree",
    "label-studio",
    "potato",
)

ATTRIBUTE = "attribute"  # field of several columns: they are stated to be no factors
BACKGROUND = "background"  # field of several columns: they are about the participant

#: Columns of ``JudgmentFile.judgments`` with their defaults.
TRIAL_DEFAULTS: Mapping[str, Any] = {
    "session": "",
    "position": 0,
    "kind": "target",
    "phenomenon": "",
    "paradigm": "",
    "item": "",
    "condition": "",
    "sentence_id": "",
    "text": "",
    "context": "",
    "expected": "",
    "pair_id": "",
    "good_id": "",
    "bad_id": "",
    "good_text": "",
    "bad_text": "",
    "labelled": True,
    "expected_first": None,
    "response": "",
    "value": float("nan"),
    "status": "answered",
    "is_correct": None,
    "rt_ms": float("nan"),
    "modulus": float("nan"),
    "row": 0,
}
#: Columns of ``JudgmentFile.sessions``.
SESSION_DEFAULTS: Mapping[str, Any] = {
    "session": "",
    "participant": "",
    "list": "",
    "status": "complete",
    "submission_status": "",
    "started_at": None,
    "completed_at": None,
    "work_time_s": None,
    "user_agent": "",
    "attributes": None,
}
#: Columns of ``JudgmentFile.participants``.
PARTICIPANT_DEFAULTS: Mapping[str, Any] = {
    "participant": "",
    "is_native": None,
    "recruiter": "",
    "background": None,
}


@dataclass(frozen=True)
class SourceOptions:
    """Reading options of a file.

    Attributes
    ----------
    mapping : mapping of str to str
        Our column → the file's column (``table`` and ``jspsych``).
    task : str
        Overrides detection.
    scale_low, scale_high : float or None
        Ends of the scale; override detection. A lowest point above the highest reverses the answers.
    encoding : str or mapping of str to str
        Overrides detection, for all files or by the file's name.
    sheet : str
        Sheet of a spreadsheet; by default the first with cells.
    people : tuple of str
        Columns that hold the answers of one person each (``table``); names with ``*``.
    answers : tuple of str
        Columns that hold the answers to one sentence each (``table``, ``qualtrics``); names with ``*``.
    missing : tuple of str
        Answers that stand for no answer, such as ``99``.
    labels : mapping of str to str
        Answer, such as the index of a button → its meaning: a number, yes, no, good, bad, first or second.
    where : mapping of str to tuple of str
        Column of the file → values; other rows are left out.
    """

    mapping: Mapping[str, str] = field(default_factory=dict)
    task: str = ""
    scale_low: float | None = None
    scale_high: float | None = None
    encoding: Encoding = ""
    sheet: str = ""
    people: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class JudgmentFile:
    """A parsed file of judgments.

    Attributes
    ----------
    format : str
        One of :data:`FORMATS`, or of a plugin.
    file : str
        Its name.
    task : str
        Name of the task, such as ``likert``.
    judgments : DataFrame, one row per trial, in best–worst scaling per sentence of each trial
        :data:`TRIAL_DEFAULTS` and the columns of ``extra``. In forced choice ``good_text`` and
        ``bad_text`` are the members and ``value`` is 1 where the good one was chosen; where ``labelled``
        is False the file does not say which one is good, and *good* is the one shown first.
    sessions : DataFrame
        :data:`SESSION_DEFAULTS`; ``session`` is unique.
    participants : DataFrame
        :data:`PARTICIPANT_DEFAULTS`; ``recruiter`` names the platform where ``participant`` is a
        platform's id.
    scale : tuple of (float or None, float or None)
        Lowest and highest point; None where unbounded.
    extra : tuple of str
        Further columns of the file, kept with each trial.
    description : str
        Encoding, line ends, delimiter.
    mapping : mapping of str to str
        Our column → the file's column.
    notes, warnings : tuple of str
        What was inferred or skipped; what needs attention.
    inferred : InferredEncoding or None
        What to check where the encoding was inferred.
    demographics : mapping or None
        What was joined from Prolific's demographic export: file, columns, numbers of rows and participants.
    """

    format: str
    file: str
    task: str
    judgments: pd.DataFrame
    sessions: pd.DataFrame
    participants: pd.DataFrame
    scale: tuple[float | None, float | None] = (None, None)
    extra: tuple[str, ...] = ()
    description: str = ""
    mapping: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    inferred: InferredEncoding | None = None
    demographics: Mapping[str, Any] | None = None

    @property
    def questions(self) -> list[str]:
        """Questions whose answers are kept with participants."""
        return list(
            dict.fromkeys(name for answers in self.participants["background"] for name in answers or {})
        )

    @property
    def counts(self) -> dict[str, Any]:
        """Numbers of participants, sessions and judgments, by status and kind."""
        trials = self.judgments
        if self.task == "best_worst":  # a row for each sentence of a set
            trials = trials.drop_duplicates(["session", "position"])
        return {
            "participants": len(self.participants),
            "sessions": len(self.sessions),
            "judgments": len(trials),
            "answered": int((trials["status"] == "answered").sum()),
            "missing": int((trials["status"] != "answered").sum()),
            "by_kind": {str(kind): int(n) for kind, n in trials["kind"].value_counts().sort_index().items()},
        }


@dataclass(frozen=True)
class Rows:
    """Rows of a file as text, with the description of the file."""

    frame: pd.DataFrame
    file: str
    description: str
    notes: tuple[str, ...] = ()
    inferred: InferredEncoding | None = None


def trial_frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """A frame of trials, with :data:`TRIAL_DEFAULTS` for missing columns."""
    trials = _frame(TRIAL_DEFAULTS, columns)
    paradigms = trials["paradigm"].where(trials["paradigm"] != "", trials["phenomenon"])
    return trials.assign(paradigm=paradigms)


def session_frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """A frame of sessions, with :data:`SESSION_DEFAULTS` for missing columns."""
    return _frame(SESSION_DEFAULTS, columns)


def participant_frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """A frame of participants, with :data:`PARTICIPANT_DEFAULTS` for missing columns."""
    return _frame(PARTICIPANT_DEFAULTS, columns)


def _frame(defaults: Mapping[str, Any], columns: Mapping[str, Any]) -> pd.DataFrame:
    length = max((len(values) for values in columns.values() if not _scalar(values)), default=0)
    filled: dict[str, Any] = {}
    constants: dict[str, pd.Series] = {}  # columns of one value share it until they are written to
    for name in [*defaults, *(name for name in columns if name not in defaults)]:
        values = columns.get(name, defaults.get(name))
        if _scalar(values):
            if repr(values) not in constants:
                cells = np.empty(length, dtype=_dtype(values))
                cells.fill(values)
                constants[repr(values)] = pd.Series(cells, dtype=_dtype(values), copy=False)
            filled[name] = constants[repr(values)]
            continue
        if isinstance(values, pd.Series):
            values = values.array
        if isinstance(values, pd.arrays.NumpyExtensionArray):
            values = values.to_numpy()
        if isinstance(values, np.ndarray) and values.dtype == object:
            # Otherwise pandas copies each text into an array of its own.
            values = pd.Series(values, dtype=object, copy=False)
        filled[name] = values
    return pd.DataFrame(filled, copy=False)


def _scalar(values: Any) -> bool:
    return values is None or isinstance(values, (str, int, float, bool, dict))


def _dtype(value: Any) -> str:
    return "float64" if isinstance(value, float) else "object"


def check_within_scale(
    trials: pd.DataFrame, scale: tuple[float | None, float | None], *, column: str, file: str
) -> None:
    """Refuse a value outside the scale."""
    low, high = scale
    below = trials["value"] < low if low is not None else no_value(trials)
    above = trials["value"] > high if high is not None else no_value(trials)
    outside = trials[below | above]
    if len(outside):
        first = outside.iloc[0]
        problem = f"{first['value']:g} is outside the scale from {_end(low)} to {_end(high)}"
        raise BadInput(
            f"{problem} ({len(outside)} such values).",
            file=file,
            row=int(first["row"]),
            column=column,
            remedy="Correct it, name codes for no answer (--missing), or give the ends of the scale "
            "(--scale-low, --scale-high).",
        )


_CONTROL = re.compile("[\x00-\x1f\x7f]")


def refuse_control_characters(read: JudgmentFile) -> None:
    """Refuse names of participants, sessions, lists, columns and questions with a control character."""
    names: dict[str, Sequence[str] | pd.Series] = {
        "participant": read.participants["participant"],
        "session": read.sessions["session"],
        "list": read.sessions["list"],
        "name of a column": read.extra,
        "name of a question": read.questions,
    }
    for what, texts in names.items():
        if wrong := next((text for text in texts if _CONTROL.search(str(text))), None):
            raise BadInput(
                f"the {what} {wrong!r} has a control character.",
                file=read.file,
                remedy="Delete it in the file.",
            )


def _end(end: float | None) -> str:
    return "any number" if end is None else f"{end:g}"


def refuse_empty(trials: Sequence[Any] | pd.DataFrame, *, file: str, remedy: str) -> None:
    """Refuse a file in which no judgment was found."""
    if not len(trials):
        raise BadInput("the file holds no judgment.", file=file, remedy=remedy)
