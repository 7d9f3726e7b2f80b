"""Trials of a session: created from the planned list, and sent to the browser as a plan.

:class:`TrialTemplate` is one planned trial, shared by all sessions of a list. The plan contains sentences and
opaque ids, but neither conditions nor expected answers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

import numpy as np
import structlog

from analysis.errors import BadInput
from experiments.design.plan import reorder_trials
from experiments.design.trials import Kind
from experiments.design.trials import PlannedTrial as DesignTrial
from experiments.lists.extra_trials import CHECK
from experiments.materials.markup import as_nodes, is_marked, paragraphs
from experiments.materials.schema import CONTEXT
from experiments.models import PlannedTrial, PresentationList, Sentence, TrialKind
from experiments.studies.wording import ngettext
from experiments.tasks.base import Task
from judgments.models import Session, Trial
from judgments.models.trial import derive_public_ids
from judgments.sessions.protocol import load_protocol

PLAN_FORMAT = 1
ENGINE_VERSION = "1.3.0"
ORDER_ATTEMPTS = 20  # an opening does not wait for more
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class TrialTemplate:
    """One planned trial, common to all sessions of its list.

    ``members`` are the sentences of a set, the good and the bad sentence of a pair, or a single sentence;
    ``design`` is what rules of the order compare.
    """

    design: DesignTrial
    columns: dict[str, Any]
    payload: dict[str, Any]
    members: tuple[dict[str, Any], ...]
    is_set: bool
    is_pair: bool


def write_trials(sessions: Sequence[Session]) -> None:
    """Insert the trials of sessions just created, in the caller's transaction."""
    Trial.objects.bulk_create([trial for session in sessions for trial in build_trials(session)])


def build_trials(session: Session) -> list[Trial]:
    """The session's trials, not yet stored; a function of its list, rotation, seed and token."""
    protocol, rotation = load_protocol(session.version), session_rotation(session)
    templates = session_order(session)
    arranged = protocol.task.arrange(protocol.settings, turn=rotation)
    # One public id for each trial and each option.
    ids = derive_public_ids(session.token, sum(1 + len(template.members) for template in templates))
    return [_trial(session, template, ids, rotation=rotation, arranged=arranged) for template in templates]


def session_order(session: Session) -> list[TrialTemplate]:
    """The trials of a session's list in the session's order, drawn from its seed where each has its own.

    Where no order that satisfies the design's rules is found, the session has the order of its list.
    """
    templates, own_order = _templates(session), load_protocol(session.version).own_order
    if own_order is None:
        return list(templates)
    try:
        order = reorder_trials(
            [template.design for template in templates],
            np.random.default_rng(session.seed),
            rules=own_order.rules,
            anchors_in_order=own_order.anchors_in_order,
            attempts=ORDER_ATTEMPTS,
        )
    except BadInput as error:
        log.warning("order of the list taken", session=session.pk, error=str(error))
        return list(templates)
    by_position = {template.design.position: template for template in templates}
    # Positions and blocks belong to places of the list.
    return [
        replace(
            template := by_position[trial.position],
            columns={**template.columns, "position": place.design.position, "block": place.columns["block"]},
        )
        for place, trial in zip(templates, order, strict=True)
    ]


def _templates(session: Session) -> tuple[TrialTemplate, ...]:
    protocol = load_protocol(session.version)
    return list_templates(
        session.list_id, session.version.sha256, protocol.language, shows_context=protocol.shows_context
    )


def session_rotation(session: Session) -> int:
    """Number of earlier sessions on this list if order or sides rotate between sessions; else 0."""
    protocol, templates = load_protocol(session.version), _templates(session)
    if type(protocol.task).arrange is Task.arrange and not any(template.is_set for template in templates):
        return 0
    earlier = Session.objects.filter(list=session.list_id, is_test=session.is_test, pk__lt=session.pk)
    return earlier.count()


