"""Insert the frames of an imported file: lists, participants, sessions, trials, judgments.

Platform ids of participants are stored apart (``PlatformIdentity``) and replaced by pseudonyms.
"""

import base64
import hashlib
import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import repeat
from typing import Any

import pandas as pd

from analysis.aggregation.treatments import ANSWERS
from experiments.intake.bulk_insert import insert_rows
from experiments.models import Experiment, ExperimentVersion, MaterialSet, PresentationList
from judgments.imports.readers import JudgmentFile
from judgments.imports.readers.materials import OF_MATERIALS
from judgments.imports.readers.prolific import PREFIX
from judgments.models import Judgment, Participant, PlatformIdentity, Session, Trial
from judgments.models.trial import new_public_ids

LONGEST_EXTERNAL_ID = 100


def known_names(study: Experiment, read: JudgmentFile) -> dict[str, str]:
    """Stored external ids of the file's sessions; new platform participants have none."""
    pseudonyms = _known_pseudonyms(study, read)
    return {
        session: external_id(session, person, pseudonyms.get(person, ""))
        for session, person in zip(read.sessions["session"], read.sessions["participant"], strict=True)
        if person in pseudonyms
    }


def external_id(session: str, person: str, pseudonym: str) -> str:
    """Name of a session in its file, with the platform id replaced by the pseudonym."""
    name = session if person == pseudonym else session.replace(person, pseudonym)
    if len(name) <= LONGEST_EXTERNAL_ID:
        return name
    return hashlib.sha256(name.encode()).hexdigest()


def _known_pseudonyms(study: Experiment, read: JudgmentFile) -> dict[str, str]:
    platforms = dict(zip(read.participants["participant"], read.participants["recruiter"], strict=True))
    vault = {
        (recruiter, external): pseudonym
        for recruiter, external, pseudonym in PlatformIdentity.objects.filter(
            experiment=study, is_verified=True
        ).values_list("recruiter", "external_id", "participant__pseudonym")
    }
    # Stored under its own name by an import that did not know this kind of id
    former = set(Participant.objects.filter(experiment=study).values_list("pseudonym", flat=True))
    names = {
        person: person
        if person in former
        else vault.get((platform or "name", person), "" if platform else person)
        for person, platform in platforms.items()
    }
    return {person: name for person, name in names.items() if name}


def store_participants(study: Experiment, read: JudgmentFile, *, names: set[str]) -> dict[str, Participant]:
    """Create missing participants; return those with the given names in the file."""
    pseudonyms = _known_pseudonyms(study, read)
    stored = {
        participant.pseudonym: participant for participant in Participant.objects.filter(experiment=study)
    }
    new: dict[str, Participant] = {}
    identities: list[PlatformIdentity] = []
    row: Any  # a named tuple of the frame's columns
    for row in read.participants.itertuples():
        if row.participant not in names or pseudonyms.get(row.participant, "") in stored:
            continue
        person = Participant(
            experiment=study,
            pseudonym=_new_pseudonym() if row.recruiter else row.participant,
            background=dict(row.background or {}),
            is_native=row.is_native,
        )
        new[row.participant] = person
        if row.recruiter:
            identities.append(
                PlatformIdentity(
                    participant=person,
                    experiment=study,
                    recruiter=row.recruiter,
                    external_id=row.participant,
                    is_verified=True,
                )
            )
    Participant.objects.bulk_create(new.values(), batch_size=1000)
    PlatformIdentity.objects.bulk_create(identities, batch_size=1000)
    old = {person: stored[name] for person, name in pseudonyms.items() if name in stored and person in names}
    return old | new


