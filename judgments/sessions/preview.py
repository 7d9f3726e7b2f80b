"""A researcher tries the study as a participant would meet it, in any state; nothing of it counts."""

from django.db import transaction

from experiments.models import Experiment, ExperimentVersion
from judgments.models import Participant, Session
from judgments.sessions.arrive import Arrival, new_session, note_consent, pseudonym
from judgments.sessions.places import locked_lists
from judgments.sessions.prepare import prepare_trials


def begin_preview(
    experiment: Experiment, version: ExperimentVersion, *, key: str, consent_text: str
) -> Session:
    """Begin a test session on the lists of a version made for previews; the same key, the same session."""
    session = _take_place(
        experiment, version, Arrival(key=f"preview:{key}", recruiter="preview"), consent_text
    )
    prepare_trials(session)
    return session


@transaction.atomic
def _take_place(
    experiment: Experiment, version: ExperimentVersion, arrival: Arrival, consent_text: str
) -> Session:
    lists = locked_lists(version)
    person, _ = Participant.objects.get_or_create(
        experiment=experiment, pseudonym=pseudonym(experiment, arrival.key)
    )
    earlier = person.sessions.order_by("-pk").first()
    if earlier is not None:
        return earlier
    session = new_session(version, person, arrival, lists=lists, is_test=True)
    note_consent(session, consent_text, given=True)
    return session
