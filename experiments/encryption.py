"""Encryption of stored secrets: tokens of platforms, the vault of participants' ids, second factors.

All of them use one ring of keys. The first key encrypts, every key decrypts; ``manage.py rotate_keys``
encrypts everything again with the first one.
"""

import base64
import json
from functools import lru_cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.db import models

from analysis.errors import BadInput

PLATFORM_ACCOUNTS, VAULT, SECOND_FACTOR = b"platform accounts", b"vault", b"second factor"
VAULT_INDEX = b"vault index"
#: Begins each encrypted text, because a column may still hold rows from before the encryption.
MARK = "enc1:"


class UnreadableSecret(BadInput):
    """No key of the ring decrypts the text."""

    def __init__(self) -> None:
        super().__init__(
            "a stored secret cannot be decrypted: PLATFORM_KEY or SECRET_KEY was changed.",
            remedy="Name the earlier key in PLATFORM_KEYS_EARLIER.",
        )


def ring() -> tuple[str, ...]:
    """The keys, the current one first; ``SECRET_KEY`` is last, because it is used where no other is set."""
    keys = [settings.PLATFORM_KEY, *settings.PLATFORM_KEYS_EARLIER, str(settings.SECRET_KEY)]
    return tuple(dict.fromkeys(key for key in keys if key))


@lru_cache(maxsize=64)
def _derive_key(key: str, purpose: bytes) -> bytes:
    return HKDF(SHA256(), length=32, salt=None, info=purpose).derive(key.encode())


@lru_cache(maxsize=16)
def _cipher(keys: tuple[str, ...], purpose: bytes) -> MultiFernet:
    return MultiFernet([Fernet(base64.urlsafe_b64encode(_derive_key(key, purpose))) for key in keys])


def encrypt(data: bytes, *, purpose: bytes) -> bytes:
    """Encrypt with the current key."""
    return _cipher(ring(), purpose).encrypt(data)


def decrypt(data: bytes, *, purpose: bytes) -> bytes:
    """Decrypt with whichever key of the ring fits; raises :class:`UnreadableSecret`."""
    try:
        return _cipher(ring(), purpose).decrypt(data)
    except InvalidToken:
        raise UnreadableSecret from None


def is_current(data: bytes, *, purpose: bytes) -> bool:
    """Whether the current key encrypted this."""
    try:
        _cipher(ring()[:1], purpose).decrypt(data)
    except InvalidToken:
        return False
    return True


def encrypt_text(text: str, *, purpose: bytes) -> str:
    """Encrypt a text for a column of texts; the empty text stays empty."""
    return MARK + encrypt(text.encode(), purpose=purpose).decode() if text else ""


def decrypt_text(text: str, *, purpose: bytes) -> str:
    """Decrypt a text of a column; one without the mark is from before the encryption and is returned."""
    if not text.startswith(MARK):
        return text
    return decrypt(text.removeprefix(MARK).encode(), purpose=purpose).decode()


def keyed_digests(text: str, *, purpose: bytes) -> list[str]:
    """A digest of the text under each key, the current one first: equal texts can be looked up, not read."""
    digests = []
    for key in ring():
        mac = HMAC(_derive_key(key, purpose), SHA256())
        mac.update(text.encode())
        digests.append(base64.urlsafe_b64encode(mac.finalize()).decode().rstrip("="))
    return digests


class Ciphertext(str):
    """Text of an encrypted column as stored, such as from a backup: stored again as it is."""

    __slots__ = ()


class EncryptedTextField(models.TextField):  # type: ignore[type-arg]  # not subscriptable at run time
    """Text that only the database has encrypted; it cannot be looked up."""

    purpose = VAULT

    def get_prep_value(self, value: Any) -> Any:
        """Encrypt."""
        return (
            value
            if value is None or isinstance(value, Ciphertext)
            else encrypt_text(str(value), purpose=self.purpose)
        )

    def from_db_value(self, value: str | None, *_: Any) -> str | None:
        """Decrypt."""
        return value if value is None else decrypt_text(value, purpose=self.purpose)


class EncryptedJSONField(models.TextField):  # type: ignore[type-arg]  # not subscriptable at run time
    """A JSON object that only the database has encrypted; it cannot be looked up."""

    purpose = VAULT
    _pyi_private_set_type: Any  # for the type checker: the values are objects, not texts
    _pyi_private_get_type: Any

    def get_prep_value(self, value: Any) -> Any:
        """Encrypt; an empty object stays empty."""
        if isinstance(value, Ciphertext):
            return str(value)
        text = json.dumps(value, ensure_ascii=False) if value else ""
        return encrypt_text(text, purpose=self.purpose)

    def from_db_value(self, value: str | None, *_: Any) -> Any:
        """Decrypt."""
        text = decrypt_text(value or "", purpose=self.purpose)
        return json.loads(text) if text else {}

    def to_python(self, value: Any) -> Any:
        """Read the text of a form or fixture."""
        return json.loads(value) if isinstance(value, str) and value else value or {}

    def value_to_string(self, obj: models.Model) -> str:
        """The text of a fixture."""
        return json.dumps(self.value_from_object(obj), ensure_ascii=False)
