"""Links and panels as recruiters: nothing is called, and our own sessions are the only list."""

from collections.abc import Iterator
from typing import Any

from django.utils import timezone

from experiments.models import Campaign
from judgments.models import PlatformCall, Session
from judgments.recruitment.panel import OUTCOMES
from judgments.recruitment.recruiter import (
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
from judgments.sessions.places import holds_place

STATES = {
    Campaign.State.DRAFT: RemoteState.DRAFT,
    Campaign.State.RUNNING: RemoteState.RUNNING,
    Campaign.State.PAUSED: RemoteState.PAUSED,
    Campaign.State.FINISHED: RemoteState.FINISHED,
    Campaign.State.CLOSED: RemoteState.FINISHED,
}


class DirectLink(Recruiter):
    """The study's own link, given to people by mail, in class or on paper; pay is handed out elsewhere."""

    name = "direct"
    label = "Link"

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
        """None: whoever comes over a link has a session, and no submission elsewhere that we can read."""
        return iter(())

    def outcome(self, call: PlatformCall) -> Outcome:
        """Done: what changes is stored here only."""
        return Outcome.DONE

    def planned(self, action: str, campaign: Campaign, **arguments: Any) -> list[PlannedCall]:
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
    """A site that sends people with an id in the link and takes them back by a return link."""

    name = "panel"
    label = "Panel or pool"

    def check(self, campaign: Campaign) -> list[Finding]:
        """Warn where people come with an id and are sent back nowhere."""
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
