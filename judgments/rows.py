"""The frames of a read file become rows: lists, participants, sessions, trials, judgments."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from analysis.undecided import ANSWERS
from experiments.bulk import insert_rows
from experiments.models import ExperimentVersion, MaterialSet, PresentationList
from judgments.models import Judgment, Session, Trial
from judgments.models.trial import new_public_id
from judgments.sources import JudgmentFile
from judgments.sources.materials import OF_MATERIALS
from judgments.vault import external_id, store_participants

BATCH = 20_000
TRIAL_FIELDS = (
    "session",
    "position",
    "kind",
    "block",
    "public_id",
    "item",
    "sentence",
    "pair",
    "expected_first",
    "shown",
    "correct",
    "attributes",
)
JUDGMENT_FIELDS = (
    "status",
    "response",
    "value",
    "chosen",
    "scale_low",
    "scale_high",
    "is_correct",
    "rt_ms",
    "input_type",
    "timing",
)
Progress = Callable[[int, int], None]


def insert_sessions(
    read: JudgmentFile,
    version: ExperimentVersion,
    materials: MaterialSet,
    *,
    skip: frozenset[str],
    progress: Progress,
) -> dict[str, int]:
    """Insert the sessions that are not passed over, with everything in them; gives the numbers added."""
    sessions = read.sessions[~read.sessions["session"].isin(skip)]
    trials = read.judgments[read.judgments["session"].isin(sessions["session"])]
    if sessions.empty:
        return {"participants": 0, "sessions": 0, "judgments": 0}
    before = version.experiment.participants.count()
    people = store_participants(version.experiment, read, wanted=set(sessions["participant"]))
    lists = _lists(version, sessions, trials)
    rows = [_session(row, version, people, lists) for row in sessions.itertuples()]
    ids: dict[str, int] = {}
    for name, row in zip(
        sessions["session"], Session.objects.bulk_create(rows, batch_size=BATCH), strict=True
    ):
        ids[name] = row.pk
    known = Stored(read, materials)
    for start in range(0, len(trials), BATCH):
        _insert(known, trials.iloc[start : start + BATCH], ids)
        progress(min(start + BATCH, len(trials)), len(trials))
    added = version.experiment.participants.count() - before
    return {"participants": added, "sessions": len(rows), "judgments": len(trials)}


def _insert(known: "Stored", trials: pd.DataFrame, sessions: dict[str, int]) -> None:
    rows = [known.row(cells, sessions) for cells in known.cells(trials)]
    ids = insert_rows(Trial, TRIAL_FIELDS, [trial for trial, _ in rows])
    judgments = [(pk, *judgment) for pk, (_, judgment) in zip(ids, rows, strict=True)]
    insert_rows(Judgment, ("trial", *JUDGMENT_FIELDS), judgments)


def _lists(version: ExperimentVersion, sessions: pd.DataFrame, trials: pd.DataFrame) -> dict[str, int]:
    """Make the file's lists; a list has as many trials as the longest session that sat it."""
    sizes = trials.groupby("session")["position"].size()
    longest = sessions["session"].map(sizes).groupby(sessions["list"]).max()
    known = {one.label: one.pk for one in version.lists.all()}
    new = [
        PresentationList(
            experiment=version.experiment, version=version, label=str(label)[:60], n_trials=int(size)
        )
        for label, size in longest.items()
        if label and str(label)[:60] not in known
    ]
    return known | {one.label: one.pk for one in PresentationList.objects.bulk_create(new)}


def _session(row: Any, version: ExperimentVersion, people: dict, lists: dict[str, int]) -> Session:
    person = people[row.participant]
    return Session(
        experiment_id=version.experiment_id,
        version=version,
        participant=person,
        list_id=lists.get(row.list[:60]),
        status=row.status,
        screen="debrief",
        started_at=_moment(row.started_at),
        last_seen_at=_moment(row.completed_at),
        completed_at=_moment(row.completed_at),
        external_id=external_id(row.session, row.participant, person.pseudonym),
        submission_status=(row.submission_status or "")[:20],
        work_time_s=None if pd.isna(row.work_time_s) else int(row.work_time_s),
        user_agent=row.user_agent or "",
        attributes=row.attributes or {},
    )


