"""Arrivals: their data and signed keys, how many one network may make, and the version that a link leads to.

An id in a link is a claim, not a proof: anybody can write it there. Only a signed link, or a platform that
confirms the id, leads to the sessions that an id has.
"""

import base64
import hashlib
import secrets
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core import signing
from django.db.models import Q
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac

from experiments import limits
from experiments.models import Campaign, Experiment, ExperimentVersion
from experiments.studies.lifecycle import FROZEN_FIELDS
from judgments.sessions.compiled_queries import Compiled


@dataclass(frozen=True)
class Arrival:
    """A participant who consented.

    ``key`` is the same when an arrival is sent twice; ``external_id`` is the participant's id of the platform
    or the link, stored in the vault only with the other ``personal`` parameters of the link. ``is_verified``
    is whether the id is proven, so that it leads to the sessions of an earlier visit. ``earlier`` is the
    token of an earlier session of this browser in the study, ``device`` the study's salted hash of the
    browser's token, ``label`` what was typed for a researcher's own list of participants in a lab.
    """

    key: str
    recruiter: str = "direct"
    external_id: str = ""
    is_verified: bool = False
    personal: dict[str, str] = field(default_factory=dict)
    link: dict[str, str] = field(default_factory=dict)
    user_agent: str = ""
    campaign: Campaign | None = None
    is_simulated: bool = False
    earlier: str = ""
    statements: tuple[dict[str, Any], ...] = ()
    device: str = ""
    label: str = ""


class ConsentRefused(Exception):
    """The participant refused consent before and is not asked again."""


def pseudonym(experiment: Experiment, key: str) -> str:
    """Pseudonym of an arrival: 60 bits of a hash, the same on a retry."""
    digest = hashlib.sha256(f"{experiment.pk}:{key}".encode()).digest()
    return base64.b32encode(digest).decode().lower()[:12]


PARTICIPANT_PARAMETER, SIGNATURE_PARAMETER, UNTIL_PARAMETER = "participant", "key", "until"
MAX_VALUE_CHARACTERS = 200  # of a parameter of a link
KEY_MAX_AGE_S = 24 * 3600  # a consent page left open for longer is shown once more


def clean_value(text: str, longest: int) -> str:
    """Shorten a text of the link; without NUL, which PostgreSQL stores neither in a text nor in JSON."""
    return text.replace("\0", "")[:longest]


def new_key(experiment: Experiment) -> str:
    """A signed key for one consent form, valid for this study and a day."""
    return signing.dumps(secrets.token_urlsafe(12), salt=_key_salt(experiment))


def read_key(experiment: Experiment, text: str) -> str | None:
    """The key of a consent form; None if it is of another study, expired or not signed by us."""
    try:
        return str(signing.loads(text, salt=_key_salt(experiment), max_age=KEY_MAX_AGE_S))
    except signing.BadSignature:
        return None


def _key_salt(experiment: Experiment) -> str:
    return f"arrival:{experiment.pk}"


def personal_link(experiment: Experiment, external_id: str, *, until: date | None = None) -> str:
    """The path of a signed link, which leads to the sessions of this id from any browser.

    After the day ``until``, in UTC, no session can begin with it; a session that has begun stays open.
    """
    path = reverse("take", kwargs={"slug": experiment.link_slug})
    last_day = until.isoformat() if until else ""
    parameters = {PARTICIPANT_PARAMETER: external_id}
    if last_day:
        parameters[UNTIL_PARAMETER] = last_day
    parameters[SIGNATURE_PARAMETER] = _link_signature(experiment, external_id, last_day)
    return f"{path}?{urlencode(parameters)}"


def is_signed(experiment: Experiment, external_id: str, signature: str, *, until: str = "") -> bool:
    """Whether the signature of a link belongs to this study, id and last day."""
    return bool(signature) and constant_time_compare(
        signature, _link_signature(experiment, external_id, until)
    )


def _link_signature(experiment: Experiment, external_id: str, until: str) -> str:
    signed = f"{external_id}\n{until}" if until else external_id
    digest = salted_hmac(f"participant-link:{experiment.pk}", signed, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest[:18]).decode()  # 144 bits in 24 characters


def count_arrival(experiment: Experiment, address: str) -> None:
    """Count an arrival from a network address; raises :class:`limits.LimitReached` beyond the limit."""
    limits.count(f"arrivals:{experiment.pk}", limits.network(address), limit=settings.ARRIVALS_PER_MINUTE)


# The texts come from the version's protocol; other deferred fields are loaded when they are used.
_newest_by_slug = Compiled(
    lambda slug: (
        ExperimentVersion.objects.filter(
            Q(experiment__slug=slug) | Q(experiment__public_slug=slug),
            experiment__origin=Experiment.Origin.COLLECTED,
            is_preview=False,
        )
        .select_related("experiment")
        .defer(
            "snapshot", *(f"experiment__{name}" for name in FROZEN_FIELDS if name not in {"slug", "title"})
        )
        .order_by("-number")[:1]
    )
)


def newest_version(slug: str) -> ExperimentVersion | None:
    """The newest version of a study with the study; None if the study was never opened."""
    version: ExperimentVersion | None = _newest_by_slug.first(slug)
    return version
