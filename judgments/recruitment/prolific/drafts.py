"""A draft on Prolific: its address, completion codes, filters and texts, and what is wrong with them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.html import escape
from django.utils.text import Truncator

from experiments.models import Campaign
from judgments.recruitment.prolific.client import Json
from judgments.recruitment.recruiter import Finding, Level, Refused
from judgments.sessions.completion import ALPHABET

LIVE_HOST = "api.prolific.com"
MAX_GROUP_NAME = 100
PERSON_PARAMETER, SUBMISSION_PARAMETER = "PROLIFIC_PID", "SESSION_ID"
PARAMETERS = {"person": PERSON_PARAMETER, "submission": SUBMISSION_PARAMETER, "study": "STUDY_ID"}
#: Outcomes: type of the completion code, and whether the person has seen materials of the study.
CODE_TYPES = {
    "complete": ("COMPLETED", True),
    "failed_check": ("FAILED_ATTENTION_CHECK", True),
    "screened_out": ("SCREENED_OUT", True),
    "left": ("OTHER", True),
    "over_quota": ("OTHER", False),
    "refused": ("NO_CONSENT", False),
    "repeated": ("OTHER", False),
}
RETURN_REASONS = {
    "failed_check": "You did not pass the check of the instructions.",
    "screened_out": "You do not belong to the group that this study is about.",
    "left": "You stopped before the end.",
    "over_quota": "The study has enough participants of your group.",
    "refused": "You did not agree to take part.",
    "repeated": "You took part in this study before.",
}


@dataclass(frozen=True)
class FilterOption:
    """A filter of the platform: a choice of values (``select``) or limits (``range``)."""

    id: str
    title: str
    type: str
    choices: Mapping[str, str] = field(default_factory=dict)
    min: float | None = None
    max: float | None = None


def group_name(campaign: Campaign) -> str:
    """The name of the participant group: of a family of studies, or of the study alone."""
    family = str(campaign.options.get("group") or f"Took part in {campaign.experiment.slug}")
    return family[:MAX_GROUP_NAME]


def completion_codes(campaign: Campaign) -> dict[str, str]:
    """The completion code of each outcome: chosen, or derived, so that a retry has the same."""
    chosen = campaign.options.get("codes") or {}
    return {
        outcome: str(chosen.get(outcome, {}).get("code") or _derived_code(campaign, outcome))
        for outcome in CODE_TYPES
    }


def completion_paths(campaign: Campaign, *, group: str = "") -> list[Json]:
    """The completion codes with their types and actions; no code rejects a submission.

    A failed check of understanding is no ground for a rejection on Prolific: participants are asked to return
    their submission or, where the campaign pays for being screened out, paid like the others.
    """
    chosen, codes, paths = campaign.options.get("codes") or {}, completion_codes(campaign), []
    pay = _screen_out_pay(campaign)
    for outcome, (code_type, has_seen_materials) in CODE_TYPES.items():
        if pay and outcome == "failed_check":
            continue
        actions: list[Json] = []
        if outcome == "complete":
            is_automatic = "AUTOMATICALLY_APPROVE" in chosen.get(outcome, {}).get("actions", [])
            actions.append({"action": "AUTOMATICALLY_APPROVE" if is_automatic else "MANUALLY_REVIEW"})
        elif pay and outcome == "screened_out":
            code_type = "FIXED_SCREENOUT"
            slots = int(chosen[outcome].get("slots") or campaign.places)
            actions.append(
                {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": pay, "slots": slots}
            )
        else:
            actions.append({"action": "REQUEST_RETURN", "return_reason": RETURN_REASONS[outcome]})
        if group and has_seen_materials:
            actions.append({"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": group})
        paths.append({"code": codes[outcome], "code_type": code_type, "actions": actions})
    return paths


def return_links(campaign: Campaign) -> dict[str, str]:
    """The address that submits each outcome's completion code on Prolific."""
    codes = completion_codes(campaign)
    if _screen_out_pay(campaign):
        codes["failed_check"] = codes["screened_out"]
    start = f"{settings.PROLIFIC_WEB_URL}/submissions/complete?cc="
    return {outcome: f"{start}{quote(code, safe='')}" for outcome, code in codes.items()}


def _screen_out_pay(campaign: Campaign) -> int:
    """The fixed pay for being screened out in minor units; 0 for none."""
    chosen = (campaign.options.get("codes") or {}).get("screened_out", {})
    return int(chosen.get("reward_minor") or 0)


def study_address(campaign: Campaign) -> str:
    """The address that Prolific opens; it fills in its placeholders only if they are not URL-encoded."""
    site = str(campaign.options.get("site") or "").rstrip("/")
    path = reverse("take-prolific", args=[campaign.experiment.link_slug])
    query = "&".join(f"{name}={{{{%{name}%}}}}" for name in PARAMETERS.values())
    return f"{site}{path}?{query}"


def resolved_filters(chosen: Sequence[Mapping[str, Any]], platform: Sequence[FilterOption]) -> list[Json]:
    """Chosen filters in the ids of the platform's list of today; raises ``Refused``.

    Each has ``filter_id`` or ``title``, and ``selected_values`` (ids or texts of choices) or
    ``selected_range``. Several values of a filter mean any of them; several filters mean all of them.
    """
    filters: list[Json] = []
    for row in chosen:
        option = _chosen_option(platform, str(row.get("filter_id") or row.get("title") or ""))
        if option.type == "range":
            limits = dict(row.get("selected_range") or {})
            _check_range(option, limits)
            filters.append({"filter_id": option.id, "selected_range": limits})
        else:
            values = [str(value) for value in row.get("selected_values") or []]
            filters.append({"filter_id": option.id, "selected_values": _choice_ids(option, values)})
    return filters