def _moment(moment: Any):
    return None if moment is None or pd.isna(moment) else moment


class Stored:
    """The materials that a file's rows mean, and how its rows become trials."""

    def __init__(self, read: JudgmentFile, materials: MaterialSet) -> None:
        self.read, (self.low, self.high) = read, read.scale
        self.is_pair = read.task == "forced_choice"
        self.language = materials.language
        sentences = materials.sentences.values_list("key", "pk", "item_id", "text")
        self.sentences = {key: rest for key, *rest in sentences}
        self.pairs: dict[str, list[Any]] = {}
        if self.is_pair:
            names = ("key", "pk", "good__item_id", "good_id", "bad_id", "good__key", "bad__key")
            self.pairs = {key: rest for key, *rest in materials.pairs.values_list(*names)}

    def cells(self, trials: pd.DataFrame) -> Iterator[dict[str, Any]]:
        """Give the rows one by one, as plain values."""
        names = list(trials.columns)
        for cells in zip(*(trials[name].tolist() for name in names), strict=True):
            yield dict(zip(names, cells, strict=True))

    def row(self, row: dict[str, Any], sessions: dict[str, int]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Make the trial and its judgment of a row: values of TRIAL_FIELDS and of JUDGMENT_FIELDS."""
        in_materials = row["kind"] in OF_MATERIALS
        shown = self._pair(row, in_materials) if self.is_pair else self._sentence(row, in_materials)
        extras = {name: row[f"extra:{name}"] for name in self.read.extra if row[f"extra:{name}"] != ""}
        if _is_number(row["modulus"]):
            extras["modulus"] = row["modulus"]
        trial = (
            sessions[row["session"]],
            row["position"],
            row["kind"],
            1,
            new_public_id(),
            shown.item,
            shown.sentence,
            shown.pair,
            row["expected_first"],
            shown.screen,
            shown.correct,
            extras,
        )
        return trial, self._judgment(row)

    def _sentence(self, row: dict[str, Any], in_materials: bool) -> "Shown":
        sentence, item, text = self.sentences[row["sentence_id"]] if in_materials else (None, None, "")
        screen = {"sentence_id": row["sentence_id"], "text": row["text"] or text, "language": self.language}
        return Shown(screen, item=item, sentence=sentence)

    def _pair(self, row: dict[str, Any], in_materials: bool) -> "Shown":
        """Note the members in the order shown; where that is not known, the good one first."""
        pair, item = None, None
        members = [("", row["good_text"]), ("", row["bad_text"])]
        if in_materials:
            pair, item, _, _, *keys = self.pairs[row["pair_id"]]
            members = [(key, self.sentences[key][2]) for key in keys]
        if row["expected_first"] is False:
            members.reverse()
        options = [
            {"id": str(number), "sentence_id": key, "text": text, "language": self.language}
            for number, (key, text) in enumerate(members, start=1)
        ]
        if row["expected_first"] is None:
            return Shown({"options": options, "order": "not known"}, item=item, pair=pair)
        correct = {} if in_materials else {"option": "1" if row["expected_first"] else "2"}
        return Shown({"options": options}, item=item, pair=pair, correct=correct)

    def _judgment(self, row: dict[str, Any]) -> tuple[Any, ...]:
        answered = _is_number(row["value"])
        chosen = None
        is_choice = self.is_pair and row["response"] not in ANSWERS
        if answered and is_choice and row["kind"] in OF_MATERIALS:
            chosen = self.pairs[row["pair_id"]][2 if row["value"] == 1 else 3]
        return (
            row["status"],
            row["response"],
            row["value"] if answered else None,
            chosen,
            self.low,
            self.high,
            row["is_correct"],
            round(row["rt_ms"]) if _is_number(row["rt_ms"]) and 0 <= row["rt_ms"] < 2**31 else None,
            Judgment.InputType.IMPORTED.value,
            {},
        )


@dataclass(frozen=True)
class Shown:
    """What stood on the screen of a trial, and the rows it came from."""

    screen: dict[str, Any]
    item: int | None = None
    sentence: int | None = None
    pair: int | None = None
    correct: dict[str, str] = field(default_factory=dict)


def _is_number(number: float) -> bool:
    return number == number
