"""A planned list becomes the trials of one session: texts, order and sides as they will be shown."""

from typing import Any

from django.db import transaction

from experiments.models import PlannedTrial, Sentence
from judgments.models import Session, Trial
from judgments.models.trial import new_public_id
from judgments.sessions.protocol import protocol_of


@transaction.atomic
def prepare_trials(session: Session) -> None:
    """Write the session's trials, once."""
    Session.objects.select_for_update().get(pk=session.pk)
    if session.list_id is None or session.trials.exists():
        return
    protocol = protocol_of(session.version)
    turn = Session.objects.filter(list=session.list_id, pk__lt=session.pk).count()
    arranged = protocol.task.arrange(protocol.settings, turn=turn)
    materials = session.experiment.materials
    language = materials.language if materials else protocol.language
    planned = session.list.planned_trials.select_related("sentence", "pair__good", "pair__bad")
    Trial.objects.bulk_create(_trial(session, one, language=language, arranged=arranged) for one in planned)


def _trial(session: Session, planned: PlannedTrial, *, language: str, arranged: dict[str, Any]) -> Trial:
    trial = Trial(
        session=session,
        position=planned.position,
        kind=planned.kind,
        block=planned.block,
        item_id=planned.item_id,
        sentence_id=planned.sentence_id,
        pair_id=planned.pair_id,
    )
    options = _options(planned, language)
    if options:
        trial.expected_first = options[0].pop("expected")
        options[1].pop("expected")
        trial.shown = {"options": options, **arranged}
    else:
        trial.shown = {**_sentence(planned, language), **arranged}
    trial.correct = _correct(planned, trial.shown)
    return trial


def _options(planned: PlannedTrial, language: str) -> list[dict[str, Any]]:
    """The two sentences of a forced choice in the order of the plan; none for other tasks."""
    if planned.pair is not None:
        members = [
            {**_text(planned.pair.good, language), "expected": True},
            {**_text(planned.pair.bad, language), "expected": False},
        ]
    else:
        language = planned.payload.get("language") or language
        members = [
            {
                "sentence_id": "",
                "text": one["text"],
                "language": language,
                "expected": bool(one.get("expected")),
            }
            for one in planned.payload.get("options", ())
        ]
    if planned.expected_first is not None:
        members.sort(key=lambda one: one["expected"] != planned.expected_first)
    return [{"id": new_public_id(), **one} for one in members]


def _sentence(planned: PlannedTrial, language: str) -> dict[str, Any]:
    if planned.sentence is not None:
        return _text(planned.sentence, language)
    payload = planned.payload
    return {
        "sentence_id": "",
        "text": payload.get("text", ""),
        "language": payload.get("language") or language,
    }


def _text(sentence: Sentence, language: str) -> dict[str, str]:
    return {"sentence_id": sentence.key, "text": sentence.text, "language": sentence.language or language}


def _correct(planned: PlannedTrial, shown: dict[str, Any]) -> dict[str, Any]:
    """The intended answer of a catch or practice trial, in terms of what is shown."""
    payload = planned.payload
    if planned.kind not in {"catch", "practice"}:
        return {}
    correct: dict[str, Any] = {"feedback": payload["feedback"]} if payload.get("feedback") else {}
    intended = payload.get("correct")
    if "options" in shown and (intended is not None or planned.pair is not None):
        wanted = payload["options"][intended]["text"] if planned.pair is None else planned.pair.good.text
        correct["option"] = next(one["id"] for one in shown["options"] if one["text"] == wanted)
    elif isinstance(intended, list | tuple):
        correct["low"], correct["high"] = intended
    elif intended is not None:
        correct["low"] = correct["high"] = intended
    return correct