def format_description(text: str) -> str:
    """A description as paragraphs of the HTML that the platform allows."""
    blocks = [block.strip() for block in text.replace("\r\n", "\n").split("\n\n") if block.strip()]
    return "".join(f"<p>{escape(block)}</p>" for block in blocks)


def shortest_maximum_minutes(minutes: int) -> int:
    """The least time limit that the platform accepts for an estimated time.

    >>> shortest_maximum_minutes(10)
    29
    """
    return math.ceil(2 + 2 * minutes + 2 * math.sqrt(minutes))


def findings_of_texts(campaign: Campaign) -> list[Finding]:
    options, findings = campaign.options, []

    def error(text: str, remedy: str, field: str) -> None:
        findings.append(Finding(Level.ERROR, text, remedy, field))

    site = urlsplit(str(options.get("site") or ""))
    if not site.netloc:
        error("The address of this server is unknown.", "Open the campaign's page once and save it.", "site")
    elif site.scheme != "https" and not is_double():
        error("Prolific opens https addresses only.", "Serve the site over https.", "site")
    if not str(options.get("description") or "").strip():
        error("The description is empty.", "Say what people will do and for how long.", "description")
    if not campaign.places:
        error("The number of places is missing.", "Give the number of participants.", "places")
    if not campaign.reward_minor:
        error("The reward is missing.", "Give what each participant is paid.", "reward")
    if not campaign.estimated_minutes:
        error("The estimated time is missing.", "Give it in minutes.", "estimated_minutes")
    elif campaign.maximum_minutes and campaign.maximum_minutes < (
        least := shortest_maximum_minutes(campaign.estimated_minutes)
    ):
        error(
            f"The time limit of {campaign.maximum_minutes} minutes is too short for Prolific.",
            f"Give {least} minutes or more, or leave it empty.",
            "maximum_minutes",
        )
    if (pay := _screen_out_pay(campaign)) and pay >= campaign.reward_minor:
        error(
            "The pay for people who are screened out is not less than the reward.",
            "Prolific asks for less.",
            "codes",
        )
    findings += _findings_of_language(campaign)
    codes = list(completion_codes(campaign).values())
    if len(set(codes)) < len(codes):
        error("Two outcomes have the same completion code.", "Give each outcome its own code.", "codes")
    return findings


def _findings_of_language(campaign: Campaign) -> list[Finding]:
    """Warn where participants of any language may take a study of sentences in one."""
    materials = campaign.experiment.materials
    if materials is None or materials.language in {"", "und"}:
        return []
    rows = campaign.options.get("filters") or []
    if any("language" in str(row.get("title") or row.get("filter_id")).lower() for row in rows):
        return []
    return [
        Finding(
            Level.WARNING,
            f"No filter is about languages, and the sentences are in “{materials.language}”.",
            "Choose First Language among the filters, or ask for it in the study's questions.",
            "filters",
        )
    ]


def _chosen_option(platform: Sequence[FilterOption], name: str) -> FilterOption:
    for option in platform:
        if name == option.id or name.casefold() == option.title.casefold():
            return option
    raise Refused(
        f"Prolific has no filter “{Truncator(name).chars(80)}” today: nothing was sent.",
        remedy=f"Choose the filter anew; its list has {', '.join(option.title for option in platform[:20])}.",
    )


def _choice_ids(option: FilterOption, values: Sequence[str]) -> list[str]:
    """The ids of choices; filters without a list of choices take ids of groups, studies or participants."""
    if not option.choices:
        return list(values)
    by_text = {text.casefold(): key for key, text in option.choices.items()}
    numbers = [value if value in option.choices else by_text.get(value.casefold(), "") for value in values]
    if not values or "" in numbers:
        unknown = values[numbers.index("")] if "" in numbers else ""
        raise Refused(
            f"The filter “{option.title}” has no choice “{unknown}”."
            if unknown
            else f"The filter “{option.title}” has no value.",
            remedy=f"Prolific offers: {', '.join(list(option.choices.values())[:20])}.",
        )
    return numbers


def group_blocklist(platform: Sequence[FilterOption]) -> str:
    """The id of the filter that keeps the members of a group out, whose spelling is not documented."""
    for option in platform:
        if "group" in option.id.lower() and "block" in option.id.lower():
            return option.id
    raise Refused(
        "Prolific's list has no filter against members of a group: nothing was sent.",
        remedy="Tell Prolific's support; without this filter the same person could take part twice.",
    )


def _check_range(option: FilterOption, limits: Mapping[str, Any]) -> None:
    least = -math.inf if option.min is None else option.min
    most = math.inf if option.max is None else option.max
    values = list(limits.values())
    is_number = all(isinstance(value, int | float) and least <= value <= most for value in values)
    if not values or not is_number or set(limits) - {"lower", "upper"}:
        raise Refused(
            f"The filter “{option.title}” needs limits between {least:g} and {most:g}.",
            remedy="Give a lower or an upper limit as a number.",
        )


def _derived_code(campaign: Campaign, outcome: str) -> str:
    digest = salted_hmac("prolific-code", f"{campaign.pk}:{outcome}", algorithm="sha256").digest()
    return "".join(ALPHABET[byte % len(ALPHABET)] for byte in digest[:8])


def is_double() -> bool:
    """Whether the API is another one than Prolific's own."""
    return urlsplit(settings.PROLIFIC_URL).hostname != LIVE_HOST