def update_demographics(study: Experiment, read: JudgmentFile) -> int:
    """Replace the answers of the demographic export that stored participants of a file have."""
    if not read.demographics:
        return 0
    pseudonyms = _known_pseudonyms(study, read)
    joined = {
        pseudonyms.get(person, ""): {
            name: text for name, text in (background or {}).items() if name.startswith(PREFIX)
        }
        for person, background in zip(
            read.participants["participant"], read.participants["background"], strict=True
        )
    }
    # Race: an erasure empties the same field; one follows the other.
    people = Participant.objects.filter(experiment=study, pseudonym__in=joined, erased_at=None)
    changed = []
    for person in people.order_by("pk").select_for_update(of=("self",)):
        answers = joined[person.pseudonym]
        background = {
            **{
                name: text
                for name, text in person.background.items()
                if name not in read.demographics["columns"]
            },
            **answers,
        }
        if answers and background != person.background:
            person.background = background
            changed.append(person)
    Participant.objects.bulk_update(changed, ["background"], batch_size=500)
    return len(changed)


def _new_pseudonym() -> str:
    """A random name of 60 bits."""
    return base64.b32encode(secrets.token_bytes(8)).decode().lower()[:12]


BATCH = 5_000  # rows per insert, and screens that are kept
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
_SENTENCE_COLUMNS = ("sentence_id", "text")
_PAIR_COLUMNS = ("pair_id", "good_text", "bad_text", "expected_first")
Progress = Callable[[int, int], None]


def insert_sessions(
    read: JudgmentFile,
    version: ExperimentVersion,
    materials: MaterialSet,
    *,
    skip: frozenset[str],
    progress: Progress,
) -> dict[str, int]:
    """Insert all sessions but ``skip``, with their trials and judgments; return the numbers added."""
    sessions, trials = read.sessions, read.judgments
    if skip:
        sessions = sessions[~sessions["session"].isin(skip)]
        trials = trials[trials["session"].isin(sessions["session"])]
    if sessions.empty:
        return {"participants": 0, "sessions": 0, "judgments": 0}
    before = version.experiment.participants.count()
    people = store_participants(version.experiment, read, names=set(sessions["participant"]))
    lists = _lists(version, sessions, trials)
    rows = [_session(row, version, people, lists) for row in sessions.itertuples()]
    ids: dict[str, int] = {}
    for name, row in zip(
        sessions["session"], Session.objects.bulk_create(rows, batch_size=BATCH), strict=True
    ):
        ids[name] = row.pk
    stored = Stored(read, materials)
    if stored.is_set:
        trials = stored.one_row_a_set(trials)
    for start in range(0, len(trials), BATCH):
        _insert(stored, trials.iloc[start : start + BATCH], ids)
        progress(min(start + BATCH, len(trials)), len(trials))
    added = version.experiment.participants.count() - before
    return {"participants": added, "sessions": len(rows), "judgments": len(trials)}


def _insert(stored: "Stored", trials: pd.DataFrame, sessions: dict[str, int]) -> None:
    ids = insert_rows(Trial, TRIAL_FIELDS, stored.trial_rows(trials, sessions))
    insert_rows(Judgment, ("trial", *JUDGMENT_FIELDS), stored.judgment_rows(trials, ids))


def _lists(version: ExperimentVersion, sessions: pd.DataFrame, trials: pd.DataFrame) -> dict[str, int]:
    """Create the file's lists, each as long as its longest session."""
    sizes = trials.groupby("session")["position"].nunique()
    longest = sessions["session"].map(sizes).groupby(sessions["list"]).max()
    existing = {row.label: row.pk for row in version.lists.all()}
    new = [
        PresentationList(
            experiment=version.experiment, version=version, label=str(label)[:60], n_trials=int(size)
        )
        for label, size in longest.items()
        if label and str(label)[:60] not in existing
    ]
    return existing | {row.label: row.pk for row in PresentationList.objects.bulk_create(new)}