@lru_cache(maxsize=128)
def list_templates(
    list_id: int, version_sha256: str, language: str, shows_context: bool = False
) -> tuple[TrialTemplate, ...]:
    """The templates of a list; cached, because lists never change."""
    presentation_list = PresentationList.objects.select_related("experiment__materials").get(pk=list_id)
    materials = presentation_list.experiment.materials
    default_language = materials.language if materials else language
    planned = list(
        presentation_list.planned_trials.select_related(
            "sentence__item__paradigm", "pair__good__item", "pair__bad", "pair__paradigm"
        )
    )
    sentences = Sentence.objects.select_related("item__paradigm").in_bulk(
        {key for trial in planned for key in trial.payload.get("sentences", ())}
    )
    templates = [_template(trial, sentences, language=default_language) for trial in planned]
    return tuple(templates if shows_context else map(_without_contexts, templates))


def _without_contexts(template: TrialTemplate) -> TrialTemplate:
    members = [{name: entry[name] for name in entry if name != CONTEXT} for entry in template.members]
    return replace(template, members=tuple(members))


def _template(planned: PlannedTrial, sentences: dict[int, Sentence], *, language: str) -> TrialTemplate:
    payload = planned.payload
    is_set = bool({"sentences", "set"} & set(payload))
    is_pair = not is_set and (planned.pair is not None or "good" in payload)
    if is_set:
        texts = [_text_entry(payload, text, language=language) for text in payload.get("set", ())]
        members = [_sentence_entry(sentences[key], language) for key in payload.get("sentences", ())] + texts
    elif planned.pair is not None:
        members = [_sentence_entry(planned.pair.good, language), _sentence_entry(planned.pair.bad, language)]
    elif is_pair:
        members = [_text_entry(payload, payload[name], language=language) for name in ("good", "bad")]
    elif planned.sentence is not None:
        members = [_sentence_entry(planned.sentence, language)]
    else:
        members = [_text_entry(payload, payload["sentence"], language=language)]
    names = ("position", "kind", "block", "item_id", "sentence_id", "pair_id", "expected_first")
    columns = {name: getattr(planned, name) for name in names}
    if is_pair and planned.expected_first is None:
        columns["expected_first"] = bool(planned.position % 2)
    return TrialTemplate(_design_trial(planned, sentences), columns, payload, tuple(members), is_set, is_pair)


def _design_trial(planned: PlannedTrial, sentences: dict[int, Sentence]) -> DesignTrial:
    """A stored trial as the design planned it; only targets have items, conditions and paradigms."""
    trial = DesignTrial(
        str(planned.pk), f"{planned.pk}", kind=cast(Kind, planned.kind), position=planned.position
    )
    if planned.kind != TrialKind.TARGET:
        return trial
    if pair := planned.pair:
        paradigm = pair.paradigm.name if pair.paradigm else ""
        condition = f"{pair.good.condition}|{pair.bad.condition}"
        return replace(trial, item=pair.good.item.key, condition=condition, paradigm=paradigm)
    if sentence := planned.sentence:
        paradigm = sentence.item.paradigm.name if sentence.item.paradigm else ""
        # Sentences without a condition are items of their own.
        item = sentence.item.key if sentence.condition else trial.item
        return replace(trial, item=item, condition=sentence.condition, paradigm=paradigm)
    first = sentences[planned.payload["sentences"][0]].item
    return replace(trial, item="", paradigm=first.paradigm.name if first.paradigm else "")


def _trial(
    session: Session, template: TrialTemplate, ids: Iterator[str], *, rotation: int, arranged: dict[str, Any]
) -> Trial:
    trial = Trial(session=session, public_id=next(ids), **template.columns)
    if template.is_set or template.is_pair:
        order = _rotate_members(template.members, rotation) if template.is_set else template.members
        if template.is_pair and not trial.expected_first:
            order = order[::-1]
        screen = {"options": [{"id": next(ids), **option} for option in order], **arranged}
        _share_context(screen)
    else:
        screen = {**template.members[0], **arranged}
    trial.shown = screen
    if trial.kind in {"catch", "practice"}:
        trial.correct = _correct(screen, template.payload, is_first=trial.expected_first)
    return trial


def _share_context(screen: dict[str, Any]) -> None:
    """Make a context that all options have one of the screen, which shows it once."""
    contexts = {option.get(CONTEXT, "") for option in screen["options"]}
    if len(contexts) == 1 and (context := contexts.pop()):
        screen[CONTEXT] = context
        for option in screen["options"]:
            del option[CONTEXT]


