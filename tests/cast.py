"""The small cast of every test.

Ada owns the study, Ben may read it, Cleo is a stranger, Pia and Quentin take part.

Rows are made directly here, as planning would leave them, so that a test of one step needs no other step.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.utils import timezone
from django.utils.text import slugify

from experiments.models import (
    Experiment,
    ExperimentVersion,
    Item,
    Lab,
    LabMembership,
    MaterialSet,
    Membership,
    MinimalPair,
    Paradigm,
    Phenomenon,
    PlannedTrial,
    PresentationList,
    Sentence,
)
from experiments.pages.account import make_token
from experiments.studies.languages import with_default_texts
from experiments.studies.lifecycle import LATER_FIELDS
from experiments.tasks.registry import shown_task
from judgments.models import Judgment, Participant, Session, Trial
from judgments.sessions.arrival import Arrival
from judgments.sessions.completion import finish
from judgments.sessions.enrollment import arrive
from judgments.sessions.payload import SentAnswer
from judgments.sessions.recording import record_answers

FROZEN_FIELDS = (
    "slug",
    "title",
    "task",
    "parameters",
    "language",
    "consent",
    "instructions",
    "questionnaire",
    "practice",
    "anchors",
    "catch_trials",
    "debrief",
    "completion_code",
)
PARAMETERS = {"magnitude_estimation": {"reference": "The key to the doors are here.", "modulus": 100}}
ANSWERS = {"likert": "6", "yes_no": "yes", "magnitude_estimation": "62,5", "slider": "62"}


def user(name: str, **fields: Any):
    """A login of that name; the same one when asked twice. Its password is ``<name>-password``."""
    User = get_user_model()
    account = User.objects.filter(username=name).first()
    if account is None:
        # Hashed here: with set_password, what follows a change of password would take 7 ms of every test
        password = make_password(f"{name}-password")
        account = User.objects.create(
            username=name, **{"email": f"{name}@example.org", "password": password, **fields}
        )
    return account


def ada():
    """Owns the study."""
    return user("ada")


def ben():
    """May read the study."""
    return user("ben")


def cleo():
    """A stranger with a login."""
    return user("cleo")


def token(account, *, scopes: tuple[str, ...] = ("read", "write", "people", "money"), days: int = 30) -> str:
    """A token of the API for a login."""
    return make_token(account, name="-".join(scopes) or "none", scopes=scopes, days=days)


def material_set(
    name: str = "agreement",
    *,
    n_items: int = 4,
    paradigms: tuple[str, ...] = ("subject_verb",),
    language: str = "en",
    texts: tuple[str, str] = ("The keys {n} are here.", "The keys {n} is here."),
) -> MaterialSet:
    """A set with ``n_items`` minimal pairs in each paradigm; ``texts`` are the good and the bad member."""
    checksum = hashlib.sha256(name.encode()).hexdigest()
    materials = MaterialSet.objects.create(
        name=name, slug=name, language=language, checksum=checksum, owner=ada()
    )
    phenomenon = Phenomenon.objects.create(material_set=materials, name="agreement")
    for paradigm_name in paradigms:
        paradigm = Paradigm.objects.create(material_set=materials, phenomenon=phenomenon, name=paradigm_name)
        texts_of = {
            f"{paradigm_name}-{n}": (texts[0].format(n=n), texts[1].format(n=n))
            for n in range(1, n_items + 1)
        }
        _pairs(paradigm, texts_of)
    return materials


def pair(paradigm: Paradigm, key: str, *, good: str, bad: str) -> MinimalPair:
    """One item in two conditions, and the pair they make."""
    return _pairs(paradigm, {key: (good, bad)})[0]


def _pairs(paradigm: Paradigm, texts: dict[str, tuple[str, str]]) -> list[MinimalPair]:
    """Items in two conditions and their pairs, from the texts (good, bad) of each key."""
    materials = paradigm.material_set
    items = Item.objects.bulk_create(
        Item(material_set=materials, paradigm=paradigm, key=key) for key in texts
    )
    statuses = {"good": Sentence.Expected.ACCEPTABLE, "bad": Sentence.Expected.UNACCEPTABLE}
    sentences = Sentence.objects.bulk_create(
        Sentence(
            material_set=materials,
            item=item,
            key=f"{item.key}-{condition}",
            condition=condition,
            text=text,
            expected=statuses[condition],
        )
        for item in items
        for condition, text in zip(statuses, texts[item.key], strict=True)
    )
    return MinimalPair.objects.bulk_create(
        MinimalPair(material_set=materials, paradigm=paradigm, key=item.key, good=good, bad=bad)
        for item, good, bad in zip(items, sentences[::2], sentences[1::2], strict=True)
    )


def draft(slug: str = "agreement", *, materials: MaterialSet | None = None, **fields: Any) -> Experiment:
    """A study in draft: Ada owns it, Ben may read it."""
    experiment = Experiment.objects.create(
        **{
            "slug": slug,
            "title": f"Study {slug}",
            "owner": ada(),
            "materials": materials or material_set(slug),
            "consent": "You may stop at any time.",
            "instructions": "Read each sentence and answer quickly.",
            "debrief": "We study agreement.",
            "parameters": PARAMETERS.get(fields.get("task", ""), {}),
            **fields,
        }
    )
    Membership.objects.create(experiment=experiment, user=ada(), role=Membership.Role.OWNER)
    Membership.objects.create(experiment=experiment, user=ben(), role=Membership.Role.VIEWER)
    return experiment


def lab(name: str = "Syntax lab", **members: str) -> Lab:
    """A lab; ``members`` are roles by user name."""
    row = Lab.objects.create(name=name, slug=slugify(name))
    for username, role in members.items():
        LabMembership.objects.create(lab=row, user=user(username), role=role)
    return row


def study(
    slug: str = "agreement",
    *,
    n_lists: int = 2,
    n_blocks: int = 1,
    extras: tuple[dict[str, Any], ...] = (),
    **fields: Any,
) -> Experiment:
    """An open study with lists; ``extras`` are catch and practice trials as ``{"kind": …, "payload": …}``.

    A payload is what lists keep of a study's own entry: ``{"good": …, "bad": …}`` where the task shows
    pairs, else ``{"sentence": …, "correct": [low, high]}``, with an optional ``"feedback"``.
    """
    experiment = draft(slug, **fields)
    freeze(experiment)
    for number in range(n_lists):
        presentation_list(experiment, number, n_blocks=n_blocks, extras=extras)
    experiment.status = fields.get("status", Experiment.Status.OPEN)
    experiment.opened_at = timezone.now()
    experiment.save(update_fields=["status", "opened_at"])
    return experiment


def freeze(experiment: Experiment) -> ExperimentVersion:
    """The next version of the study, from its fields as they are."""
    snapshot = {name: getattr(experiment, name) for name in (*FROZEN_FIELDS, *LATER_FIELDS)}
    task, language = shown_task(experiment.task), experiment.language
    snapshot["parameters"] = with_default_texts(task, experiment.parameters, language=language)
    newest = experiment.current_version()
    text = json.dumps(snapshot, sort_keys=True)
    return ExperimentVersion.objects.create(
        experiment=experiment,
        number=newest.number + 1 if newest else 1,
        snapshot=snapshot,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )


def presentation_list(
    experiment: Experiment, number: int = 0, *, n_blocks: int = 1, extras: tuple[dict[str, Any], ...] = ()
) -> PresentationList:
    """List ``number``: practice, then every item once (sides or conditions alternate), then catch."""
    version = experiment.current_version() or freeze(experiment)
    trial_list = PresentationList.objects.create(
        experiment=experiment, version=version, label=f"list {number + 1}"
    )
    practice = [dict(trial) for trial in extras if trial["kind"] == "practice"]
    other_trials = [dict(trial) for trial in extras if trial["kind"] != "practice"]
    plan = practice + _targets(experiment, number, n_blocks=n_blocks)
    plan += [{"block": n_blocks, **trial} for trial in other_trials]
    PlannedTrial.objects.bulk_create(
        PlannedTrial(list=trial_list, position=position, **fields)
        for position, fields in enumerate(plan, start=1)
    )
    trial_list.n_trials = len(plan)
    trial_list.save(update_fields=["n_trials"])
    return trial_list


def _targets(experiment: Experiment, number: int, *, n_blocks: int) -> list[dict[str, Any]]:
    """Every item once: as a pair with alternating sides, or as the sentence of an alternating condition."""
    pairs = list(experiment.materials.pairs.select_related("good__item", "bad"))
    targets = []
    for index, pair in enumerate(pairs):
        turn = (index + number) % 2 == 0
        block = 1 + index * n_blocks // len(pairs)
        stimulus = (
            {"pair": pair, "expected_first": turn}
            if experiment.task == "forced_choice"
            else {"sentence": pair.good if turn else pair.bad}
        )
        targets.append({"item": pair.good.item, "block": block, **stimulus})
    return targets


def participant(experiment: Experiment, pseudonym: str, **fields: Any) -> Participant:
    """A participant of that pseudonym."""
    return Participant.objects.create(experiment=experiment, pseudonym=pseudonym, **fields)


def pia(experiment: Experiment) -> Participant:
    """Takes part."""
    return participant(experiment, "pia", is_native=True)


def quentin(experiment: Experiment) -> Participant:
    """Takes part as well."""
    return participant(experiment, "quentin", is_native=False)


def arrival(name: str = "pia", **fields: Any) -> Arrival:
    """Someone consents; the same name is the same arrival."""
    return Arrival(key=name, **fields)


def begin(experiment: Experiment, name: str = "pia", **fields: Any) -> Session:
    """A session just begun."""
    return arrive(experiment, arrival(name, **fields), consent_text=experiment.consent)


def answer_to(trial: Trial, *, choose_expected: bool = True) -> str:
    """What a form would send for this trial: the expected member, or a usual answer of the task."""
    if options := trial.shown.get("options"):
        return options[0 if trial.expected_first == choose_expected else 1]["id"]
    return ANSWERS[trial.session.experiment.task]


@dataclass(frozen=True)
class Recorded:
    """The judgment of a trial, and whether the answer just sent made it."""

    judgment: Judgment
    is_new: bool


class UnknownTrial(LookupError):
    """The session has no such trial."""


def record(session: Session, public_id: str, response: str, **fields: Any) -> Recorded:
    """Store one answer; raises what the task says of a response that it refuses."""
    receipt = record_answers(session.token, [SentAnswer(public_id, response, **fields)])
    session.refresh_from_db(fields=["status", "screen", "lease_expires_at", "last_seen_at"])
    for refusal in receipt.refused:
        raise refusal.problem or UnknownTrial(public_id)
    judgment = Judgment.objects.get(trial__session=session, trial__public_id=public_id)
    return Recorded(judgment, is_new=public_id in receipt.stored)


def sit(experiment: Experiment, name: str = "pia", *, n: int | None = None, **fields: Any) -> Session:
    """A session with its first ``n`` trials answered; complete when ``n`` is left out."""
    session = begin(experiment, name, **fields)
    trials = session.trials.select_related("session__experiment")[:n]
    if answers := [SentAnswer(trial.public_id, answer_to(trial)) for trial in trials]:
        receipt = record_answers(session.token, answers)
        assert not receipt.refused
        session.refresh_from_db()
    return session if n is not None else finish(session)
