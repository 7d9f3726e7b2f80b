"""Links and panels as recruiters: nothing is called, and our own sessions are the only list."""

from collections.abc import Iterator
from datetime import date
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from experiments.models import Campaign, Experiment
from judgments.models import PlatformCall, Session
from judgments.recruitment.panel import OUTCOMES, find_channel, id_parameters
from judgments.recruitment.recruiter import (
    ArrivalLink,
    Cost,
    Finding,
    Level,
    Outcome,
    PlannedCall,
    PlatformState,
    PlatformSubmission,
    Recruiter,
    RemoteState,
)
from judgments.sessions.arrival import (
    MAX_VALUE_CHARACTERS,
    PARTICIPANT_PARAMETER,
    SIGNATURE_PARAMETER,
    UNTIL_PARAMETER,
    clean_value,
    is_signed,
)
from judgments.sessions.places import holds_place

STATES = {
    Campaign.State.DRAFT: RemoteState.DRAFT,
    Campaign.State.RUNNING: RemoteState.RUNNING,
    Campaign.State.PAUSED: RemoteState.PAUSED,
    Campaign.State.FINISHED: RemoteState.FINISHED,
    Campaign.State.CLOSED: RemoteState.FINISHED,
}

# Parameters with a person's id, in the order in which one becomes the id of the vault.
ID_PARAMETERS = (PARTICIPANT_PARAMETER, "prolific_pid", "workerid", "pid", "id")
PERSONAL_PARAMETERS = {
    *ID_PARAMETERS,
    "session_id",
    "assignmentid",
    "email",
    "name",
}  # kept in the vault only
MAX_PARAMETERS, MAX_NAME_CHARACTERS = 20, 40


class DirectLink(Recruiter):
    """The study's own link, distributed by mail, in class or on paper; pay is handled elsewhere."""

    name = "direct"
    label = "Link"

    @classmethod
    def identify(cls, request: HttpRequest, experiment: Experiment, detail: str) -> ArrivalLink | None:
        """Read the study's own link."""
        return _read_link(request, experiment, None)

    def check(self, campaign: Campaign) -> list[Finding]:
        """A link needs nothing but an open study."""
        return []

    def cost(self, campaign: Campaign, *, places: int) -> Cost:
        """The rewards alone."""
        return Cost(campaign.reward_minor * places, 0, campaign.currency, "Without fees of the site.")

    def state(self, campaign: Campaign) -> PlatformState:
        """The state that is stored here."""
        sessions = Session.objects.filter(holds_place(timezone.now()), campaign=campaign, is_test=False)
        state = STATES[Campaign.State(campaign.state)]
        taken = sessions.count()
        if state == RemoteState.RUNNING and campaign.places and taken >= campaign.places:
            state = RemoteState.FULL
        return PlatformState(state, places=campaign.places, places_taken=taken, word=campaign.state)

    def submissions(self, campaign: Campaign) -> Iterator[PlatformSubmission]:
        """None: participants over a link have no submission on another platform."""
        return iter(())

    def outcome(self, call: PlatformCall) -> Outcome:
        """Done: what changes is stored here only."""
        return Outcome.DONE

    def plan_calls(self, action: str, campaign: Campaign, **arguments: Any) -> list[PlannedCall]:
        """Nothing is called."""
        return []

    def create(self, campaign: Campaign, *, key: str) -> str:
        """The number of the campaign here."""
        return str(campaign.pk)

    def publish(self, campaign: Campaign, *, key: str) -> None:
        """Nothing to call; the ledger opens the campaign."""

    def add_places(self, campaign: Campaign, n: int, *, total: int, key: str) -> None:
        """Nothing to call; the ledger stores the places."""

    def pause(self, campaign: Campaign, *, key: str) -> None:
        """Nothing to call; the ledger pauses the campaign."""

    def resume(self, campaign: Campaign, *, key: str) -> None:
        """Nothing to call; the ledger opens the campaign."""

    def stop(self, campaign: Campaign, *, key: str) -> None:
        """Nothing to call; the ledger closes the campaign."""


class Panel(DirectLink):
    """A site that sends participants with an id in the link, and a return link."""

    name = "panel"
    label = "Panel or pool"

    @classmethod
    def identify(cls, request: HttpRequest, experiment: Experiment, detail: str) -> ArrivalLink | None:
        """Read the link of the channel with the name ``detail``, which may be a plugin's campaign."""
        channel = find_channel(experiment, detail)
        return _read_link(request, experiment, channel) if channel else None

    def check(self, campaign: Campaign) -> list[Finding]:
        """Warn if participants arrive with an id and have no return link."""
        outcomes = ("complete", "screened_out", "over_quota", "refused")
        missing = [OUTCOMES[outcome] for outcome in outcomes if not campaign.return_template(outcome)]
        if not campaign.options.get("id_parameter") or not missing:
            return []
        return [
            Finding(
                Level.WARNING,
                f"Without a return link: {', '.join(missing)}. These people end on our last page.",
                "Paste the links of the site, or say on its page that there is none.",
                field="options",
            )
        ]


def _read_link(request: HttpRequest, experiment: Experiment, channel: Campaign | None) -> ArrivalLink:
    # Limit: a link may carry anything, so the number and length of its parameters are bounded.
    parameters = {
        clean_value(name, MAX_NAME_CHARACTERS): clean_value(str(value), MAX_VALUE_CHARACTERS)
        for name, value in list(request.GET.items())[:MAX_PARAMETERS]
    }
    signature = parameters.pop(SIGNATURE_PARAMETER, "")
    until = parameters.pop(UNTIL_PARAMETER, "") if signature else ""
    id_name, submission_name = id_parameters(channel) if channel else ("", "")
    identifying = {name.lower() for name in (id_name, submission_name) if name}
    is_personal = PERSONAL_PARAMETERS | identifying
    personal = {name: value for name, value in parameters.items() if name.lower() in is_personal}
    by_lower_name = {name.lower(): value for name, value in personal.items()}
    names = (id_name.lower(), *ID_PARAMETERS)
    external_id = next((by_lower_name[name] for name in names if by_lower_name.get(name)), "")
    # A signature is of the open link: over a channel the same id would begin a second session beside it.
    is_verified = (
        channel is None and bool(external_id) and is_signed(experiment, external_id, signature, until=until)
    )
    return ArrivalLink(
        external_id,
        is_verified=is_verified,
        is_expired=is_verified and bool(until) and date.fromisoformat(until) < timezone.now().date(),
        personal=personal,
        other={name: value for name, value in parameters.items() if name not in personal},
        channel=channel,
        submission=by_lower_name.get(submission_name.lower(), ""),
    )
