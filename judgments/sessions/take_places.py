"""Arrivals take places in a study, several in one transaction where they come in the same moment.

Arrivals of a study wait for each other anyway, since the least-filled list is known only when the one
before is stored. So whoever's turn it is takes along all who wait.
"""

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.utils import timezone

from experiments.design.balance import least_filled
from experiments.models import Experiment, ExperimentVersion
from judgments.models import Consent, Participant, PlatformIdentity, Session
from judgments.sessions.arrival import Arrival, ConsentRefused, pseudonym
from judgments.sessions.begun import beginnings
from judgments.sessions.compiled import insert_all
from judgments.sessions.lease import SessionOver, take_back
from judgments.sessions.places import (
    StudyClosed,
    check_invited,
    comes_again,
    filled,
    is_test_run,
    lease_end,
    locked_lists,
    places_left,
    refresh,
)


@dataclass
class Wish:
    """An arrival that asks for a place; gets a session, begun now or earlier, or the reason why not."""

    version: ExperimentVersion
    arrival: Arrival
    consent_text: str
    session: Session | None = None
    is_new: bool = False
    problem: Exception | None = None

    @property
    def is_served(self) -> bool:
        """Whether it got an answer."""
        return self.session is not None or self.problem is not None

    @property
    def names(self) -> set[tuple[str, str]]:
        """What tells that two arrivals are of one person."""
        who = self.arrival
        named = {(f"link:{who.recruiter}", who.external_id)} if who.external_id else set()
        return {("key", who.key), *named, *({("earlier", who.earlier)} if who.earlier else set())}


@transaction.atomic
def take_places(version: ExperimentVersion, wishes: Sequence[Wish]) -> None:
    """Answer these wishes for one version, in their order; no two are of one person."""
    experiment = version.experiment
    round_number = experiment.current_round
    lists = locked_lists(version, round_number=round_number)
    people = [_known(experiment, wish.arrival) for wish in wishes]
    new = _enroll(experiment, wishes, people)
    refresh(experiment)
    if experiment.current_round != round_number:  # another one has begun since the study was read
        lists = locked_lists(version, round_number=experiment.current_round)
    begins = list(_beginning(experiment, wishes, people, new=new, lists=lists))
    _name(experiment, [(wish, person) for wish, person in begins if person.pk in new])
    asked = [(wish.arrival, person) for wish, person in begins]
    sessions = new_sessions(version, asked, lists=lists, is_test=is_test_run(experiment))
    note_consents(sessions, [wish.consent_text for wish, _ in begins], given=True)
    for session, (wish, person) in zip(sessions, begins, strict=True):
        wish.session, wish.is_new = session, True
        new.discard(person.pk)
        beginnings.begin(session)
    if new:  # they came too late
        Participant.objects.filter(pk__in=new).delete()


def _known(experiment: Experiment, arrival: Arrival) -> Participant | None:
    """The person whom the link names, or who was here before in this browser."""
    if arrival.external_id:
        known = PlatformIdentity.objects.filter(
            experiment=experiment, recruiter=arrival.recruiter, external_id=arrival.external_id
        )
        identity = known.select_related("participant").first()
        return identity.participant if identity else None
    if arrival.earlier:
        before = Session.objects.filter(experiment=experiment, token=arrival.earlier)
        session = before.select_related("participant").first()
        return session.participant if session else None
    return None


def _enroll(experiment: Experiment, wishes: Sequence[Wish], people: list[Participant | None]) -> set[int]:
    """Make the people who are missing, in place; gives the keys of those who are new.

    Nobody is, whose arrival was sent before.
    """
    missing = [place for place, person in enumerate(people) if person is None]
    made = [
        Participant(
            experiment=experiment,
            pseudonym=pseudonym(experiment, wishes[place].arrival.key),
            is_simulated=wishes[place].arrival.is_simulated,
        )
        for place in missing
    ]
    insert_all(made, known_by="pseudonym", unless_there=True)
    for place, person in zip(missing, made, strict=True):
        people[place] = person
        if person.pk is None:
            people[place] = Participant.objects.get(experiment=experiment, pseudonym=person.pseudonym)
    return {person.pk for person in made if person.pk is not None}


def _beginning(
    experiment: Experiment,
    wishes: Sequence[Wish],
    people: Sequence[Participant | None],
    *,
    new: set[int],
    lists: Sequence[int],
) -> Iterator[tuple[Wish, Participant]]:
    """Those who begin now; the others get the session they have, or why there is none."""
    door = _Door(experiment, is_open=bool(lists))
    for wish, person in zip(wishes, people, strict=True):
        assert person is not None
        earlier = None if person.pk in new else _latest(person)
        try:
            if earlier is not None and not comes_again(earlier, experiment):
                wish.session = earlier
                if earlier.status == Session.Status.ABANDONED:
                    take_back(earlier)
                continue
            if earlier is None and person.pk not in new and _only_refused(person):
                raise ConsentRefused
            door.check(earlier)
        except SessionOver:  # it ended meanwhile, and says so itself
            continue
        except (StudyClosed, ConsentRefused) as problem:
            wish.session, wish.problem = None, problem
            continue
        yield wish, person


class _Door:
    """Lets in as many as the study has places; counts those who hold one only when somebody new comes."""

    def __init__(self, experiment: Experiment, *, is_open: bool) -> None:
        self.experiment, self.is_open = experiment, is_open
        self.left: float | None = None

    def check(self, earlier: Session | None) -> None:
        """Raise :class:`~judgments.sessions.places.StudyClosed`, or give a place away."""
        if not self.is_open:
            raise StudyClosed("not_open")
        if self.left is None:
            self.left = places_left(self.experiment)
        if self.left < 1:
            raise StudyClosed("full")
        check_invited(self.experiment, earlier)
        self.left -= 1


def _latest(participant: Participant) -> Session | None:
    return participant.sessions.exclude(status=Session.Status.REFUSED).order_by("-pk").first()


def _only_refused(participant: Participant) -> bool:
    return participant.sessions.filter(status=Session.Status.REFUSED).exists()


def _name(experiment: Experiment, begins: Sequence[tuple[Wish, Participant]]) -> None:
    """Put into the vault what links call these new people."""
    PlatformIdentity.objects.bulk_create(
        PlatformIdentity(
            participant=person,
            experiment=experiment,
            recruiter=wish.arrival.recruiter,
            external_id=wish.arrival.external_id,
        )
        for wish, person in begins
        if wish.arrival.external_id
    )


def new_sessions(
    version: ExperimentVersion,
    asked: Sequence[tuple[Arrival, Participant]],
    *,
    lists: Sequence[int],
    is_test: bool,
) -> list[Session]:
    """Begin a session for each, always on the least-filled of these lists, which the caller has locked."""
    if not asked:
        return []
    if not lists:
        raise StudyClosed("not_open")
    experiment, now = version.experiment, timezone.now()
    counts, sessions = filled(lists, is_test=is_test), []
    for arrival, person in asked:
        seed = secrets.randbits(48)
        chosen = least_filled(counts, np.random.default_rng(seed))
        counts[chosen] += 1
        sessions.append(
            Session(
                experiment=experiment,
                version=version,
                participant=person,
                list_id=chosen,
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
        )
    insert_all(sessions, known_by="token")
    return sessions


def note_consents(sessions: Sequence[Session], texts: Sequence[str], *, given: bool) -> None:
    """Note the answers and which text each was given to."""
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    insert_all(
        [
            Consent(participant=session.participant, session=session, text_sha256=digest, given=given)
            for session, digest in zip(sessions, digests, strict=True)
        ],
        known_by="session_id",
    )
