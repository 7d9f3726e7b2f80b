"""An arrival becomes a participant with a list and a session; sent twice, it becomes one."""

import base64
import hashlib
import secrets
from dataclasses import dataclass, field

import numpy as np
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from experiments.design.balance import least_filled
from experiments.models import Campaign, Experiment, ExperimentVersion
from judgments.models import Consent, Participant, PlatformIdentity, Session
from judgments.sessions.begun import beginnings
from judgments.sessions.compiled import insert
from judgments.sessions.lease import take_back
from judgments.sessions.places import (
    StudyClosed,
    check_invited,
    check_open,
    comes_again,
    filled,
    is_test_run,
    lease_end,
    locked_lists,
    newest_version,
    refresh,
)
from judgments.sessions.prepare import prepare_trials
from judgments.sessions.turns import in_turn


@dataclass(frozen=True)
class Arrival:
    """Someone who consented.

    ``key`` is the same when one arrival is sent twice; ``external_id`` is what a platform, or the
    link, calls the person, and goes to the vault only. ``earlier`` is the token of a session that this
    browser had in the study, ``device`` what this study may know of the browser's token.
    """

    key: str
    recruiter: str = "direct"
    external_id: str = ""
    link: dict[str, str] = field(default_factory=dict)
    user_agent: str = ""
    campaign: Campaign | None = None
    is_simulated: bool = False
    earlier: str = ""
    device: str = ""


class ConsentRefused(Exception):
    """This person said no before: nobody is asked twice, and nothing begins."""


def arrive(
    experiment: Experiment, arrival: Arrival, *, consent_text: str, version: ExperimentVersion | None = None
) -> Session:
    """Take the least-filled list for this arrival, or find the session it already has.

    ``version`` is the one whose consent was given, with the study just read; otherwise the newest.
    Raises :class:`~judgments.sessions.places.StudyClosed` when there is no place, :class:`ConsentRefused`
    where the same arrival was refused.
    """
    if version is None:
        version = newest_version(experiment)
        refresh(experiment)
    if version is None:
        raise StudyClosed("not_open")
    with in_turn():
        session, is_new = _take_place(version, arrival, consent_text)
    if not is_new:
        prepare_trials(session)
    return session


def refuse(experiment: Experiment, arrival: Arrival, *, consent_text: str) -> None:
    """Note that consent was refused, once; nothing else is kept, not even what a link calls the person."""
    version = experiment.current_version()
    if version is None:
        raise StudyClosed("not_open")
    with transaction.atomic():
        person, is_new = Participant.objects.get_or_create(
            experiment=experiment, pseudonym=_refusing(experiment, arrival)
        )
        if is_new:
            session = Session.objects.create(
                experiment=experiment,
                version=version,
                participant=person,
                campaign=arrival.campaign,
                status=Session.Status.REFUSED,
                is_test=is_test_run(experiment),
            )
            note_consent(session, consent_text, given=False)


def has_refused(experiment: Experiment, external_id: str, *, recruiter: str = "direct") -> bool:
    """Whether somebody whom a link calls so refused consent."""
    name = _refusing(experiment, Arrival(key="", recruiter=recruiter, external_id=external_id))
    return Participant.objects.filter(experiment=experiment, pseudonym=name).exists()


def _refusing(experiment: Experiment, arrival: Arrival) -> str:
    """The name a refusal goes by; where a link names the person, a keyed hash that only the link finds."""
    if not arrival.external_id:
        return pseudonym(experiment, arrival.key)
    named = salted_hmac(f"refusal:{arrival.recruiter}", arrival.external_id, algorithm="sha256")
    return pseudonym(experiment, named.hexdigest())


def pseudonym(experiment: Experiment, key: str) -> str:
    """The name an arrival goes by: 60 bits that say nothing and come out the same on a retry."""
    digest = hashlib.sha256(f"{experiment.pk}:{key}".encode()).digest()
    return base64.b32encode(digest).decode().lower()[:12]


@transaction.atomic
def _take_place(version: ExperimentVersion, arrival: Arrival, consent_text: str) -> tuple[Session, bool]:
    """The session of this arrival, and whether it begins now, its trials written."""
    experiment = version.experiment
    lists = locked_lists(version, round_number=experiment.current_round)
    participant, is_new = _participant(experiment, arrival)
    earlier = None if is_new else _latest(participant)
    if earlier is not None and not comes_again(earlier, experiment):
        if earlier.status == Session.Status.ABANDONED:
            take_back(earlier)
        return earlier, False
    if earlier is None and not is_new and _only_refused(participant):
        raise ConsentRefused
    refresh(experiment)
    check_open(experiment)
    check_invited(experiment, earlier)
    is_test = is_test_run(experiment)
    session = new_session(version, participant, arrival, lists=lists, is_test=is_test)
    note_consent(session, consent_text, given=True)
    beginnings.begin(session)
    return session, True


def _latest(participant: Participant) -> Session | None:
    return participant.sessions.exclude(status=Session.Status.REFUSED).order_by("-pk").first()


def _only_refused(participant: Participant) -> bool:
    return participant.sessions.filter(status=Session.Status.REFUSED).exists()


def _participant(experiment: Experiment, arrival: Arrival) -> tuple[Participant, bool]:
    """The person of this arrival, found by what the link calls them or by the arrival's own key.

    Also says whether the person is new.
    """
    if arrival.external_id:
        known = PlatformIdentity.objects.filter(
            experiment=experiment, recruiter=arrival.recruiter, external_id=arrival.external_id
        )
        if identity := known.select_related("participant").first():
            return identity.participant, False
    elif arrival.earlier:
        before = Session.objects.filter(experiment=experiment, token=arrival.earlier)
        if session := before.select_related("participant").first():
            return session.participant, False
    person = Participant(
        experiment=experiment,
        pseudonym=pseudonym(experiment, arrival.key),
        is_simulated=arrival.is_simulated,
    )
    is_new = insert(person, unless_there=True)
    if not is_new:
        person = Participant.objects.get(experiment=experiment, pseudonym=person.pseudonym)
    if arrival.external_id:
        PlatformIdentity.objects.get_or_create(
            participant=person,
            defaults={
                "experiment": experiment,
                "recruiter": arrival.recruiter,
                "external_id": arrival.external_id,
            },
        )
    return person, is_new


def new_session(
    version: ExperimentVersion,
    participant: Participant,
    arrival: Arrival,
    *,
    lists: list[int],
    is_test: bool,
) -> Session:
    """Begin a session on the least-filled of these lists, which the caller has locked."""
    experiment, now = participant.experiment, timezone.now()
    if not lists:
        raise StudyClosed("not_open")
    seed = secrets.randbits(48)
    session = Session(
        experiment=experiment,
        version=version,
        participant=participant,
        list_id=least_filled(filled(lists, is_test=is_test), np.random.default_rng(seed)),
        campaign=arrival.campaign,
        screen="questionnaire",
        seed=seed,
        is_test=is_test,
        started_at=now,
        last_seen_at=now,
        lease_expires_at=lease_end(experiment, now),
        user_agent=arrival.user_agent[:300],
        device=arrival.device,
        attributes={"link": arrival.link} if arrival.link else {},
    )
    insert(session)
    return session


def note_consent(session: Session, text: str, *, given: bool) -> None:
    """Note the answer and which text it was given to."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    insert(Consent(participant=session.participant, session=session, text_sha256=digest, given=given))
