"""The record of processing activities (Article 30 of the GDPR), filled from settings and database."""

from dataclasses import dataclass
from typing import Any, cast

from django.conf import settings
from django.db import connection

from analysis.text import plural
from experiments.models import Campaign, PlatformAccount
from experiments.webhooks.delivery import LOG_DAYS
from judgments.recruitment.credentials import REPOSITORIES
from judgments.recruitment.recruiter import platform_label


@dataclass(frozen=True)
class Heading:
    """One heading of the record; ``setting`` is the one to set where it has no text."""

    name: str
    lines: list[str]
    setting: str = ""


def processing_record() -> list[Heading]:
    """The record as headings with lines of text; what is not set names its setting."""
    return [
        Heading("Controller", _set(settings.DATA_CONTROLLER), "DATA_CONTROLLER"),
        Heading(
            "Contact for data protection", _set(settings.DATA_PROTECTION_CONTACT), "DATA_PROTECTION_CONTACT"
        ),
        Heading(
            "Purposes", ["Research on language: judgments of sentences, their analysis and publication."]
        ),
        Heading("People concerned", ["Participants of studies.", "Researchers with an account."]),
        Heading("Categories of data", _categories()),
        Heading("Recipients", _recipients()),
        Heading("Place of storage", _set(settings.DATA_LOCATION), "DATA_LOCATION"),
        Heading("Storage periods", _periods()),
        Heading("Technical and organizational measures", measures()),
    ]


def _set(text: str) -> list[str]:
    return [text] if text else []


def _categories() -> list[str]:
    return [
        "Participants: pseudonym; consent with its time; answers, response times and what was shown; the "
        "study’s questionnaire; browser name (user agent); use of the page (focus, paste, clock); a device "
        "mark that is valid in one study.",
        "Participants of platforms: the platform’s id, in one encrypted table apart from all answers; "
        "decisions on pay and amounts.",
        "Researchers: user name, e-mail address, password hash, second factor (encrypted), actions in "
        "studies.",
        "Not stored: IP addresses; anything that a page of another site loads.",
    ]


STORED_FILES = {  # content by storage
    "default": "uploaded files: materials, judgments and models, as researchers sent them",
    "releases": "gold releases and reports, without platform ids",
    "backups": "backups of the database with everything above, platform ids encrypted",
}


def _is_s3(name: str) -> bool:
    storage = cast("dict[str, Any]", settings.STORAGES[name])
    return str(storage["BACKEND"]).startswith("storages.backends.s3")


def _recipients() -> list[str]:
    accounts = {*PlatformAccount.objects.values_list("platform", flat=True)}
    used = accounts - {*REPOSITORIES}
    used |= {*Campaign.objects.exclude(account=None).values_list("recruiter", flat=True)}
    platforms = [
        f"{platform_label(name)}: submissions, decisions, payments and messages." for name in sorted(used)
    ]
    if accounts & {*REPOSITORIES}:
        platforms.append(
            "Repositories (Hugging Face, Zenodo, OSF): gold releases that researchers publish there."
        )
    if on_s3 := [content for name, content in STORED_FILES.items() if _is_s3(name)]:
        platforms.append(f"The operator of the S3 storage: {'; '.join(on_s3)}.")
    if not settings.EMAIL_BACKEND.endswith(("console.EmailBackend", "dummy.EmailBackend")):
        platforms.append("The operator of the mail server: messages to researchers.")
    return platforms or ["None outside this installation."]


@dataclass(frozen=True)
class RetentionPeriod:
    """How long one kind of data is kept, and the setting, constant or person that decides it."""

    data: str
    until: str
    decided_by: str


def retention_periods() -> list[RetentionPeriod]:
    """Storage periods from the settings and constants that the deleting jobs read."""
    kept = f"the newest {settings.BACKUP_KEEP}" if settings.BACKUP_KEEP else "all"
    return [
        RetentionPeriod(
            "Platform ids",
            f"{plural(settings.VAULT_DAYS, 'day')} after a study closes, or the day that its team set; "
            "longer only while a decision on pay is open",
            "VAULT_DAYS, team",
        ),
        RetentionPeriod(
            "Answers, questionnaire", "the participant or the team deletes them", "participant, team"
        ),
        RetentionPeriod(
            "Previews and their test sessions",
            f"{plural(settings.PREVIEW_DAYS, 'day')} after their last use",
            "PREVIEW_DAYS",
        ),
        RetentionPeriod("Uploads that are not imported", plural(settings.UPLOAD_DAYS, "day"), "UPLOAD_DAYS"),
        RetentionPeriod("Deliveries of webhooks", plural(LOG_DAYS, "day"), "LOG_DAYS"),
        RetentionPeriod(
            "Login sessions", plural(settings.SESSION_COOKIE_AGE // 86_400, "day"), "SESSION_COOKIE_AGE"
        ),
        RetentionPeriod("Backups", f"{kept} are kept", "BACKUP_KEEP"),
    ]


def _periods() -> list[str]:
    return [f"{row.data}: {row.until}." for row in retention_periods()]


def measures() -> list[str]:
    """Technical and organizational measures, as this installation is set."""
    own_key = "an own key (PLATFORM_KEY)" if settings.PLATFORM_KEY else "a key derived from SECRET_KEY"
    transport = (
        "Pages are sent by HTTPS only."
        if settings.HTTPS
        else "HTTPS is not enforced by this installation (HTTPS is off)."
    )
    return [
        f"Platform ids, tokens of platforms and second factors are encrypted with {own_key}.",
        transport,
        "Pseudonyms in all pages, exports and releases; roles in each study; a history of decisions.",
        f"Database: {connection.vendor}; its files and uploads are readable by the service’s account only "
        f"(umask {settings.UMASK:03o}).",
        "Tokens, links of password resets and platform ids are removed from logs.",
        "Content-Security-Policy: pages load nothing from other hosts.",
    ]
