"""The requester API of MTurk through boto3: one request for each call that changes something, typed errors.

Region and address are always explicit: boto3 builds the address of any region without a word, and a forgotten
sandbox would spend money. boto3 checks neither patterns nor longest lengths; ``MTurkRecruiter.check`` does.
"""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from threading import Lock
from typing import Any

import boto3
from botocore import xform_name
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ParamValidationError,
    ProxyConnectionError,
    SSLError,
)
from django.conf import settings

from experiments.models import Mode, PlatformAccount
from judgments.recruitment.credentials import decrypt_secrets
from judgments.recruitment.recruiter import AnswerLost, Busy, PlatformError, Refused

REGION = "us-east-1"  # the only one of the service
ENDPOINTS = {
    Mode.TEST: "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
    Mode.LIVE: "https://mturk-requester.us-east-1.amazonaws.com",
}
PAGE_SIZE = 100
CONNECT_TIMEOUT_S, READ_TIMEOUT_S = 5, 30
THROTTLED = {"ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded"}
NOT_ACCEPTED = {
    "UnrecognizedClientException",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "SignatureDoesNotMatch",
    "IncompleteSignature",
    "MissingAuthenticationTokenException",
    "AccessDeniedException",
    "ExpiredTokenException",
}
#: botocore raises these before any byte of the request is sent.
NOT_SENT = (EndpointConnectionError, ConnectTimeoutError, ProxyConnectionError, SSLError)
NOTHING = "Nothing happened there."
OTHER_IDS = f"{NOTHING} Look at the account and MTURK_ENDPOINT: sandbox and production have ids of their own."
REMEDIES = {
    "InsufficientFunds": f"{NOTHING} Add money to the account of the requester, or publish fewer places.",
    "HITDoesNotExist": OTHER_IDS,
    "AssignmentDoesNotExist": OTHER_IDS,
    "PermissionDeniedException": f"{NOTHING} Allow the key's user the policy AmazonMechanicalTurkFullAccess.",
}
PREFIX = "AWS.MechanicalTurk."
WRONG_TIME = re.compile("signature (expired|not yet current)", re.IGNORECASE)
WRONG_REGION = re.compile("scoped to a valid region", re.IGNORECASE)


class MTurkClient:
    """Calls of one account; every error becomes a ``PlatformError``."""

    def __init__(self, account: PlatformAccount) -> None:
        self.endpoint = endpoint(account)
        secrets = decrypt_secrets(account)
        keys = secrets["access_key_id"], secrets["secret_access_key"]
        self._reading = _boto_client(self.endpoint, *keys, is_reading=True)
        self._changing = _boto_client(self.endpoint, *keys, is_reading=False)

    def read(self, operation: str, **request: Any) -> dict[str, Any]:
        """One answer of an operation that changes nothing; repeated while the service is busy."""
        return _call(self._reading, operation, request, is_change=False)

    def pages(self, operation: str, result: str, **request: Any) -> Iterator[dict[str, Any]]:
        """All rows of a list, from all its pages."""
        # The service returns a token with every page that has rows, and none with the empty page after them.
        token = ""
        while True:
            more = {"NextToken": token} if token else {}
            page = self.read(operation, **request, MaxResults=PAGE_SIZE, **more)
            yield from page.get(result, ())
            token = page.get("NextToken", "")
            if not token or not page.get(result):
                return

    def change(self, operation: str, **request: Any) -> dict[str, Any]:
        """One answer of an operation that changes something; its request is sent once."""
        return _call(self._changing, operation, request, is_change=True)


def endpoint(account: PlatformAccount) -> str:
    """The address of the API: that of the setting, else the sandbox or production by the account's mode."""
    mode = Mode(account.mode)
    address: str = settings.MTURK_ENDPOINT or ENDPOINTS[mode]
    if mode == Mode.TEST and address.rstrip("/") == ENDPOINTS[Mode.LIVE]:
        raise Refused(
            "MTURK_ENDPOINT is that of production, and the account is a test account: nothing was sent.",
            remedy="Leave MTURK_ENDPOINT empty, or add the account as a live one.",
        )
    if mode == Mode.LIVE and address.rstrip("/") == ENDPOINTS[Mode.TEST]:
        raise Refused(
            "MTURK_ENDPOINT is that of the sandbox, and the account is a live account: nothing was sent.",
            remedy="Leave MTURK_ENDPOINT empty, or add the account as a test one: nothing is paid there.",
        )
    return address


# Race: clients serve many threads, the session that makes them does not.
_session_lock = Lock()


@lru_cache
def _session() -> Any:
    """Return the process's session, which keeps the description of the service: reading it takes 40 ms."""
    return boto3.session.Session()


