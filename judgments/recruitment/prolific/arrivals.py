"""Arrivals from Prolific: what the link claims, whether Prolific confirms it, and the clean address after it.

A link is confirmed by Prolific's signature in it, or by Prolific's list of submissions. Without confirmation
its ids are claims, and the person begins a session of their own.
"""

import base64
import json
import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import jwt
import structlog
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.core.cache import cache as django_cache
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from analysis.errors import BadInput
from experiments.models import Campaign, Experiment
from judgments.recruitment.credentials import decrypt_secrets, is_simulated
from judgments.recruitment.prolific.client import SHORT_TIMEOUT, ProlificClient
from judgments.recruitment.prolific.drafts import PARAMETERS, PERSON_PARAMETER, SUBMISSION_PARAMETER
from judgments.recruitment.recruiter import ArrivalLink, PlatformError

log = structlog.get_logger(__name__)

PROLIFIC = "prolific"
ISSUER = "https://www.prolific.com"
ALGORITHM = "RS256"  # fixed: the token must not choose it
CLOCK_LEEWAY_S = 30
KEYS_LIFESPAN_S = 24 * 3600
KEYS_PATH = "/.well-known/study/jwks.json"
KEYS_TIMEOUT_S = 3
REFRESH_EVERY_S = 60  # at most, for keys with unknown names: anybody can write one into a link
ENTRY_LIFESPAN_S = 24 * 3600
QUESTIONS_PER_MINUTE = 120  # of one campaign to the platform; further links are claims
MAX_PARAMETERS = 20
OPEN_STATUSES = {"ACTIVE", "RESERVED"}
AN_ID = re.compile(r"[0-9A-Za-z_-]{1,100}", re.ASCII)
TOKEN_PARAMETER = "prolific_token"  # noqa: S105 - a parameter's name


@dataclass(frozen=True)
class Entry:
    """An arrival over one campaign: the ids of the link, and whether Prolific confirmed them."""

    campaign: int
    person: str = ""
    submission: str = ""
    is_verified: bool = False


def find_campaign(experiment: Experiment, study_id: str) -> Campaign | None:
    """The campaign of a study on Prolific."""
    campaigns = Campaign.objects.filter(experiment=experiment, recruiter=PROLIFIC, external_id=study_id)
    return campaigns.select_related("account").first() if study_id else None


def read_entry(experiment: Experiment, parameters: Mapping[str, str], *, address: str) -> Entry | None:
    """Read the parameters of a link and ask Prolific to confirm them; None if no campaign has this study.

    ``address`` is the address that was requested, without which a signature would count for any site.
    """
    values = {
        name: text if AN_ID.fullmatch(text := parameters.get(parameter, "")) else ""
        for name, parameter in PARAMETERS.items()
    }
    campaign = find_campaign(experiment, values["study"])
    if campaign is None or is_simulated(campaign.account):
        return None
    is_complete = bool(values["person"] and values["submission"])
    is_verified = is_complete and (
        is_signed(parameters.get(TOKEN_PARAMETER, ""), values, address=address)
        or _is_confirmed(campaign, values)
    )
    return Entry(campaign.pk, values["person"], values["submission"], is_verified)


def identify(request: HttpRequest, experiment: Experiment, text: str) -> ArrivalLink | None:
    """Read the link that Prolific opened, which continues at an address without its ids, or that address."""
    if text:
        return _entry_link(experiment, decrypt_entry(text))
    parameters = {name: str(value) for name, value in list(request.GET.items())[:MAX_PARAMETERS]}
    entry = read_entry(experiment, parameters, address=request.build_absolute_uri())
    if entry is None:
        return None
    return ArrivalLink(clean_address=f"{request.path}{encrypt_entry(entry)}/")


def _entry_link(experiment: Experiment, entry: Entry | None) -> ArrivalLink | None:
    campaigns = Campaign.objects.filter(experiment=experiment, recruiter=PROLIFIC)
    campaign = campaigns.filter(pk=entry.campaign).first() if entry else None
    if entry is None or campaign is None:
        return None
    key = f"{campaign.pk}:{entry.submission}:{entry.person}"
    return ArrivalLink(
        entry.person,
        is_verified=entry.is_verified,
        personal={PERSON_PARAMETER: entry.person, SUBMISSION_PARAMETER: entry.submission},
        channel=campaign,
        submission=entry.submission,
        submission_parameter=SUBMISSION_PARAMETER,
        # Race: two windows of one submission are one arrival; of a claim, each is its own.
        key=salted_hmac("prolific-arrival", key, algorithm="sha256").hexdigest() if entry.is_verified else "",
    )