def _rotate_members(members: Sequence[dict[str, Any]], rotation: int) -> Sequence[dict[str, Any]]:
    """The sentences of a set, rotated so that their order differs between sessions."""
    start = rotation % max(1, len(members))
    return (*members[start:], *members[:start])


def _sentence_entry(sentence: Sentence, language: str) -> dict[str, Any]:
    entry = {"sentence_id": sentence.key, "text": sentence.text, "language": sentence.language or language}
    if context := sentence.stimulus.context:
        entry[CONTEXT] = context.text
    return {**entry, "markup": True} if is_marked(sentence.attributes) else entry


def _text_entry(payload: dict[str, Any], text: str, *, language: str) -> dict[str, Any]:
    """A sentence that is part of the study's plan and has no row of its own."""
    entry = {"sentence_id": "", "text": text, "language": payload.get("language") or language}
    if payload.get(CONTEXT):
        entry[CONTEXT] = payload[CONTEXT]
    return {**entry, "markup": True} if is_marked(payload) else entry


def _correct(screen: dict[str, Any], payload: dict[str, Any], *, is_first: bool | None) -> dict[str, Any]:
    """The expected answer of a catch or practice trial, as option id or range of values."""
    correct: dict[str, Any] = {name: payload[name] for name in ("feedback", CHECK) if payload.get(name)}
    if "set" in payload:
        best = None if payload.get("correct") is None else payload["set"][payload["correct"]]
        right = [option["id"] for option in screen["options"] if option["text"] == best]
        return {**correct, "option": right[0]} if right else correct
    if "options" in screen:
        if payload.get("open"):  # practice without a right answer
            return correct
        return {**correct, "option": screen["options"][0 if is_first else 1]["id"]}
    if payload.get("correct") is None:
        return correct
    low, high = payload["correct"]
    return {**correct, "low": low, "high": high}


def trial_plan(session: Session, trials: Sequence[Trial], *, screen_of: Any) -> dict[str, Any]:
    """Everything a browser needs to run all trials without further requests, as JSON-ready values.

    ``screen_of`` converts what a trial shows to its context, options and sentence. The plan marks practice
    trials, but neither catch trials nor expected answers. The caller activates the study's language.
    """
    protocol, minutes = load_protocol(session.version), session.experiment.lease_minutes
    place_kept = ngettext(
        "Your place is kept for %(minutes)s minute.", "Your place is kept for %(minutes)s minutes.", minutes
    )
    parts = [protocol.task.screen(protocol.settings, arrangement=trial.shown) for trial in trials]
    common = parts[0] if parts else {}
    return {
        "format": PLAN_FORMAT,
        "engine": ENGINE_VERSION,
        "study_version": session.version.sha256[:12],
        "language": protocol.language,
        "task": {
            "name": protocol.task.name,
            "question": protocol.settings["question"],
            "parts": common,
        },
        "between": {"show": protocol.settings["between"], "ms": protocol.settings["between_ms"]},
        **({"context": {"ms": protocol.context_ms}} if protocol.context_before else {}),
        "deadline": {"ms": protocol.deadline_ms, "has_bar": protocol.deadline_bar},
        "instructions": protocol.instructions.strip(),
        "instructions_nodes": [as_nodes(part) for part in paragraphs(protocol.instructions)],
        "place_kept": place_kept % {"minutes": minutes},
        "resume_gap_s": round(protocol.resume_gap.total_seconds()),
        "n_blocks": max((trial.block for trial in trials if trial.kind != "practice"), default=1),
        "trials": [
            _planned_trial(trial, common=common, parts=trial_parts, screen_of=screen_of)
            for trial, trial_parts in zip(trials, parts, strict=True)
        ],
    }


def _planned_trial(
    trial: Trial, *, common: dict[str, Any], parts: dict[str, Any], screen_of: Any
) -> dict[str, Any]:
    planned: dict[str, Any] = {
        "id": trial.public_id,
        "position": trial.position,
        "block": trial.block,
        "is_practice": trial.kind == "practice",
        **screen_of(trial.shown),
        "is_answered": hasattr(trial, "judgment"),
    }
    return planned if parts == common else {**planned, "parts": parts}
