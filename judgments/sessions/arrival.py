"""Who arrives at a study, and the name the person goes by there."""

import base64
import hashlib
from dataclasses import dataclass, field

from experiments.models import Campaign, Experiment


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


def pseudonym(experiment: Experiment, key: str) -> str:
    """The name an arrival goes by: 60 bits that say nothing and come out the same on a retry."""
    digest = hashlib.sha256(f"{experiment.pk}:{key}".encode()).digest()
    return base64.b32encode(digest).decode().lower()[:12]
