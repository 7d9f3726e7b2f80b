"""A planned list becomes the trials of one session: texts, order and sides as they will be shown."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction

from experiments.materials.markup import is_marked
from experiments.models import PlannedTrial, Sentence
from judgments.models import Session, Trial
from judgments.models.trial import new_public_id
from judgments.sessions.protocol import protocol_of


@transaction.atomic
def prepare_trials(session: Session) -> None:
    """Write the session's trials, once."""
    held = Session.objects.select_for_update().get(pk=session.pk)
    if held.list_id is None or held.is_final or session.trials.exists():
        return
    protocol = protocol_of(session.version)
    turn = Session.objects.filter(list=session.list_id, is_test=session.is_test, pk__lt=session.pk).count()
    arranged = protocol.task.arrange(protocol.settings, turn=turn)
    materials = session.experiment.materials
    language = materials.language if materials else protocol.language
    planned = session.list.planned_trials.select_related("sentence", "pair__good", "pair__bad")
    sets = _Sets(planned, language=language, turn=turn)
    Trial.objects.bulk_create(
        _trial(session, one, language=language, arranged=arranged, sets=sets) for one in planned
    )


class _Sets:
    """The sentences of the sets of a list, in an order that turns from participant to participant."""

    def __init__(self, planned: Iterable[PlannedTrial], *, language: str, turn: int) -> None:
        keys = {key for one in planned for key in one.payload.get("sentences", ())}
        self.sentences = Sentence.objects.in_bulk(keys)
        self.language, self.turn = language, turn

    def options(self, payload: dict[str, Any]) -> list[dict[str, Any]]:
        """What a set shows."""
        members = [_text(self.sentences[key], self.language) for key in payload.get("sentences", ())]
        members += [
            {"sentence_id": "", "text": text, "language": payload.get("language") or self.language}
            for text in payload.get("set", ())
        ]
        start = self.turn % max(1, len(members))
        return [{"id": new_public_id(), **one} for one in members[start:] + members[:start]]


def _trial(
    session: Session, planned: PlannedTrial, *, language: str, arranged: dict[str, Any], sets: _Sets
) -> Trial:
    trial = Trial(
        session=session,
        position=planned.position,
        kind=planned.kind,
        block=planned.block,
        item_id=planned.item_id,
        sentence_id=planned.sentence_id,
        pair_id=planned.pair_id,
        expected_first=planned.expected_first,
    )
    if {"sentences", "set"} & set(planned.payload):
        trial.shown = {"options": sets.options(planned.payload), **arranged}
    elif planned.pair is not None or "good" in planned.payload:
        if trial.expected_first is None:
            trial.expected_first = bool(trial.position % 2)
        trial.shown = {"options": _options(planned, language, good_first=trial.expected_first), **arranged}
    else:
        trial.shown = {**_sentence(planned, language), **arranged}
    if planned.kind in {"catch", "practice"}:
        trial.correct = _correct(trial, planned.payload)
    return trial


def _options(planned: PlannedTrial, language: str, *, good_first: bool) -> list[dict[str, Any]]:
    """The two sentences of a forced choice, in the order of the plan."""
    if planned.pair is not None:
        members = [_text(planned.pair.good, language), _text(planned.pair.bad, language)]
    else:
        members = [_entry(planned.payload, name, language=language) for name in ("good", "bad")]
    if not good_first:
        members.reverse()
    return [{"id": new_public_id(), **one} for one in members]


def _sentence(planned: PlannedTrial, language: str) -> dict[str, Any]:
    if planned.sentence is not None:
        return _text(planned.sentence, language)
    return _entry(planned.payload, "sentence", language=language)


def _text(sentence: Sentence, language: str) -> dict[str, Any]:
    shown = {"sentence_id": sentence.key, "text": sentence.text, "language": sentence.language or language}
    return {**shown, "markup": True} if is_marked(sentence.attributes) else shown


def _entry(payload: dict[str, Any], name: str, *, language: str) -> dict[str, str]:
    """A sentence written in the study itself, which has no row."""
    return {"sentence_id": "", "text": payload[name], "language": payload.get("language") or language}


def _correct(trial: Trial, payload: dict[str, Any]) -> dict[str, Any]:
    """The intended answer of a catch or practice trial, in terms of what is shown."""
    correct: dict[str, Any] = {"feedback": payload["feedback"]} if payload.get("feedback") else {}
    if "set" in payload:
        best = None if payload.get("correct") is None else payload["set"][payload["correct"]]
        right = [one["id"] for one in trial.shown["options"] if one["text"] == best]
        return {**correct, "option": right[0]} if right else correct
    if "options" in trial.shown:
        if payload.get("open"):  # practice without a right answer
            return correct
        return {**correct, "option": trial.shown["options"][0 if trial.expected_first else 1]["id"]}
    if payload.get("correct") is None:
        return correct
    low, high = payload["correct"]
    return {**correct, "low": low, "high": high}
