"""The history of accounts: tokens, passwords, second factors, addresses and other logins, with who did it.

Receivers of signals write most entries, so that a change in the administration or on the command line is
recorded as one on a page is. No entry has a secret: tokens are named by the characters that their page shows.
"""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.account.signals import email_added, email_confirmed, email_removed
from allauth.core import context
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.db.models.signals import post_delete, post_save, pre_delete, pre_save
from django.dispatch import receiver

from experiments.models import ApiToken, AuditEntry

#: What an entry of an account is about, by how its action begins; what fits none is the account itself.
ACCOUNT_SUBJECTS = {
    "tokens": ("token",),
    "password and second factor": ("password", "second factor"),
    "addresses": ("address",),
    "logins": ("login", "logged out"),
    "materials and studies": ("materials", "own paradigm", "own words", "pairs", "study deleted"),
}
ACCOUNT_DELETED = "account deleted"
FACTORS = {
    Authenticator.Type.TOTP: "app",
    Authenticator.Type.WEBAUTHN: "passkey",
    Authenticator.Type.RECOVERY_CODES: "recovery codes",
}
#: Columns of an account whose changes are recorded, with their names in the history.
RECORDED = {
    "username": "user name",
    "email": "main address",
    "is_active": "active",
    "is_staff": "staff",
    "is_superuser": "superuser",
}


def record(account: User, action: str, **details: Any) -> None:
    """Add an entry to the history of an account; its user is who sent the present request."""
    user: User | None = None  # the command line, or a job
    if context.request is not None:
        sender = getattr(context.request, "user", None)
        # A visitor who acts on an account without a login has a link of a message to it, or is signing up.
        user = sender if sender and sender.is_authenticated else account
    AuditEntry.objects.create(account=account, user=user, action=action, details=details)


def deleted_values(name: str, contents: str) -> dict[str, Any]:
    """The details of an entry about something deleted: what it had, and nothing after."""
    return {"values": {name: {"old": contents, "new": ""}}}


def record_token_made(token: ApiToken) -> None:
    """Record a new token: what it may do and until when."""
    grant = f"{', '.join(token.scopes)}; until {token.expires_at:%Y-%m-%d}"
    record(token.user, "token made", ends_in=token.hint, values={token.name: {"old": "", "new": grant}})


def revoke_tokens(tokens: "QuerySet[ApiToken]", *, action: str = "token revoked") -> int:
    """Delete tokens, with an entry for each in the history of its user; the number of tokens."""
    rows = list(tokens.select_related("user"))
    tokens.filter(pk__in=[token.pk for token in rows]).delete()
    for token in rows:
        grant = f"{', '.join(token.scopes)}; until {token.expires_at:%Y-%m-%d}"
        record(token.user, action, ends_in=token.hint, values={token.name: {"old": grant, "new": ""}})
    return len(rows)


@receiver(pre_save, sender=User, dispatch_uid="account_history_before")
def _compare_account(instance: User, update_fields: frozenset[str] | None, raw: bool, **_: Any) -> None:
    """Find out which recorded columns change; a login, which stores its time, asks no further query."""
    columns = [name for name in RECORDED if update_fields is None or name in update_fields]
    changes = {}
    if columns and not raw and not instance._state.adding:
        stored = User.objects.filter(pk=instance.pk).values(*columns).first() or {}
        changes = {
            RECORDED[name]: {"old": value, "new": getattr(instance, name)}
            for name, value in stored.items()
            if value != getattr(instance, name)
        }
    instance.recorded_changes = changes  # type: ignore[attr-defined]  # for the receiver below


@receiver(post_save, sender=User, dispatch_uid="account_history_after")
def _record_account(instance: User, created: bool, raw: bool, **_: Any) -> None:
    if raw:
        return
    if created:
        values = {RECORDED[name]: {"old": "", "new": getattr(instance, name)} for name in RECORDED}
        record(instance, "account created", values=values)
    elif changes := getattr(instance, "recorded_changes", {}):
        only_address = set(changes) == {"main address"}
        record(instance, "address changed" if only_address else "account changed", values=changes)


@receiver(pre_delete, sender=User, dispatch_uid="account_history_end")
def _end_history(instance: User, **_: Any) -> None:
    """Delete the entries of a deleted account, which have its addresses, but for the fact of its deletion."""
    QuerySet(AuditEntry).filter(account=instance).delete()
    request = context.request
    user = request.user if request is not None and request.user.is_authenticated else None
    AuditEntry.objects.create(
        user=None if user == instance else user,
        action=ACCOUNT_DELETED,
        details={"account": instance.get_username()},
    )


@receiver(post_save, sender=Authenticator, dispatch_uid="factor_added")
def _record_factor(instance: Authenticator, created: bool, raw: bool, **_: Any) -> None:
    if created and not raw:
        record(instance.user, "second factor added", **_factor(instance))


@receiver(post_delete, sender=Authenticator, dispatch_uid="factor_removed")
def _record_factor_removed(instance: Authenticator, origin: Any, **_: Any) -> None:
    if not _is_of_accounts(origin):
        record(instance.user, "second factor removed", **_factor(instance))


def _factor(factor: Authenticator) -> dict[str, str]:
    is_passkey = factor.type == Authenticator.Type.WEBAUTHN
    return {"kind": FACTORS[factor.type], **({"name": factor.data.get("name", "")} if is_passkey else {})}


@receiver(post_save, sender=SocialAccount, dispatch_uid="service_connected")
def _record_service(instance: SocialAccount, created: bool, raw: bool, **_: Any) -> None:
    if created and not raw:
        record(instance.user, "login of a service connected", **_service(instance))


@receiver(post_delete, sender=SocialAccount, dispatch_uid="service_removed")
def _record_service_removed(instance: SocialAccount, origin: Any, **_: Any) -> None:
    if not _is_of_accounts(origin):
        record(instance.user, "login of a service removed", **_service(instance))


def _service(row: SocialAccount) -> dict[str, str]:
    services: Any = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"]
    names = {service["provider_id"]: service["name"] for service in services}
    return {"service": names.get(row.provider, row.provider), "id_there": row.uid}


def _is_of_accounts(origin: Any) -> bool:
    """Whether rows are deleted because their account is."""
    return isinstance(origin, User) or (isinstance(origin, QuerySet) and origin.model is User)


@receiver(email_added, dispatch_uid="address_added")
def _record_address(user: User, email_address: EmailAddress, **_: Any) -> None:
    record(user, "address added", address=email_address.email)


@receiver(email_confirmed, dispatch_uid="address_confirmed")
def _record_confirmation(email_address: EmailAddress, **_: Any) -> None:
    record(email_address.user, "address confirmed", address=email_address.email)


@receiver(email_removed, dispatch_uid="address_removed")
def _record_removed_address(user: User, email_address: EmailAddress, **_: Any) -> None:
    record(user, "address removed", address=email_address.email)
