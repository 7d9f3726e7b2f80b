"""Enrollment: an arrival becomes a participant with a session on the least-filled list.

Arrivals of one study must be handled one after another, because the least-filled list is known only when the
session before is stored. Those that wait at the same time are therefore allocated in one transaction. An
arrival that is sent twice gets the same session. Previews start a test session in any state of the study.
"""

import hashlib
import secrets
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from experiments.design.balance import least_filled
from experiments.models import Campaign, Experiment, ExperimentVersion
from experiments.operation.counters import counters
from judgments.models import Consent, Participant, PlatformIdentity, Session
from judgments.sessions.arrival import Arrival, ConsentRefused, pseudonym
from judgments.sessions.compiled_queries import Compiled
from judgments.sessions.leases import SessionOver, lease_end, take_back
from judgments.sessions.places import (
    StudyClosed,
    channel_places_left,
    check_invited,
    filled_counts,
    is_test_run,
    locked_lists,
    may_join_next_round,
    newest_version,
    places_left,
    refresh_state,
)
from judgments.sessions.trials import write_trials
from judgments.write_lock import write_lock

log = structlog.get_logger(__name__)


@dataclass
class PlaceRequest:
    """An arrival that asks for a place, and its outcome: a new or existing session, or an error."""

    version: ExperimentVersion
    arrival: Arrival
    consent_text: str
    session: Session | None = None
    is_new: bool = False
    error: Exception | None = None

    @property
    def is_served(self) -> bool:
        """Whether the outcome is known."""
        return self.session is not None or self.error is not None

    @property
    def identities(self) -> set[tuple[str, str]]:
        """Keys of which two requests of the same participant share at least one."""
        arrival = self.arrival
        keys = {("key", arrival.key)}
        if arrival.is_verified:
            keys.add((f"link:{arrival.recruiter}", arrival.external_id))
        if arrival.earlier:
            keys.add(("earlier", arrival.earlier))
        return keys


@transaction.atomic
def allocate_places(version: ExperimentVersion, requests: Sequence[PlaceRequest]) -> None:
    """Serve requests for one version in their order; no two are of the same participant."""
    experiment = version.experiment
    round_number = experiment.current_round
    # Race: the lock on the lists makes all processes allocate the places of a study one after another.
    lists = locked_lists(version, round_number=round_number)
    existing = [_find_participant(experiment, request.arrival) for request in requests]
    participants, new_ids = _insert_participants(experiment, requests, existing)
    # Race: the study may have been paused or moved to another round while this process waited for the lock.
    refresh_state(experiment)
    if experiment.current_round != round_number:
        lists = locked_lists(version, round_number=experiment.current_round)
    admitted = list(_admit_requests(experiment, requests, participants, new_ids=new_ids, lists=lists))
    _store_identities(
        experiment, [(request, participant) for request, participant in admitted if participant.pk in new_ids]
    )
    arrivals = [(request.arrival, participant) for request, participant in admitted]
    sessions = new_sessions(version, arrivals, lists=lists, is_test=is_test_run(experiment))
    store_consents(
        sessions,
        [request.consent_text for request, _ in admitted],
        given=True,
        statements=[request.arrival.statements for request, _ in admitted],
    )
    for session, (request, participant) in zip(sessions, admitted, strict=True):
        request.session, request.is_new = session, True
        new_ids.discard(participant.pk)
    if new_ids:  # inserted above, but the study has no place left for them
        Participant.objects.filter(pk__in=new_ids).delete()


def _find_participant(experiment: Experiment, arrival: Arrival) -> Participant | None:
    """The participant with the proven id of the link, or with an earlier session in this browser."""
    if arrival.is_verified:
        identities = PlatformIdentity.objects.with_id(experiment, arrival.external_id).filter(
            recruiter=arrival.recruiter, is_verified=True
        )
        identity = identities.select_related("participant").first()
        if identity is not None:
            return identity.participant
    if arrival.earlier:
        sessions = Session.objects.filter(experiment=experiment, token=arrival.earlier)
        session = sessions.select_related("participant").first()
        return session.participant if session else None
    return None


def _insert_participants(
    experiment: Experiment, requests: Sequence[PlaceRequest], existing: Sequence[Participant | None]
) -> tuple[list[Participant], set[int]]:
    """The participant of each request, and the keys of those that did not exist before."""
    pseudonyms = [pseudonym(experiment, request.arrival.key) for request in requests]
    stored = {row.pseudonym: row for row in _with_pseudonyms(experiment.pk, *pseudonyms)}
    # Race: the same arrival may be sent twice; the lock on the lists lets one insert it.
    participants = [
        participant
        or stored.get(name)
        or Participant(experiment=experiment, pseudonym=name, is_simulated=request.arrival.is_simulated)
        for request, participant, name in zip(requests, existing, pseudonyms, strict=True)
    ]
    new = Participant.objects.bulk_create([row for row in participants if row.pk is None])
    return participants, {row.pk for row in new}


_with_pseudonyms = Compiled(
    lambda experiment, *pseudonyms: Participant.objects.filter(
        experiment=experiment, pseudonym__in=pseudonyms
    )
)


