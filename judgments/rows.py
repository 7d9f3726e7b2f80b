"""The frames of a read file become rows: lists, participants, sessions, trials, judgments."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pandas as pd

from experiments.models import ExperimentVersion, MaterialSet, PresentationList
from judgments.models import Judgment, Session, Trial
from judgments.models.trial import new_public_id
from judgments.sources import JudgmentFile
from judgments.sources.materials import OF_MATERIALS
from judgments.vault import external_id, store_participants

BATCH = 5_000
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
    done = 0
    for batch in _batches(known.trials(trials, ids)):
        stored = Trial.objects.bulk_create([trial for trial, _ in batch])
        for trial, (_, judgment) in zip(stored, batch, strict=True):
            judgment.trial_id = trial.pk
        Judgment.objects.bulk_create([judgment for _, judgment in batch])
        done += len(batch)
        progress(done, len(trials))
    added = version.experiment.participants.count() - before
    return {"participants": added, "sessions": len(rows), "judgments": len(trials)}


def _batches(rows: Iterator[tuple[Trial, Judgment]]) -> Iterator[list[tuple[Trial, Judgment]]]:
    while batch := list(islice(rows, BATCH)):
        yield batch


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
        self.read, self.low, self.high = read, *read.scale
        self.is_pair = read.task == "forced_choice"
        self.language = materials.language
        self.sentences = {
            key: (pk, item, text or "")
            for key, pk, item, text in materials.sentences.values_list("key", "pk", "item_id", "text")
        }
        self.pairs = {}
        if self.is_pair:
            found = materials.pairs.values_list(
                "key", "pk", "good__item_id", "good_id", "bad_id", "good__key", "bad__key"
            )
            self.pairs = {key: rest for key, *rest in found}

    def trials(self, rows: pd.DataFrame, sessions: dict[str, int]) -> Iterator[tuple[Trial, Judgment]]:
        """Make a trial and its judgment of every row."""
        names = [name for name in rows.columns if not name.startswith("extra:")]
        columns = [rows[name].tolist() for name in names]
        extras = [rows[f"extra:{name}"].tolist() for name in self.read.extra]
        further = zip(*extras, strict=True) if extras else iter(lambda: (), None)
        for cells, more in zip(zip(*columns, strict=True), further, strict=False):
            row = dict(zip(names, cells, strict=True))
            attributes = {name: cell for name, cell in zip(self.read.extra, more, strict=True) if cell != ""}
            trial = self._trial(row, sessions[row["session"]], attributes)
            yield trial, self._judgment(row, trial)

    def _trial(self, row: dict[str, Any], session: int, attributes: dict[str, str]) -> Trial:
        if row["modulus"] == row["modulus"]:
            attributes["modulus"] = row["modulus"]
        trial = Trial(
            session_id=session,
            position=row["position"],
            kind=row["kind"],
            public_id=new_public_id(),
            attributes=attributes,
        )
        in_materials = row["kind"] in OF_MATERIALS
        if self.is_pair:
            self._show_pair(trial, row, in_materials)
        else:
            self._show_sentence(trial, row, in_materials)
        return trial

    def _show_sentence(self, trial: Trial, row: dict[str, Any], in_materials: bool) -> None:
        text = row["text"]
        if in_materials:
            trial.sentence_id, trial.item_id, stored = self.sentences[row["sentence_id"]]
            text = text or stored
        trial.shown = {"sentence_id": row["sentence_id"], "text": text, "language": self.language}

    def _show_pair(self, trial: Trial, row: dict[str, Any], in_materials: bool) -> None:
        """Note the members in the order shown; where the file does not tell it, the good one is noted first."""
        good, bad = ("", row["good_text"]), ("", row["bad_text"])
        if in_materials:
            trial.pair_id, trial.item_id, _, _, good_key, bad_key = self.pairs[row["pair_id"]]
            good = (good_key, self.sentences[good_key][2])
            bad = (bad_key, self.sentences[bad_key][2])
        trial.expected_first = row["expected_first"]
        members = [good, bad] if row["expected_first"] is not False else [bad, good]
        trial.shown = {
            "options": [
                {"id": str(number), "sentence_id": key, "text": text, "language": self.language}
                for number, (key, text) in enumerate(members, start=1)
            ]
        }
        if row["expected_first"] is None:
            trial.shown["order"] = "not known"
        elif row["kind"] in ("catch", "practice"):
            trial.correct = {"option": "1" if row["expected_first"] else "2"}

    def _judgment(self, row: dict[str, Any], trial: Trial) -> Judgment:
        answered = row["value"] == row["value"]
        chosen = None
        if trial.pair_id and answered:
            chosen = self.pairs[row["pair_id"]][2 if row["value"] == 1 else 3]
        return Judgment(
            status=row["status"],
            response=row["response"],
            value=row["value"] if answered else None,
            chosen_id=chosen,
            scale_low=self.low,
            scale_high=self.high,
            is_correct=row["is_correct"],
            rt_ms=int(row["rt_ms"]) if row["rt_ms"] == row["rt_ms"] and row["rt_ms"] >= 0 else None,
            input_type=Judgment.InputType.IMPORTED,
        )
