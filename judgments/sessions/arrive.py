"""An arrival becomes a participant with a list and a session; sent twice, it becomes one."""

import threading
from collections.abc import Sequence

from django.db import transaction
from django.utils.crypto import salted_hmac

from experiments.models import Experiment, ExperimentVersion
from judgments.models import Participant, Session
from judgments.sessions.arrival import Arrival, pseudonym
from judgments.sessions.places import StudyClosed, is_test_run, newest_version, refresh
from judgments.sessions.prepare import prepare_trials
from judgments.sessions.take_places import Wish, note_consents, take_places
from judgments.sessions.turns import in_turn


def arrive(
    experiment: Experiment, arrival: Arrival, *, consent_text: str, version: ExperimentVersion | None = None
) -> Session:
    """Take the least-filled list for this arrival, or find the session it already has.

    ``version`` is the one whose consent was given, with the study just read; otherwise the newest.
    Raises :class:`~judgments.sessions.places.StudyClosed` when there is no place,
    :class:`~judgments.sessions.arrival.ConsentRefused` where the same arrival was refused.
    """
    if version is None:
        version = newest_version(experiment)
        refresh(experiment)
    if version is None:
        raise StudyClosed("not_open")
    wish = Wish(version, arrival, consent_text)
    session = waiting_room.serve(wish)
    if not wish.is_new:
        prepare_trials(session)
    return session


class WaitingRoom:
    """Where the arrivals of this process wait for their turn; whoever has it takes along all who wait."""

    def __init__(self) -> None:
        self.waiting: list[Wish] = []
        self.lock, self.turn = threading.Lock(), threading.Lock()

    def serve(self, wish: Wish) -> Session:
        """The session of an arrival; raises what stands against it."""
        with self.lock:
            self.waiting.append(wish)
        with self.turn:
            if not wish.is_served:
                with self.lock:
                    together, self.waiting = self.waiting, []
                for group in _groups(together):
                    _serve(group)
        if wish.problem is not None:
            raise wish.problem
        assert wish.session is not None
        return wish.session


waiting_room = WaitingRoom()


def _groups(wishes: Sequence[Wish]) -> list[list[Wish]]:
    """Wishes that one transaction can answer: for one version, and no two of one person."""
    groups: list[list[Wish]] = []
    for wish in wishes:
        for group in groups:
            if group[0].version.pk == wish.version.pk and not any(wish.names & one.names for one in group):
                group.append(wish)
                break
        else:
            groups.append([wish])
    return groups


def _serve(wishes: Sequence[Wish]) -> None:
    """Answer wishes together; where that fails, each by itself, so that nobody fails for another."""
    try:
        with in_turn():
            take_places(wishes[0].version, wishes)
    except Exception as problem:
        for wish in wishes:
            wish.session, wish.is_new = None, False
        if len(wishes) == 1:
            wishes[0].problem = problem
            return
        for wish in wishes:
            wish.problem = None
            _serve([wish])


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
            note_consents([session], [consent_text], given=False)


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
