"""Validation of requests to the MTurk double, and of its own answers.

Both are compared with botocore's service model; requests also with the limits of the documentation.
"""

import re
import time
import xml.etree.ElementTree as ElementTree
from urllib.parse import urlsplit

import botocore.session
from botocore.model import Shape

MODEL = botocore.session.get_session().get_service_model("mturk")
EXTERNAL_QUESTION = (
    "{http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd}"
)
LOOPBACK = {"127.0.0.1", "localhost"}  # may be plain http, unlike on the platform
A_YEAR_S, THIRTY_DAYS_S = 31_536_000, 2_592_000
#: Documented limits that the service model does not have: characters of texts, ranges of numbers.
MAX_CHARACTERS = {
    "Title": 128,
    "Description": 2000,
    "Keywords": 1000,
    "RequesterAnnotation": 255,
    "RequesterFeedback": 1024,
    "Subject": 200,
    "MessageText": 4096,
}
RANGES = {
    "AssignmentDurationInSeconds": (30, A_YEAR_S),
    "LifetimeInSeconds": (30, A_YEAR_S),
    "AutoApprovalDelayInSeconds": (0, THIRTY_DAYS_S),
    "MaxAssignments": (1, 1_000_000_000),
}
MAX_QUESTION_BYTES, MAX_REQUIREMENTS, MAX_NOTIFIED = 65_535, 10, 100
CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
LOCALE_COMPARATORS = {"EqualTo", "NotEqualTo", "In", "NotIn"}
LOCALE = "00000000000000000071"


class TurkError(Exception):
    """An error answer of the service."""

    def __init__(self, code: str, message: str, *, kind: str = "RequestError", status: int = 400) -> None:
        self.code, self.kind, self.status = code, kind, status
        self.message = f"{message} ({time.time() * 1000:.0f} s)"
        super().__init__(self.message)


def invalid(message: str) -> TurkError:
    """The error for a value that the service refuses."""
    return TurkError("AWS.MechanicalTurk.InvalidParameterValue", message)


def check(shape: Shape, value: object, path: str) -> None:
    """Compare a value with a shape of the service model; raises ``TurkError``."""
    kind, limits = shape.type_name, shape.metadata
    if kind == "structure":
        if not isinstance(value, dict):
            raise invalid(f"{path} is no structure.")
        for name in shape.required_members:
            if name not in value:
                raise TurkError("AWS.MissingParameters", f"{path}.{name} is required.")
        for name, member in value.items():
            if name not in shape.members:
                raise invalid(f"{path} has no member {name}.")
            check(shape.members[name], member, f"{path}.{name}")
    elif kind == "list":
        if not isinstance(value, list):
            raise invalid(f"{path} is no list.")
        for index, member in enumerate(value):
            check(shape.member, member, f"{path}[{index}]")
    elif kind == "string":
        if not isinstance(value, str):
            raise invalid(f"{path} is no string.")
        if shape.enum and value not in shape.enum:
            raise invalid(f"{path} must be one of {', '.join(shape.enum)}.")
        if not limits.get("min", 0) <= len(value) <= limits.get("max", len(value)):
            raise invalid(f"{path} has {len(value)} characters.")
        if "pattern" in limits and not re.search(limits["pattern"], value):
            raise invalid(f"{path} is {value!r}, which does not match {limits['pattern']}.")
    elif kind in {"integer", "long"}:
        if isinstance(value, bool) or not isinstance(value, int):
            raise invalid(f"{path} is no integer.")
        if not limits.get("min", value) <= value <= limits.get("max", value):
            raise invalid(f"{path} is {value}.")
    elif kind == "boolean":
        if not isinstance(value, bool):
            raise invalid(f"{path} is no boolean.")
    elif kind == "timestamp" and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise invalid(f"{path} is no timestamp.")


def check_documented_limits(request: dict) -> None:
    """Compare a request with the limits that only the documentation has."""
    for name, longest in MAX_CHARACTERS.items():
        if len(request.get(name, "")) > longest:
            raise invalid(f"{name} has more than {longest} characters.")
    for name, (low, high) in RANGES.items():
        if name in request and not low <= request[name] <= high:
            raise invalid(f"{name} must be between {low} and {high}.")
    if CONTROL_CHARACTERS.search(request.get("RequesterFeedback", "")):
        raise invalid("RequesterFeedback has a control character.")
    if len(request.get("WorkerIds", ())) > MAX_NOTIFIED:
        raise invalid(f"at most {MAX_NOTIFIED} workers.")
    if len(request.get("QualificationRequirements", ())) > MAX_REQUIREMENTS:
        raise invalid(f"at most {MAX_REQUIREMENTS} qualification requirements.")
    for requirement in request.get("QualificationRequirements", ()):
        check_requirement(requirement)


def check_requirement(requirement: dict) -> None:
    """Check which values belong to a comparator and a qualification."""
    comparator, kind = requirement["Comparator"], requirement["QualificationTypeId"]
    integers, locales = requirement.get("IntegerValues"), requirement.get("LocaleValues")
    if "RequiredToPreview" in requirement and "ActionsGuarded" in requirement:
        raise invalid("RequiredToPreview and ActionsGuarded cannot be combined.")
    if comparator in {"Exists", "DoesNotExist"}:
        if integers or locales:
            raise invalid(f"{comparator} takes no values.")
        return
    if (kind == LOCALE) != bool(locales) or bool(locales) == bool(integers):
        raise invalid("Worker_Locale takes LocaleValues, other qualifications IntegerValues.")
    if kind == LOCALE and comparator not in LOCALE_COMPARATORS:
        raise invalid(f"Worker_Locale cannot be compared by {comparator}.")
    values, is_list = locales or integers or [], comparator in {"In", "NotIn"}
    if len(values) > ((30 if locales else 15) if is_list else 1):
        raise invalid(f"{comparator} has {len(values)} values.")
    for locale in locales or ():
        if not re.fullmatch("[A-Z]{2}", locale["Country"]):
            raise invalid(f"{locale['Country']!r} is no country.")


def external_url(question: str) -> str:
    """The address of an ExternalQuestion; raises ``TurkError`` where the XML is not as documented."""
    if len(question.encode()) > MAX_QUESTION_BYTES:
        raise invalid("Question is too long.")
    try:
        root = ElementTree.fromstring(question)
    except ElementTree.ParseError as error:
        raise TurkError(
            "AWS.MechanicalTurk.XMLParseError", f"There was an error parsing the XML: {error}."
        ) from None
    address, height = (root.findtext(f"{EXTERNAL_QUESTION}{name}") for name in ("ExternalURL", "FrameHeight"))
    if root.tag != f"{EXTERNAL_QUESTION}ExternalQuestion" or not address or not (height or "").isdigit():
        raise TurkError(
            "AWS.MechanicalTurk.XMLParseError", "ExternalQuestion needs ExternalURL and FrameHeight."
        )
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise invalid("ExternalURL must begin with https.")
    return address