def _admit_requests(
    experiment: Experiment,
    requests: Sequence[PlaceRequest],
    participants: Sequence[Participant],
    *,
    new_ids: set[int],
    lists: Sequence[int],
) -> Iterator[tuple[PlaceRequest, Participant]]:
    """Requests that get a new session; sets the existing session or the error of all others."""
    admission = _Admission(experiment, has_lists=bool(lists))
    for request, participant in zip(requests, participants, strict=True):
        is_new = participant.pk in new_ids
        earlier = None if is_new else _latest_session(participant)
        try:
            if earlier is not None and not may_join_next_round(earlier, experiment):
                request.session = earlier
                if earlier.status == Session.Status.ABANDONED:
                    take_back(earlier)
                continue
            if earlier is None and not is_new and _has_refusal(participant):
                raise ConsentRefused
            admission.admit(earlier, channel=request.arrival.campaign)
        except SessionOver:  # Race: the session ended since it was read; its page shows how.
            continue
        except (StudyClosed, ConsentRefused) as error:
            request.session, request.error = None, error
            continue
        yield request, participant


class _Admission:
    """Admits participants up to the study's limit; counts the places taken when the first one asks."""

    def __init__(self, experiment: Experiment, *, has_lists: bool) -> None:
        self.experiment, self.has_lists = experiment, has_lists
        self.places: float | None = None
        self.channel_places: dict[int, float] = {}

    def admit(self, earlier: Session | None, *, channel: Campaign | None) -> None:
        """Take one place, or raise :class:`~judgments.sessions.places.StudyClosed`."""
        if not self.has_lists:
            raise StudyClosed("not_open")
        if self.places is None:
            self.places = places_left(self.experiment)
        if self.places < 1:
            raise StudyClosed("full")
        check_invited(self.experiment, earlier)
        if channel is not None:
            left = self.channel_places.get(channel.pk)
            left = channel_places_left(channel) if left is None else left
            if left < 1:
                raise StudyClosed("full")
            self.channel_places[channel.pk] = left - 1
        self.places -= 1


def _latest_session(participant: Participant) -> Session | None:
    return participant.sessions.exclude(status=Session.Status.REFUSED).order_by("-pk").first()


def _has_refusal(participant: Participant) -> bool:
    return participant.sessions.filter(status=Session.Status.REFUSED).exists()


def _store_identities(experiment: Experiment, admitted: Sequence[tuple[PlaceRequest, Participant]]) -> None:
    """Store what identifies new participants, apart from all other data."""
    identities = [
        PlatformIdentity(
            participant=participant,
            experiment=experiment,
            recruiter=request.arrival.recruiter,
            external_id=request.arrival.external_id,
            is_verified=request.arrival.is_verified,
            parameters=request.arrival.personal,
        )
        for request, participant in admitted
        if request.arrival.external_id or request.arrival.personal
    ]
    PlatformIdentity.objects.bulk_create(identities)  # a list, because an empty one costs nothing


def new_sessions(
    version: ExperimentVersion,
    arrivals: Sequence[tuple[Arrival, Participant]],
    *,
    lists: Sequence[int],
    is_test: bool,
) -> list[Session]:
    """Start one session each, with its trials, on the least-filled of these lists, which are locked."""
    if not arrivals:
        return []
    if not lists:
        raise StudyClosed("not_open")
    experiment, now = version.experiment, timezone.now()
    counts, sessions = filled_counts(lists, is_test=is_test), []
    rng = np.random.default_rng()  # once: starting one takes as long as a query
    for arrival, participant in arrivals:
        list_id = least_filled(counts, rng)
        counts[list_id] += 1
        sessions.append(
            Session(
                experiment=experiment,
                version=version,
                participant=participant,
                list_id=list_id,
                campaign=arrival.campaign,
                screen="questionnaire",
                seed=secrets.randbits(48),  # fits the 64-bit signed column
                is_test=is_test,
                started_at=now,
                last_seen_at=now,
                lease_expires_at=lease_end(experiment.lease_minutes, now),
                user_agent=arrival.user_agent[:300],
                device=arrival.device,
                attributes={
                    name: value for name, value in (("link", arrival.link), ("label", arrival.label)) if value
                },
            )
        )
    Session.objects.bulk_create(sessions)
    write_trials(sessions)
    return sessions


def store_consents(
    sessions: Sequence[Session],
    texts: Sequence[str],
    *,
    given: bool,
    statements: Sequence[Sequence[dict[str, Any]]] | None = None,
) -> None:
    """Store the decisions on consent with the digest of the text and the ticks each refers to."""
    ticks = statements or [()] * len(sessions)
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    now = timezone.now()
    consents = [
        Consent(
            participant_id=session.participant_id,
            session=session,
            text_sha256=digest,
            given=given,
            statements=list(ticked),
            at=now,
        )
        for session, digest, ticked in zip(sessions, digests, ticks, strict=True)
    ]
    Consent.objects.bulk_create(consents)


