"""The one result of every reader: trials with their answers, their sessions, and the participants."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from analysis.errors import BadInput
from judgments.sources.values import no_value

FORMATS = ("mturk-batch", "table", "pcibex", "jspsych")

#: Columns of ``JudgmentFile.judgments`` and what stands where a file does not say.
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
    """What the person who imports says about a file.

    Attributes
    ----------
    mapping : mapping of str to str
        Our column → the file's column (``table`` and ``jspsych``).
    task : str
        Taken instead of the detection.
    scale_low, scale_high : float or None
        Ends of the scale; taken instead of the detection.
    encoding : str
        Taken instead of the detection.
    """

    mapping: Mapping[str, str] = field(default_factory=dict)
    task: str = ""
    scale_low: float | None = None
    scale_high: float | None = None
    encoding: str = ""


@dataclass(frozen=True)
class JudgmentFile:
    """A file of judgments, understood.

    Attributes
    ----------
    format : str
        One of :data:`FORMATS`.
    file : str
        Its name.
    task : str
        Name of the task, such as ``likert``.
    judgments : DataFrame, one row per trial
        :data:`TRIAL_DEFAULTS` and the columns of ``extra``. In forced choice ``good_text`` and
        ``bad_text`` are the
        members, ``value`` is 1 where the good one was chosen; where ``labelled`` is False the file does
        not say
        which one is good, and *good* stands for the one shown first.
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
        Our column → the file's column, as understood.
    notes, warnings : tuple of str
        What was inferred or passed over; what deserves a look.
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

    @property
    def counts(self) -> dict[str, Any]:
        """How many participants, sessions and judgments there are, by kind and by status."""
        trials = self.judgments
        return {
            "participants": len(self.participants),
            "sessions": len(self.sessions),
            "judgments": len(trials),
            "answered": int((trials["status"] == "answered").sum()),
            "missing": int((trials["status"] != "answered").sum()),
            "by_kind": {str(kind): int(n) for kind, n in trials["kind"].value_counts().sort_index().items()},
        }


def trial_frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Make a frame of trials, with :data:`TRIAL_DEFAULTS` where a column is not given.

    Parameters
    ----------
    columns : mapping of str to sequence or scalar

    Returns
    -------
    DataFrame
        A phenomenon without a paradigm is one paradigm of its own name, as in materials.
    """
    trials = _frame(TRIAL_DEFAULTS, columns)
    named = trials["paradigm"].where(trials["paradigm"] != "", trials["phenomenon"])
    return trials.assign(paradigm=named)


def session_frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Make a frame of sessions, with :data:`SESSION_DEFAULTS` where a column is not given.

    Parameters
    ----------
    columns : mapping of str to sequence or scalar

    Returns
    -------
    DataFrame
    """
    return _frame(SESSION_DEFAULTS, columns)


def participant_frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Make a frame of participants, with :data:`PARTICIPANT_DEFAULTS` where a column is not given.

    Parameters
    ----------
    columns : mapping of str to sequence or scalar

    Returns
    -------
    DataFrame
    """
    return _frame(PARTICIPANT_DEFAULTS, columns)


def _frame(defaults: Mapping[str, Any], columns: Mapping[str, Any]) -> pd.DataFrame:
    length = max((len(values) for values in columns.values() if not _scalar(values)), default=0)
    filled: dict[str, Any] = {}
    for name in [*defaults, *(name for name in columns if name not in defaults)]:
        values = columns.get(name, defaults.get(name))
        if isinstance(values, pd.Series):
            values = values.array
        filled[name] = pd.Series([values] * length, dtype=_dtype(values)) if _scalar(values) else values
    return pd.DataFrame(filled)


def _scalar(values: Any) -> bool:
    return values is None or isinstance(values, (str, int, float, bool, dict))


def _dtype(value: Any) -> str:
    return "float64" if isinstance(value, float) else "object"


def check_within_scale(
    trials: pd.DataFrame, scale: tuple[float | None, float | None], *, column: str, file: str
) -> None:
    """Refuse a value outside the scale.

    Parameters
    ----------
    trials : DataFrame
        Needs ``value`` and ``row``.
    scale : tuple of (float or None, float or None)
    column, file : str
        Named in the error.

    Raises
    ------
    BadInput
        Naming row and column of the first value outside.
    """
    low, high = scale
    below = trials["value"] < low if low is not None else no_value(trials)
    above = trials["value"] > high if high is not None else no_value(trials)
    outside = trials[below | above]
    if len(outside):
        first = outside.iloc[0]
        found = f"{first['value']:g} is outside the scale from {_end(low)} to {_end(high)}"
        raise BadInput(
            f"{found} ({len(outside)} such values).",
            file=file,
            row=int(first["row"]),
            column=column,
            remedy="Correct it, or give the ends of the scale (--scale-low, --scale-high).",
        )


def _end(end: float | None) -> str:
    return "any number" if end is None else f"{end:g}"


def refuse_empty(trials: Sequence[Any] | pd.DataFrame, *, file: str, remedy: str) -> None:
    """Refuse a file in which no judgment was found.

    Parameters
    ----------
    trials : sequence or DataFrame
    file, remedy : str

    Raises
    ------
    BadInput
    """
    if not len(trials):
        raise BadInput("the file holds no judgment.", file=file, remedy=remedy)
