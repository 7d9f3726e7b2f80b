"""Several judgments of one sentence by one participant: repetitions, or rows that should not be there."""

from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.errors import BadInput, UnknownName
from analysis.text import plural
from experiments.materials.findings import list_rows
from judgments.imports.readers.base import JudgmentFile
from judgments.imports.readers.materials import OF_MATERIALS

#: What to do with repeats → its meaning, for the command and the page.
REPEATS = {
    "number": "Repetitions: all are kept and numbered",
    "average": "Average: one rating of each sentence by each participant",
    "first": "Wrong: only the first is kept, the others are left out",
    "refuse": "Refuse the file",
}
REPETITION = "repetition"  # attribute of a trial


def resolve_repeats(read: JudgmentFile, *, rule: str = "") -> JudgmentFile:
    """Number, average, drop or refuse repeats; without a rule they are numbered, with a warning.

    A repeat is a judgment of a target or filler that the participant judged before: matching has given it the
    same sentence or pair. Statistics count a participant once for an item whatever the rule.
    """
    if rule and rule not in REPEATS:
        raise UnknownName("rule for repeats", rule, list(REPEATS))
    if read.task == "best_worst":  # sets share sentences by design
        return read
    judgments = read.judgments
    if not _has_repeats(read):
        return read
    cells = _cells(read)
    number = judgments.groupby(cells, sort=False).cumcount() + 1
    is_repeat = number > 1
    report = _report(judgments, is_repeat, cells)
    if rule == "refuse":
        raise BadInput(
            report, file=read.file, row=int(judgments.loc[is_repeat, "row"].iloc[0]), remedy=_REMEDY
        )
    if rule == "average":
        averaged = _average_repeats(read, cells, is_repeat)
        return _add_note(averaged, f"{report} They are averaged, one for each participant.")
    if rule == "first":
        return _add_note(_select_rows(read, ~is_repeat), f"{report} Only the first of each is kept.")
    is_repeated = cells.duplicated(keep=False)
    repetition = number.astype(object).where(is_repeated, "")
    numbered = replace(
        read,
        judgments=judgments.assign(**{f"extra:{REPETITION}": repetition}),
        extra=(*read.extra, REPETITION),
    )
    if rule == "number":
        return _add_note(numbered, f"{report} They are numbered as repetitions.")
    return replace(
        numbered, warnings=(*read.warnings, f"{report} They are numbered as repetitions. {_REMEDY}")
    )


_REMEDY = (
    "Say which: --repeats number (repetitions), average, first (the others are wrong) or refuse. "
    "Each participant counts once for a sentence: the mean rating, the more frequent choice."
)


def _has_repeats(read: JudgmentFile) -> bool:
    stimulus = "pair_id" if read.task == "forced_choice" else "sentence_id"
    rows = read.judgments.loc[read.judgments["kind"].isin(OF_MATERIALS), ["session", stimulus]]
    people = dict(zip(read.sessions["session"], read.sessions["participant"], strict=True))
    return bool(rows.assign(session=rows["session"].map(people)).duplicated().any())


def _cells(read: JudgmentFile) -> pd.Series:
    """Participant and sentence (or pair) of each row; rows outside the materials are cells of their own."""
    judgments = read.judgments
    people = dict(zip(read.sessions["session"], read.sessions["participant"], strict=True))
    stimuli = judgments["pair_id" if read.task == "forced_choice" else "sentence_id"].astype(str)
    cells = judgments["session"].map(people).astype(str) + "\0" + stimuli
    in_materials = judgments["kind"].isin(OF_MATERIALS)
    if in_materials.all():
        return cells
    return cells.where(in_materials, [f"row\0{place}" for place in range(len(judgments))])


def _report(judgments: pd.DataFrame, is_repeat: pd.Series, cells: pd.Series) -> str:
    n_repeats = int(is_repeat.sum())
    n_people = cells[is_repeat].str.partition("\0")[0].nunique()
    most = int(cells.value_counts().max())
    same = _n_same(judgments, is_repeat, cells)
    copies = f"; {same} have the same answer as the first" if same else ""
    return (
        f"{plural(n_repeats, 'row')} judge a sentence again that the same participant judged before "
        f"({plural(n_people, 'participant')}, up to {most} times{copies}): "
        f"{list_rows(judgments.loc[is_repeat, 'row'])}."
    )


def _n_same(judgments: pd.DataFrame, is_repeat: pd.Series, cells: pd.Series) -> int:
    """Return how many repeats have the answer and the response time of the first judgment."""
    answers = judgments["response"].map(str) + "\0" + judgments["rt_ms"].map(str)
    first = answers.groupby(cells, sort=False).transform("first")
    return int((is_repeat & (answers == first)).sum())


def _average_repeats(read: JudgmentFile, cells: pd.Series, is_repeat: pd.Series) -> JudgmentFile:
    """Give the first judgment of each cell the mean of all; choices and yes-no have no mean."""
    if read.task in ("forced_choice", "yes_no", "likert"):
        raise BadInput(
            f"answers of the task {read.task} have no mean on the scale.",
            file=read.file,
            remedy="Keep them as repetitions (--repeats number); each participant counts once all the same.",
        )
    means = read.judgments["value"].groupby(cells, sort=False).transform("mean")
    judgments = read.judgments.assign(value=means)
    response = judgments["response"].where(np.isnan(means), means.map("{:g}".format))
    return _select_rows(replace(read, judgments=judgments.assign(response=response)), ~is_repeat)


def _select_rows(read: JudgmentFile, rows: pd.Series) -> JudgmentFile:
    return replace(read, judgments=read.judgments[rows])


def _add_note(read: JudgmentFile, note: str) -> JudgmentFile:
    return replace(read, notes=(*read.notes, note))
