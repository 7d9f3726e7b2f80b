"""Tokens of accounts on platforms and repositories: stored encrypted, never shown but for their end."""

import json
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from analysis.errors import BadInput
from experiments.encryption import PLATFORM_ACCOUNTS, UnreadableSecret, decrypt, encrypt
from experiments.models import AuditEntry, Experiment, Mode, PlatformAccount
from judgments.recruitment.recruiter import Refused, plugin_recruiters

#: The secrets of each built-in platform: the name of each, and its label on the form. The last four
#: characters of the first one are shown.
SECRETS = {
    "prolific": {"token": "API token"},
    "mturk": {"access_key_id": "Access key ID", "secret_access_key": "Secret access key"},
}
#: The same of the repositories on which releases are published.
REPOSITORIES = {name: {"token": "Access token"} for name in ("huggingface", "zenodo", "osf")}
N_SHOWN = 4  # characters of a token
LONGEST_SECRET = 2000
SIMULATED = "simulated"  # option of an account without a token: nothing can be sent with it


def platform_secrets() -> dict[str, Mapping[str, str]]:
    """The secrets of each platform that recruits, those of plugins among them."""
    return {**SECRETS, **{name: recruiter.secrets for name, recruiter in plugin_recruiters().items()}}


@transaction.atomic
def add_account(
    study: Experiment,
    *,
    platform: str,
    label: str,
    secrets: Mapping[str, str],
    by: User,
    mode: str = Mode.TEST,
    options: Mapping[str, Any] | None = None,
) -> PlatformAccount:
    """Store an account, owned by ``by`` and attached to the study."""
    account = PlatformAccount(platform=platform, label=label.strip(), owner=by, options=dict(options or {}))
    account.mode = Mode(mode)
    account.secrets, account.hint = _encrypt_secrets(_check_secrets(platform, secrets))
    account.save()
    account.experiments.add(study)
    record_action(study, "account added", account, by=by)
    return account


@transaction.atomic
def simulated_account(study: Experiment, *, platform: str, label: str, by: User) -> PlatformAccount:
    """An account for examples: it has no token, and whatever would be sent with it is refused here."""
    existing = usable_accounts(study, platform).filter(label=label, owner=by).first()
    if existing is not None and is_simulated(existing):
        return existing
    account = PlatformAccount(platform=platform, label=label, owner=by, options={SIMULATED: True})
    account.secrets = encrypt(b"{}", purpose=PLATFORM_ACCOUNTS)
    account.save()
    account.experiments.add(study)
    return account


def is_simulated(account: PlatformAccount | None) -> bool:
    """Whether the account is an example, with which nothing is ever sent."""
    return account is not None and account.options.get(SIMULATED) is True


@transaction.atomic
def replace_secrets(
    account: PlatformAccount, secrets: Mapping[str, str], *, study: Experiment, by: User
) -> None:
    """Replace the token of an account; its campaigns go on with the new one."""
    _check_owner(account, by)
    if is_simulated(account):
        raise BadInput(
            f"the account “{account.label}” is a simulated example.", remedy="Connect one of your own."
        )
    account.secrets, account.hint = _encrypt_secrets(_check_secrets(account.platform, secrets))
    account.checked_at = None
    account.save(update_fields=["secrets", "hint", "checked_at"])
    record_action(study, "token replaced", account, by=by)


def add_secret(account: PlatformAccount, name: str, value: str) -> None:
    """Store a further secret that the platform issued, such as that of its webhooks."""
    with transaction.atomic():
        locked = PlatformAccount.objects.select_for_update().get(pk=account.pk)
        locked.secrets = account.secrets = encrypt(
            json.dumps({**decrypt_secrets(locked), name: value}).encode(), purpose=PLATFORM_ACCOUNTS
        )
        locked.save(update_fields=["secrets"])


