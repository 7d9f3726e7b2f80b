"""Raw results of PCIbex: answers to scales are judgments, the others tell about the participant."""

from pathlib import Path

import pandas as pd

from experiments.materials.encoding import read_text
from judgments.sources.base import JudgmentFile, SourceOptions, check_within_scale, refuse_empty, trial_frame
from judgments.sources.pcibex_lines import STANDARD, lines_of, readable
from judgments.sources.pcibex_people import (
    background_of,
    participant_column,
    participants_of,
    session_names,
    sessions_of,
)
from judgments.sources.scales import scale_of
from judgments.sources.values import EMPTY, kind_of, numbers_of

_ANSWERS = {"Choice", "Final", "Selected", "Selection", "Answer"}


def read_pcibex(path: Path, options: SourceOptions) -> JudgmentFile:
    """Read a raw results file of PCIbex.

    Parameters
    ----------
    path : Path
    options : SourceOptions
        ``scale_low``, ``scale_high`` and ``encoding`` matter.

    Returns
    -------
    JudgmentFile
        Answers of trials that carry an ``item`` or a ``sentence`` column are judgments; their kind
        follows the trial's label. Other answers are the participant's background.

    Raises
    ------
    BadInput
        If a line has a length that no list of columns announced, an answer is no number, or is outside
        the scale.
    """
    decoded = read_text(path, encoding=options.encoding)
    lines = lines_of(decoded)
    lines["session"] = session_names(lines)
    answers = _last_answers(lines)
    judged = _is_judged(answers)
    trials, extra = _trials(lines, answers[judged], decoded.file)
    refuse_empty(
        trials, file=decoded.file, remedy="Log the scale and the columns item or sentence in the script."
    )
    scale, note = scale_of("likert", trials["value"], low=options.scale_low, high=options.scale_high)
    check_within_scale(trials, scale, column="Value", file=decoded.file)
    background = background_of(answers[~judged])
    changed = int(len(_choices(lines)) - len(answers))
    return JudgmentFile(
        "pcibex",
        decoded.file,
        "likert",
        trials,
        sessions_of(lines, trials),
        participants_of(lines, background),
        scale=scale,
        extra=extra,
        description=decoded.description,
        mapping={"value": "Value", "position": "EventTime", "kind": "Label"},
        notes=(
            note,
            f"{changed} answers were changed before going on; the last one counts",
            *_texts_note(trials),
        ),
    )


def _choices(lines: pd.DataFrame) -> pd.DataFrame:
    return lines[
        lines["parameter"].isin(_ANSWERS) & (lines["type"] != "PennController") & (lines["type"] != "Button")
    ]


def _last_answers(lines: pd.DataFrame) -> pd.DataFrame:
    """Keep the last answer to each question of each trial."""
    choices = _choices(lines)
    times = pd.to_numeric(choices["time"], errors="coerce")
    ordered = choices.assign(at=times).sort_values("at", kind="stable")
    return ordered.drop_duplicates(["session", "order", "label", "name"], keep="last").sort_index()


def _stated(rows: pd.DataFrame, name: str) -> pd.Series:
    if name not in rows.columns:
        return pd.Series("", index=rows.index, dtype=object)
    return rows[name].where(~rows[name].isin(EMPTY), "")


def _is_judged(answers: pd.DataFrame) -> "pd.Series[bool]":
    return (_stated(answers, "item") != "") | (_stated(answers, "sentence") != "")


def _trials(lines: pd.DataFrame, judged: pd.DataFrame, file: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Make one trial of every judged answer, in the order in which they were given."""
    rows = judged["row"].astype(int)
    values = numbers_of(judged["value"].map(readable).set_axis(rows), column="Value", file=file).to_numpy()
    label = judged["label"]
    item, condition = _stated(judged, "item"), _stated(judged, "condition")
    key = label + ":" + item.where(item != "", _stated(judged, "sentence"))
    placed = (
        judged.sort_values(["session", "at"], kind="stable").groupby("session", sort=False).cumcount() + 1
    )
    participant = participant_column(judged)
    known = STANDARD | {participant, "item", "condition", "sentence", "agent", "row", "session", "at"}
    extra = tuple(
        str(name) for name in judged.columns if name not in known and (_stated(judged, str(name)) != "").any()
    )
    trials = trial_frame(
        {
            "session": judged["session"].array,
            "position": placed.sort_index().to_numpy(),
            "kind": pd.array([kind_of(name) or "target" for name in label], dtype=object),
            "paradigm": label.array,
            "item": key.array,
            "condition": condition.array,
            "sentence_id": key.where(condition == "", key + ":" + condition).array,
            "text": _stated(judged, "sentence").map(readable).array,
            "response": judged["value"].map(readable).array,
            "value": values,
            "status": pd.array(
                ["missing" if value != value else "answered" for value in values], dtype=object
            ),
            "rt_ms": (judged["at"] - _onsets(lines, judged)).to_numpy(dtype=float),
            "row": rows.array,
            **{f"extra:{name}": _stated(judged, name).map(readable).array for name in extra},
        }
    )
    return trials.sort_values(["session", "position"], kind="stable", ignore_index=True), extra


def _onsets(lines: pd.DataFrame, judged: pd.DataFrame) -> pd.Series:
    """Give when each judged trial's text was printed, or its trial began."""
    names = ["session", "order", "label"]
    onset = pd.Series(float("nan"), index=judged.index)
    for parameter in ("Start", "Print"):
        shown = lines[lines["parameter"] == parameter]
        first = pd.to_numeric(shown["time"], errors="coerce").groupby([shown[name] for name in names]).min()
        found = judged[names].merge(first.rename("onset"), left_on=names, right_index=True, how="left")[
            "onset"
        ]
        onset = found.where(found.notna(), onset)
    return onset.where(onset <= judged["at"])


def _texts_note(trials: pd.DataFrame) -> tuple[str, ...]:
    texts = trials.groupby("sentence_id")["text"].nunique()
    several = int((texts > 1).sum())
    return (
        (f"{several} sentences were shown in more than one wording; each trial keeps what it showed",)
        if several
        else ()
    )