def arrive(
    experiment: Experiment, arrival: Arrival, *, consent_text: str, version: ExperimentVersion | None = None
) -> Session:
    """Start a session on the least-filled list, or return the session that this arrival already has.

    ``version`` is the one consented to, with its study just loaded; the default is the newest version.
    Raises :class:`~judgments.sessions.places.StudyClosed` when there is no place,
    :class:`~judgments.sessions.arrival.ConsentRefused` when the participant refused consent before.
    """
    if version is None:
        version = newest_version(experiment)
        refresh_state(experiment)
    if version is None:
        raise StudyClosed("not_open")
    request = PlaceRequest(version, arrival, consent_text)
    session = arrival_queue.serve(request)
    if request.is_new:
        counters.add(("arrivals_total", 1))
    return session


class ArrivalQueue:
    """Requests of this process that wait for a place; one thread at a time serves all that wait."""

    def __init__(self) -> None:
        self.pending: list[PlaceRequest] = []
        self.lock, self.serving = threading.Lock(), threading.Lock()

    def serve(self, request: PlaceRequest) -> Session:
        """Return the session of a request, or raise its error."""
        with self.lock:
            self.pending.append(request)
        with self.serving:
            # Race: the thread that held this lock before may have served the request with its own.
            if not request.is_served:
                with self.lock:
                    pending, self.pending = self.pending, []
                for batch in _batches(pending):
                    _serve_batch(batch)
        if request.error is not None:
            raise request.error
        assert request.session is not None
        return request.session


arrival_queue = ArrivalQueue()


def _batches(requests: Sequence[PlaceRequest]) -> list[list[PlaceRequest]]:
    """Requests that one transaction can serve: for one version, and no two of the same participant."""
    batches: list[list[PlaceRequest]] = []
    for request in requests:
        for batch in batches:
            if batch[0].version.pk == request.version.pk and not any(
                request.identities & other.identities for other in batch
            ):
                batch.append(request)
                break
        else:
            batches.append([request])
    return batches


def _serve_batch(requests: Sequence[PlaceRequest]) -> None:
    """Serve requests in one transaction; if it fails, each in its own, so that one cannot fail the others."""
    try:
        with write_lock():
            allocate_places(requests[0].version, requests)
    # Other threads wait for these requests, so any exception becomes their outcome, as in a Future.
    except Exception as error:
        slug = requests[0].version.experiment.slug
        log.warning("arrivals failed", study=slug, n_requests=len(requests), error=repr(error))
        for request in requests:
            request.session, request.is_new = None, False
        if len(requests) == 1:
            requests[0].error = error  # raised in the thread that waits, where Django logs its traceback
            return
        for request in requests:
            request.error = None
            _serve_batch([request])


def record_refusal(experiment: Experiment, arrival: Arrival, *, consent_text: str) -> None:
    """Record once that consent was refused; no other data is stored, not even the id of the link.

    An id that a link claims is ignored, so that a participant cannot refuse for another one.
    """
    version = experiment.current_version()
    if version is None:
        raise StudyClosed("not_open")
    with transaction.atomic():
        locked_lists(version, round_number=experiment.current_round)
        participant, is_new = Participant.objects.get_or_create(
            experiment=experiment, pseudonym=pseudonym(experiment, arrival.key)
        )
        if is_new:
            session = Session.objects.create(
                experiment=experiment,
                version=version,
                participant=participant,
                campaign=arrival.campaign,
                status=Session.Status.REFUSED,
                is_test=is_test_run(experiment),
            )
            store_consents([session], [consent_text], given=False)


def take_back_refusal(experiment: Experiment, key: str) -> bool:
    """Delete the record of a refusal, so that its participant may be asked again; False if there is none.

    Nothing else was stored of the participant, and the next decision is recorded as any other.
    """
    refusals = Participant.objects.filter(experiment=experiment, pseudonym=pseudonym(experiment, key))
    other_sessions = Session.objects.filter(participant=OuterRef("pk")).exclude(status=Session.Status.REFUSED)
    n_deleted, _ = refusals.exclude(Exists(other_sessions)).delete()
    return n_deleted > 0


def begin_preview(
    experiment: Experiment,
    version: ExperimentVersion,
    *,
    key: str,
    consent_text: str,
    round_number: int | None = None,
) -> Session:
    """Start a test session on the lists of a preview version; the same key returns the same session.

    The lists are those of ``round_number``, by default of the current round.
    """
    arrival = Arrival(key=f"preview:{key}", recruiter="preview")
    number = round_number or experiment.current_round
    return _preview_session(experiment, version, arrival, consent_text, round_number=number)


@transaction.atomic
def _preview_session(
    experiment: Experiment,
    version: ExperimentVersion,
    arrival: Arrival,
    consent_text: str,
    *,
    round_number: int,
) -> Session:
    lists = locked_lists(version, round_number=round_number)
    participant, _ = Participant.objects.get_or_create(
        experiment=experiment, pseudonym=pseudonym(experiment, arrival.key)
    )
    earlier = participant.sessions.order_by("-pk").first()
    if earlier is not None:
        return earlier
    sessions = new_sessions(version, [(arrival, participant)], lists=lists, is_test=True)
    store_consents(sessions, [consent_text], given=True)
    return sessions[0]