@transaction.atomic
def attach(account: PlatformAccount, study: Experiment, *, by: User) -> None:
    """Share the user's account with another study."""
    _check_owner(account, by)
    account.experiments.add(study)
    record_action(study, "account attached", account, by=by)


@transaction.atomic
def detach(account: PlatformAccount, study: Experiment, *, by: User) -> None:
    """Take an account away from a study that has no campaign with it; without studies, it is deleted."""
    if account.campaigns.filter(experiment=study).exists():
        raise BadInput(
            f"a campaign of this study uses the account “{account.label}”.",
            remedy="Replace its token instead, or delete the token on the platform's own site.",
        )
    account.experiments.remove(study)
    record_action(study, "account removed", account, by=by)
    if not account.experiments.exists() and not account.campaigns.exists():
        account.delete()


def usable_accounts(study: Experiment, *platforms: str) -> QuerySet[PlatformAccount]:
    """The accounts that a study may use, of these platforms; by default of those that recruit."""
    return PlatformAccount.objects.filter(experiments=study, platform__in=platforms or platform_secrets())


def attachable(study: Experiment, *platforms: str, by: User) -> QuerySet[PlatformAccount]:
    """Accounts of this person that other studies use and this one does not."""
    accounts = PlatformAccount.objects.filter(owner=by, platform__in=platforms or platform_secrets())
    return accounts.exclude(Q(experiments=study)).distinct()


def decrypt_secrets(account: PlatformAccount) -> dict[str, str]:
    """The decrypted secrets, for the platform's client only.

    Raises ``Refused`` for a simulated account: no client can be made, so nothing can be sent with it.
    """
    if is_simulated(account):
        raise Refused(
            f"The account “{account.label}” is a simulated example: nothing was sent.",
            remedy="Connect an account of your own, or start the doubles with “python -m tools.doubles”.",
        )
    try:
        secrets: dict[str, str] = json.loads(decrypt(bytes(account.secrets), purpose=PLATFORM_ACCOUNTS))
    except UnreadableSecret:
        raise BadInput(
            f"the token of the account “{account.label}” cannot be decrypted: PLATFORM_KEY or SECRET_KEY was"
            " changed.",
            remedy="Name the earlier key in PLATFORM_KEYS_EARLIER, or replace the token.",
        ) from None
    return secrets


def _check_secrets(platform: str, secrets: Mapping[str, str]) -> dict[str, str]:
    known = {**platform_secrets(), **REPOSITORIES}
    if platform not in known:
        raise BadInput(f"{platform!r} has no accounts here.", remedy=f"There are: {', '.join(known)}.")
    checked = {}
    for name, label in known[platform].items():
        value = secrets.get(name, "").strip()
        if not value or len(value) > LONGEST_SECRET or not value.isascii() or any(map(str.isspace, value)):
            problem = "is not a token" if value else "is empty"
            raise BadInput(
                f"{label} {problem}.",
                column=name,
                remedy="Copy it from the platform's own site, without spaces or line breaks.",
            )
        checked[name] = value
    return checked


def _encrypt_secrets(secrets: Mapping[str, str]) -> tuple[bytes, str]:
    """The secrets, encrypted, and the last characters of the first."""
    first = next(iter(secrets.values()))
    hint = first[-N_SHOWN:] if len(first) > 2 * N_SHOWN else ""  # of a short one, they would be half of it
    return encrypt(json.dumps(dict(secrets)).encode(), purpose=PLATFORM_ACCOUNTS), hint


def _check_owner(account: PlatformAccount, by: User) -> None:
    if account.owner_id != by.pk:
        raise BadInput("the account belongs to another user.", remedy="Ask them, or add your own.")


def record_action(study: Experiment, action: str, account: PlatformAccount, *, by: User) -> None:
    """Record an action on an account in the history of a study."""
    AuditEntry.objects.create(
        experiment=study,
        user=by,
        action=f"{'repository' if account.platform in REPOSITORIES else 'platform'} {action}",
        details={"platform": account.platform, "label": account.label, "mode": account.mode},
    )