# Limit: a client takes 5 MB, so those in use are kept.
@lru_cache(maxsize=16)
def _boto_client(address: str, access_key_id: str, secret_access_key: str, *, is_reading: bool) -> Any:
    with _session_lock:
        client = _session().client(
            "mturk",
            region_name=REGION,
            endpoint_url=address,
            aws_access_key_id=access_key_id,
            aws_secret_access_key=secret_access_key,
            config=Config(
                connect_timeout=CONNECT_TIMEOUT_S,
                read_timeout=READ_TIMEOUT_S,
                # One request for each call that changes something: boto3 would repeat it after a lost answer.
                retries={"mode": "standard", "total_max_attempts": 4 if is_reading else 1},
            ),
        )
    client.meta.events.register("before-parse.mturk", _check_json)
    return client


class _BrokenAnswer(BotoCoreError):  # type: ignore[misc]  # botocore has no types
    fmt = "The answer is no JSON document."


def _check_json(response_dict: dict[str, Any], **_: Any) -> None:
    """Raise where an answer is cut off: botocore reads half a JSON document as an empty one."""
    if response_dict["status_code"] == 200:
        try:
            json.loads(response_dict["body"])
        except ValueError:
            raise _BrokenAnswer from None


def _call(client: Any, operation: str, request: dict[str, Any], *, is_change: bool) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = getattr(client, xform_name(operation))(**request)
    except ParamValidationError as error:
        raise Refused(f"MTurk was not called: {error}") from error
    except ClientError as error:
        raise _platform_error(error, operation, is_change=is_change) from error
    except NOT_SENT as error:
        raise Busy(
            f"MTurk could not be reached ({type(error).__name__}): {operation} was not sent.",
            remedy="Try again in a few minutes; look at MTURK_ENDPOINT if it stays so.",
        ) from error
    except BotoCoreError as error:
        raise _connection_error(operation, type(error).__name__.lstrip("_"), is_change=is_change) from error
    answer.pop("ResponseMetadata", None)
    return {name: _in_utc(value) for name, value in answer.items()}


def _in_utc(value: Any) -> Any:
    """Times in UTC: botocore returns them in the machine's own zone."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    if isinstance(value, dict):
        return {name: _in_utc(member) for name, member in value.items()}
    return [_in_utc(member) for member in value] if isinstance(value, list) else value


def _connection_error(operation: str, reason: str, *, is_change: bool) -> PlatformError:
    if not is_change:
        return Busy(
            f"MTurk did not answer {operation} ({reason}).", remedy="Nothing changed; try again later."
        )
    return AnswerLost(
        f"MTurk was sent {operation} and gave no usable answer ({reason}): it may have acted.",
        remedy="Nothing is sent again before MTurk was asked whether it did.",
        code=reason,
    )


def _platform_error(error: ClientError, operation: str, *, is_change: bool) -> PlatformError:
    response: Any = error.response
    kind = response["Error"]["Code"]
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    code = str(response.get("TurkErrorCode", "")).removeprefix(PREFIX)
    text = str(response.get("Message") or response["Error"].get("Message", ""))
    if kind in THROTTLED or status in {429, 503}:
        return Busy(
            f"MTurk is busy ({kind}): {operation} was not carried out.",
            remedy="It is safe to try again in a minute.",
            code=kind,
        )
    if status >= 500 or kind == "ServiceFault":
        return _connection_error(operation, kind, is_change=is_change)
    if kind in NOT_ACCEPTED or code == "AWS.NotAuthorized":
        return _not_accepted(kind, text)
    return Refused(
        f"MTurk refused {operation}: {text}",
        remedy=REMEDIES.get(code, f"{NOTHING} Change what MTurk names, and try again."),
        code=code or kind,
        ends_batch=code == "InsufficientFunds",
    )


def _not_accepted(kind: str, text: str) -> Refused:
    """Return the problem with the credentials of a request: the clock, the region or the key."""
    text = text.rstrip(".")
    if WRONG_TIME.search(text):
        message = f"MTurk refuses the time at which this machine signed the request ({text})."
        remedy = "Set the clock of this machine, and send again."
    elif WRONG_REGION.search(text):
        message = f"The service at MTURK_ENDPOINT is of another region than {REGION} ({text})."
        remedy = f"MTurk has no region but {REGION}: correct MTURK_ENDPOINT, or leave it empty."
    else:
        message = f"MTurk does not accept the access key ({kind}: {text})."
        remedy = "Replace the key of the account, and look that it is linked to the requester's account."
    return Refused(f"{message} {NOTHING}", remedy=remedy, code=kind, ends_batch=True)