def _session(
    row: Any, version: ExperimentVersion, people: dict[str, Participant], lists: dict[str, int]
) -> Session:
    person = people[row.participant]
    return Session(
        experiment_id=version.experiment_id,
        version=version,
        participant=person,
        list_id=lists.get(row.list[:60]),
        status=row.status,
        screen="debrief",
        started_at=_timestamp(row.started_at),
        last_seen_at=_timestamp(row.completed_at),
        completed_at=_timestamp(row.completed_at),
        external_id=external_id(row.session, row.participant, person.pseudonym),
        submission_status=(row.submission_status or "")[:20],
        work_time_s=None if pd.isna(row.work_time_s) else int(row.work_time_s),
        user_agent=row.user_agent or "",
        attributes=row.attributes or {},
    )


def _timestamp(at: Any) -> datetime | None:
    return None if at is None or pd.isna(at) else at


class Stored:
    """Materials of a file's rows, and the conversion of rows to trials."""

    def __init__(self, read: JudgmentFile, materials: MaterialSet) -> None:
        self.read, (self.low, self.high) = read, read.scale
        self.is_pair, self.is_set = read.task == "forced_choice", read.task == "best_worst"
        self.language = materials.language
        sentences = materials.sentences.values_list("key", "pk", "item_id", "text")
        self.screens: dict[tuple[bool, str, str], Shown] = {}
        self.attributes: dict[tuple[Any, ...], str] = {}
        self.sentences: dict[str, list[Any]] = {key: fields for key, *fields in sentences}
        self.pairs: dict[str, list[Any]] = {}
        if self.is_pair:
            names = ("key", "pk", "good__item_id", "good_id", "bad_id", "good__key", "bad__key")
            self.pairs = {key: fields for key, *fields in materials.pairs.values_list(*names)}

    def cells(self, trials: pd.DataFrame) -> Iterator[dict[str, Any]]:
        """Rows as plain values."""
        names = list(trials.columns)
        for cells in zip(*(trials[name].tolist() for name in names), strict=True):
            yield dict(zip(names, cells, strict=True))

    def one_row_a_set(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return a row for each best–worst set: its options, the ids of both marks, the place of the best."""
        sets = rows.groupby(["session", "position"], sort=False)
        first = rows.loc[~rows.duplicated(["session", "position"])]
        options, responses, values = [], [], []
        for _, members in sets:
            options.append([self._option(n, row) for n, row in enumerate(self.cells(members), start=1)])
            marks = dict(zip(members["value"], map(str, range(1, len(members) + 1)), strict=True))
            is_answered = {1.0, -1.0} <= set(marks)
            responses.append(f"{marks[1.0]} {marks[-1.0]}" if is_answered else "")
            values.append(float(marks[1.0]) if is_answered else float("nan"))
        self.low, self.high = 1.0, float(max(map(len, options)))
        return first.assign(
            options=pd.Series(options, index=first.index, dtype=object), response=responses, value=values
        )

    def _option(self, number: int, row: dict[str, Any]) -> dict[str, Any]:
        text = row["text"] or self.sentences.get(row["sentence_id"], [None, None, ""])[2]
        return {
            "id": str(number),
            "sentence_id": row["sentence_id"],
            "text": text,
            "language": self.language,
        }

    def trial_rows(self, trials: pd.DataFrame, sessions: dict[str, int]) -> Iterator[tuple[Any, ...]]:
        """Yield the values of TRIAL_FIELDS."""
        kinds = trials["kind"].tolist()
        names = _PAIR_COLUMNS if self.is_pair else _SENTENCE_COLUMNS
        show = self._pair if self.is_pair else self._sentence
        if self.is_set:
            screens = [Shown(json.dumps({"options": options})) for options in trials["options"]]
        else:
            screens = [
                show(kind in OF_MATERIALS, *cells)
                for kind, *cells in zip(kinds, *(trials[name].tolist() for name in names), strict=True)
            ]
        return zip(
            map(sessions.__getitem__, trials["session"]),
            trials["position"].tolist(),
            kinds,
            repeat(1, len(trials)),
            new_public_ids(len(trials)),
            (screen.item for screen in screens),
            (screen.sentence for screen in screens),
            (screen.pair for screen in screens),
            trials["expected_first"].tolist(),
            (screen.screen for screen in screens),
            (screen.correct for screen in screens),
            self._attributes(trials),
            strict=True,
        )

    def _attributes(self, trials: pd.DataFrame) -> Iterator[str]:
        """Yield the further columns and the modulus of each trial, as JSON."""
        names = (*self.read.extra, "modulus")
        columns = [trials[f"extra:{name}"].tolist() for name in self.read.extra]
        moduli = [modulus if _is_number(modulus) else "" for modulus in trials["modulus"].tolist()]
        for cells in zip(*columns, moduli, strict=True):
            if (attributes := self.attributes.get(cells)) is None:
                filled = {name: cell for name, cell in zip(names, cells, strict=True) if cell != ""}
                if len(self.attributes) >= BATCH:
                    self.attributes.clear()
                attributes = self.attributes[cells] = json.dumps(filled)
            yield attributes

    def judgment_rows(self, trials: pd.DataFrame, ids: list[int]) -> Iterator[tuple[Any, ...]]:
        """Yield the trial and the values of JUDGMENT_FIELDS."""
        values = [value if _is_number(value) else None for value in trials["value"].tolist()]
        n = len(trials)
        return zip(
            ids,
            trials["status"].tolist(),
            trials["response"].tolist(),
            values,
            self._chosen(trials, values) if self.is_pair else repeat(None, n),
            repeat(self.low, n),
            repeat(self.high, n),
            trials["is_correct"].tolist(),
            (round(rt) if _is_number(rt) and 0 <= rt < 2**31 else None for rt in trials["rt_ms"].tolist()),
            repeat(Judgment.InputType.IMPORTED.value, n),
            repeat("{}", n),
            strict=True,
        )

    def _chosen(self, trials: pd.DataFrame, values: list[float | None]) -> Iterator[int | None]:
        """Yield the sentence that was chosen of each pair."""
        columns = (trials[name].tolist() for name in ("kind", "response", "pair_id"))
        for value, kind, response, pair in zip(values, *columns, strict=True):
            is_choice = value is not None and kind in OF_MATERIALS and response not in ANSWERS
            yield self.pairs[pair][2 if value == 1 else 3] if is_choice else None

    def _sentence(self, in_materials: bool, key: str, text: str) -> "Shown":
        """Return the screen of a sentence; one for all trials that show the same text."""
        if (screen := self.screens.get((in_materials, key, text))) is not None:
            return screen
        sentence, item, stored_text = self.sentences[key] if in_materials else (None, None, "")
        content = {"sentence_id": key, "text": text or stored_text, "language": self.language}
        screen = Shown(json.dumps(content), item=item, sentence=sentence)
        if len(self.screens) >= BATCH:
            self.screens.clear()
        self.screens[in_materials, key, text] = screen
        return screen

    def _pair(
        self, in_materials: bool, key: str, good_text: str, bad_text: str, expected_first: bool | None
    ) -> "Shown":
        """Members in the order shown; if that is unknown, the good one first."""
        pair, item = None, None
        members = [("", good_text), ("", bad_text)]
        if in_materials:
            pair, item, _, _, *keys = self.pairs[key]
            members = [(key, self.sentences[key][2]) for key in keys]
        if expected_first is False:
            members.reverse()
        options = [
            {"id": str(number), "sentence_id": key, "text": text, "language": self.language}
            for number, (key, text) in enumerate(members, start=1)
        ]
        if expected_first is None:
            return Shown(json.dumps({"options": options, "order": "not known"}), item=item, pair=pair)
        correct = json.dumps({} if in_materials else {"option": "1" if expected_first else "2"})
        return Shown(json.dumps({"options": options}), item=item, pair=pair, correct=correct)


@dataclass(frozen=True, slots=True)
class Shown:
    """Screen of a trial as JSON, and the ids of its materials."""

    screen: str
    item: int | None = None
    sentence: int | None = None
    pair: int | None = None
    correct: str = "{}"


def _is_number(number: float) -> bool:
    return number == number  # NaN is not equal to itself
