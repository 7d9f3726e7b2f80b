"""A researcher tries the study as a participant would meet it, in any state; nothing of it counts."""

from django.db import transaction

from experiments.models import Experiment, ExperimentVersion
from judgments.models import Participant, Session
from judgments.sessions.arrival import Arrival, pseudonym
from judgments.sessions.places import locked_lists
from judgments.sessions.prepare import prepare_trials
from judgments.sessions.take_places import new_sessions, note_consents


def begin_preview(
    experiment: Experiment,
    version: ExperimentVersion,
    *,
    key: str,
    consent_text: str,
    round_number: int | None = None,
) -> Session:
    """Begin a test session on the lists of a version made for previews; the same key, the same session.

    The lists are those of the round that takes participants, unless another one is named.
    """
    arrival = Arrival(key=f"preview:{key}", recruiter="preview")
    lists_of = round_number or experiment.current_round
    session = _take_place(experiment, version, arrival, consent_text, round_number=lists_of)
    prepare_trials(session)
    return session


@transaction.atomic
def _take_place(
    experiment: Experiment,
    version: ExperimentVersion,
    arrival: Arrival,
    consent_text: str,
    *,
    round_number: int,
) -> Session:
    lists = locked_lists(version, round_number=round_number)
    person, _ = Participant.objects.get_or_create(
        experiment=experiment, pseudonym=pseudonym(experiment, arrival.key)
    )
    earlier = person.sessions.order_by("-pk").first()
    if earlier is not None:
        return earlier
    sessions = new_sessions(version, [(arrival, person)], lists=lists, is_test=True)
    note_consents(sessions, [consent_text], given=True)
    return sessions[0]