def encrypt_entry(entry: Entry) -> str:
    """An entry as text for an address: encrypted, because addresses end up in logs and histories."""
    return _fernet().encrypt(json.dumps(asdict(entry)).encode()).decode()


def decrypt_entry(text: str) -> Entry | None:
    """The entry of a sealed text; None if it is not ours or older than a day.

    One from the future is ours, too: it was sealed while the clock was ahead. Fernet's own check of the age
    would turn its person away.
    """
    try:
        age_s = time.time() - _fernet().extract_timestamp(text)
        return Entry(**json.loads(_fernet().decrypt(text))) if age_s <= ENTRY_LIFESPAN_S else None
    except (InvalidToken, ValueError, TypeError):
        return None


def is_signed(token: str, values: Mapping[str, str], *, address: str) -> bool:
    """Whether a token is Prolific's signature of these ids and of a link to this address."""
    if not token:
        return False
    try:
        key = _signing_key(str(jwt.get_unverified_header(token).get("kid", "")))
        if key is None:
            return False
        claims = jwt.decode(
            token,
            key,
            algorithms=[ALGORITHM],
            issuer=ISSUER,
            leeway=CLOCK_LEEWAY_S,
            options={"require": ["exp", "iat", "iss", "aud", "sub"], "verify_aud": False},
        )
    except (jwt.PyJWTError, ValueError) as error:
        log.info("prolific link not confirmed", reason=type(error).__name__)
        return False
    signed = claims.get("prolific")
    return (
        isinstance(signed, dict)
        and _place(str(claims["aud"])) == _place(address)
        and claims["sub"] == values["submission"]
        and all(signed.get(parameter) == values[name] for name, parameter in PARAMETERS.items())
    )


def _place(address: str) -> tuple[str, str]:
    """Host and path of an address."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "", ""
    return parts.netloc.lower(), parts.path


def _signing_key(key_id: str) -> Any:
    client = _key_client(f"{settings.PROLIFIC_URL.rstrip('/')}{KEYS_PATH}")
    for is_refresh in (False, True):
        # Limit: a link with an invented name of a key must not send a request each time.
        if is_refresh and not django_cache.add("prolific-keys", 1, timeout=REFRESH_EVERY_S):
            return None
        for key in client.get_signing_keys(refresh=is_refresh):
            if key.key_id == key_id:
                return key.key
    return None


@cache
def _key_client(address: str) -> jwt.PyJWKClient:
    return jwt.PyJWKClient(address, lifespan=KEYS_LIFESPAN_S, timeout=KEYS_TIMEOUT_S)


def _is_confirmed(campaign: Campaign, values: Mapping[str, str]) -> bool:
    """Whether Prolific has this submission of this person in this study, and it is in progress."""
    if campaign.account is None or not _may_ask(campaign):
        return False
    try:
        token = decrypt_secrets(campaign.account)["token"]
        client = ProlificClient(token, timeout=SHORT_TIMEOUT, attempts=1)  # a participant waits
        row = client.submission(values["submission"])
    except (PlatformError, BadInput) as error:
        log.info("prolific link not confirmed", reason=type(error).__name__)
        return False
    return (
        row.get("participant") == values["person"]
        and row.get("study_id") == values["study"]
        and row.get("status") in OPEN_STATUSES
    )


def _may_ask(campaign: Campaign) -> bool:
    """Count a question to the platform; whether this minute has any left."""
    key = f"prolific-questions:{campaign.pk}"
    django_cache.add(key, 0, timeout=60)
    try:
        return int(django_cache.incr(key)) <= QUESTIONS_PER_MINUTE
    except ValueError:  # Race: the count expired in between
        return True


def _fernet() -> Fernet:
    material = str(settings.SECRET_KEY).encode()
    derived = HKDF(SHA256(), length=32, salt=None, info=b"prolific entries").derive(material)
    return Fernet(base64.urlsafe_b64encode(derived))
