"""Encryption of every stored secret with the current key, after which earlier keys can be destroyed."""

from dataclasses import asdict, dataclass
from typing import Any

from allauth.mfa.models import Authenticator
from django.db import transaction
from django.db.models import TextField
from django.db.models.functions import Cast

from experiments.encryption import (
    MARK,
    PLATFORM_ACCOUNTS,
    SECOND_FACTOR,
    VAULT,
    EncryptedTextField,
    decrypt,
    decrypt_text,
    encrypt,
    encrypt_text,
    is_current,
)
from experiments.models import PlatformAccount, RequestKey, Webhook
from experiments.models.webhook import WebhookSecretField
from judgments.models import PlatformIdentity

STORED_SECRETS = ("stored_secret", "stored_earlier_secret")
BATCH = 500  # rows in one transaction


@dataclass
class Counts:
    """Rows that the current key did not encrypt."""

    accounts: int = 0
    identities: int = 0
    second_factors: int = 0
    webhooks: int = 0
    request_keys: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        parts = (self.accounts, self.identities, self.second_factors, self.webhooks, self.request_keys)
        return sum(parts)

    def as_dict(self) -> dict[str, int]:
        """For JSON."""
        return asdict(self)


def rotate(*, dry_run: bool = False) -> Counts:
    """Encrypt with the current key what another one encrypted, or none; each batch is one transaction."""
    counts = Counts()
    counts.accounts = sum(_rotate_account(pk, dry_run) for pk in _keys(PlatformAccount))
    identities = list(_keys(PlatformIdentity))
    for start in range(0, len(identities), BATCH):
        counts.identities += _rotate_identities(identities[start : start + BATCH], dry_run)
    counts.second_factors = sum(_rotate_factor(pk, dry_run) for pk in _keys(Authenticator))
    counts.webhooks = sum(_rotate_webhook(pk, dry_run) for pk in _keys(Webhook))
    counts.request_keys = sum(_rotate_request_key(pk, dry_run) for pk in _keys(RequestKey))
    return counts


def _keys(model: Any) -> Any:
    return model.objects.order_by("pk").values_list("pk", flat=True)


@transaction.atomic
def _rotate_account(pk: int, dry_run: bool) -> bool:
    # Race: the row is locked, because a platform may issue a further secret meanwhile.
    account = PlatformAccount.objects.select_for_update().filter(pk=pk).first()
    if account is None or is_current(bytes(account.secrets), purpose=PLATFORM_ACCOUNTS):
        return False
    if not dry_run:
        plain = decrypt(bytes(account.secrets), purpose=PLATFORM_ACCOUNTS)
        account.secrets = encrypt(plain, purpose=PLATFORM_ACCOUNTS)
        account.save(update_fields=["secrets"])
    return True


@transaction.atomic
def _rotate_identities(keys: list[int], dry_run: bool) -> int:
    rows = {row.pk: row for row in PlatformIdentity.objects.select_for_update().filter(pk__in=keys)}
    earlier = [
        pk for pk, *texts in _stored_texts(list(rows)) if not all(_is_current_text(text) for text in texts)
    ]
    if not dry_run:
        for pk in earlier:
            rows[pk].save(update_fields=["external_id", "external_digest", "parameters"])
    return len(earlier)


def _stored_texts(keys: list[int]) -> Any:
    """The columns as they are stored; the fields of the model decrypt them, a cast does not."""
    casts = {
        name: Cast(field, TextField()) for name, field in (("id_text", "external_id"), ("rest", "parameters"))
    }
    rows: Any = PlatformIdentity.objects.filter(pk__in=keys).annotate(**casts)
    return rows.values_list("pk", "id_text", "rest")


def _is_current_text(text: str, *, purpose: bytes = VAULT) -> bool:
    if not text or not text.startswith(MARK):
        return not text
    return is_current(text.removeprefix(MARK).encode(), purpose=purpose)


@transaction.atomic
def _rotate_factor(pk: int, dry_run: bool) -> bool:
    factor = Authenticator.objects.select_for_update().filter(pk=pk).first()
    if factor is None:
        return False
    secrets = {name: factor.data[name] for name in ("secret", "seed") if factor.data.get(name)}
    codes = factor.data.get("migrated_codes") or []
    texts = [*secrets.values(), *codes]
    if all(_is_current_text(text, purpose=SECOND_FACTOR) for text in texts):
        return False
    if not dry_run:
        factor.data.update({name: _anew(text) for name, text in secrets.items()})
        if codes:
            factor.data["migrated_codes"] = [_anew(code) for code in codes]
        factor.save(update_fields=["data"])
    return True


@transaction.atomic
def _rotate_webhook(pk: int, dry_run: bool) -> bool:
    casts = {name: Cast(name.removeprefix("stored_"), TextField()) for name in STORED_SECRETS}
    row = Webhook.objects.select_for_update().filter(pk=pk).annotate(**casts).first()
    purpose = WebhookSecretField.purpose
    if row is None or all(_is_current_text(getattr(row, name), purpose=purpose) for name in STORED_SECRETS):
        return False
    if not dry_run:  # the fields decrypt when they are read, and encrypt with the current key
        row.save(update_fields=["secret", "earlier_secret"])
    return True


@transaction.atomic
def _rotate_request_key(pk: int, dry_run: bool) -> bool:
    stored = Cast("answer", TextField())
    row: Any = RequestKey.objects.select_for_update().filter(pk=pk).annotate(stored=stored).first()
    if row is None or not row.stored or _is_current_text(row.stored, purpose=EncryptedTextField.purpose):
        return False
    if not dry_run:
        row.save(update_fields=["answer"])
    return True


def _anew(text: str) -> str:
    return encrypt_text(decrypt_text(text, purpose=SECOND_FACTOR), purpose=SECOND_FACTOR)
