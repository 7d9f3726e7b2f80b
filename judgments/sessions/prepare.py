"""A planned list becomes the trials of one session: texts, order and sides as they will be shown."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import transaction
from django.db.models import Count

from experiments.extras import CHECK
from experiments.materials.markup import is_marked
from experiments.models import PlannedTrial, PresentationList, Sentence
from judgments.models import Session, Trial
from judgments.models.trial import public_ids_of
from judgments.sessions.compiled import Compiled, insert_rows
from judgments.sessions.given import Members
from judgments.sessions.protocol import protocol_of
from judgments.tasks.base import Task


@dataclass(frozen=True, slots=True)
class Place:
    """One planned trial, as every session of its list gets it.

    ``members`` are the sentences of a set, the good and the bad one of a pair, or the only one.
    """

    columns: dict[str, Any]
    payload: dict[str, Any]
    members: tuple[dict[str, Any], ...]
    is_set: bool
    is_pair: bool
    pair: Members | None = None


@transaction.atomic
def prepare_trials(session: Session) -> None:
    """Write the session's trials, once."""
    held = Session.objects.select_for_update().get(pk=session.pk)
    if held.list_id is None or held.is_final or session.trials.exists():
        return
    write_trials(session)


def write_trials(session: Session) -> None:
    """Write the trials of a session that has none; the caller holds it, or has just made it."""
    insert_rows(Trial, trials_of(session))


def trials_of(
    session: Session, *, turn: int | None = None, ids: Iterator[str] | None = None
) -> list[dict[str, Any]]:
    """The session's trials by column, not yet stored; they follow from its list and its token alone.

    ``turn`` is :func:`turn_of` where that is known; other ``ids`` give what all sessions of a list share.
    """
    protocol, places = protocol_of(session.version), _places(session)
    turn = turn_of(session) if turn is None else turn
    arranged = protocol.task.arrange(protocol.settings, turn=turn)
    ids = ids or public_ids_of(session.token, n_ids(session))
    return [_row(session, place, ids, turn=turn, arranged=arranged) for place in places]


def n_ids(session: Session) -> int:
    """How many opaque ids its trials and their options have."""
    return sum(1 + len(place.members) for place in _places(session))


def pairs_of(session: Session) -> list[Members | None]:
    """The minimal pair of each of its trials, in order."""
    return [place.pair for place in _places(session)]


def _places(session: Session) -> tuple[Place, ...]:
    return places_of(session.list_id, session.version.sha256, protocol_of(session.version).language)


def turn_of(session: Session) -> int:
    """How many came to this list before, where sides or orders turn between participants; else 0."""
    protocol, places = protocol_of(session.version), _places(session)
    if type(protocol.task).arrange is Task.arrange and not any(place.is_set for place in places):
        return 0
    return sum(n for (n,) in _earlier(session.list_id, session.pk, is_test=session.is_test))


def kind_of_turn(session: Session, turn: int) -> str:
    """The same for turns that give the same trials."""
    protocol = protocol_of(session.version)
    around = math.lcm(*(max(1, len(place.members)) for place in _places(session) if place.is_set))
    return json.dumps([protocol.task.arrange(protocol.settings, turn=turn), turn % around])


_earlier = Compiled(
    lambda list_id, pk, is_test: (
        Session.objects.filter(list=list_id, is_test=is_test, pk__lt=pk)
        .order_by()
        .values("list")
        .annotate(n=Count("pk"))
        .values_list("n")
    )
)


@lru_cache(maxsize=128)
def places_of(list_id: int, version_sha256: str, language: str) -> tuple[Place, ...]:
    """The places of a list; lists never change, so each is read once in a process."""
    made = PresentationList.objects.select_related("experiment__materials").get(pk=list_id)
    materials = made.experiment.materials
    usual = materials.language if materials else language
    planned = list(made.planned_trials.select_related("sentence", "pair__good", "pair__bad"))
    sentences = Sentence.objects.in_bulk({key for one in planned for key in one.payload.get("sentences", ())})
    return tuple(_place(one, sentences, language=usual) for one in planned)


def _place(planned: PlannedTrial, sentences: dict[int, Sentence], *, language: str) -> Place:
    payload = planned.payload
    is_set = bool({"sentences", "set"} & set(payload))
    is_pair = not is_set and (planned.pair is not None or "good" in payload)
    if is_set:
        written = [_entry(payload, text, language=language) for text in payload.get("set", ())]
        members = [_text(sentences[key], language) for key in payload.get("sentences", ())] + written
    elif planned.pair is not None:
        members = [_text(planned.pair.good, language), _text(planned.pair.bad, language)]
    elif is_pair:
        members = [_entry(payload, payload[name], language=language) for name in ("good", "bad")]
    elif planned.sentence is not None:
        members = [_text(planned.sentence, language)]
    else:
        members = [_entry(payload, payload["sentence"], language=language)]
    names = ("position", "kind", "block", "item_id", "sentence_id", "pair_id", "expected_first")
    columns = {name: getattr(planned, name) for name in names}
    if is_pair and planned.expected_first is None:
        columns["expected_first"] = bool(planned.position % 2)
    stored = Members(planned.pair.good_id, planned.pair.bad_id) if planned.pair is not None else None
    return Place(columns, payload, tuple(members), is_set, is_pair, pair=stored)


def _row(
    session: Session, place: Place, ids: Iterator[str], *, turn: int, arranged: dict[str, Any]
) -> dict[str, Any]:
    row = {"session_id": session.pk, "public_id": next(ids), **place.columns}
    if place.is_set or place.is_pair:
        order = _turned(place.members, turn) if place.is_set else place.members
        if place.is_pair and not row["expected_first"]:
            order = order[::-1]
        shown = {"options": [{"id": next(ids), **one} for one in order], **arranged}
    else:
        shown = {**place.members[0], **arranged}
    is_judged = row["kind"] in {"catch", "practice"}
    row["correct"] = _correct(shown, place.payload, is_first=row["expected_first"]) if is_judged else {}
    return {**row, "shown": shown}


def _turned(members: Sequence[dict[str, Any]], turn: int) -> Sequence[dict[str, Any]]:
    """The sentences of a set in an order that turns from participant to participant."""
    start = turn % max(1, len(members))
    return (*members[start:], *members[:start])


def _text(sentence: Sentence, language: str) -> dict[str, Any]:
    shown = {"sentence_id": sentence.key, "text": sentence.text, "language": sentence.language or language}
    return {**shown, "markup": True} if is_marked(sentence.attributes) else shown


def _entry(payload: dict[str, Any], text: str, *, language: str) -> dict[str, Any]:
    """A sentence written in the study itself, which has no row."""
    shown = {"sentence_id": "", "text": text, "language": payload.get("language") or language}
    return {**shown, "markup": True} if is_marked(payload) else shown


def _correct(shown: dict[str, Any], payload: dict[str, Any], *, is_first: bool | None) -> dict[str, Any]:
    """The intended answer of a catch or practice trial, in terms of what is shown."""
    correct: dict[str, Any] = {name: payload[name] for name in ("feedback", CHECK) if payload.get(name)}
    if "set" in payload:
        best = None if payload.get("correct") is None else payload["set"][payload["correct"]]
        right = [one["id"] for one in shown["options"] if one["text"] == best]
        return {**correct, "option": right[0]} if right else correct
    if "options" in shown:
        if payload.get("open"):  # practice without a right answer
            return correct
        return {**correct, "option": shown["options"][0 if is_first else 1]["id"]}
    if payload.get("correct") is None:
        return correct
    low, high = payload["correct"]
    return {**correct, "low": low, "high": high}
