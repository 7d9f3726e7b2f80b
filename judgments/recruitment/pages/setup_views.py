"""Five steps from a study to a published campaign; a draft can be left and continued at any step."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from babel import Locale
from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language_info

from analysis.errors import BadInput
from analysis.power.money import LARGEST, format_money, minor_units
from analysis.text import plural
from experiments.materials.markdown import as_plain
from experiments.models import Campaign, Experiment, PlatformAccount
from experiments.page_cache import cache
from experiments.pages.access import AuthenticatedRequest, get_study, may_edit
from experiments.pages.editing.conflicts import compare, form_version
from experiments.pages.forms import set_remark
from experiments.studies.completion_url import checked_address
from experiments.studies.readiness import summarize_lists
from judgments.models import Session
from judgments.recruitment import campaigns
from judgments.recruitment.credentials import is_simulated, usable_accounts
from judgments.recruitment.pages.campaign_access import (
    action,
    campaign_context,
    get_campaign,
    mode_note,
    report,
    sentence,
)
from judgments.recruitment.prolific.drafts import (
    FilterOption,
    completion_codes,
    completion_paths,
    group_name,
    shortest_maximum_minutes,
)
from judgments.recruitment.prolific.recruiter import ProlificRecruiter
from judgments.recruitment.recruiter import (
    BUILT_IN,
    Cost,
    Finding,
    Level,
    PlatformError,
    adapter,
    get_recruiter,
    platform_label,
)

Kind = campaigns.Kind
STEPS = {
    "platform": "Platform",
    "pay": "Places and pay",
    "who": "Who",
    "completion": "Completion",
    "review": "Review",
}
STEP_OF_FIELD = {  # where a finding of the checks is corrected
    **dict.fromkeys(["places", "reward", "reward_minor", "estimated_minutes", "maximum_minutes"], "pay"),
    **dict.fromkeys(["total_limit_minor", "daily_limit_minor", "lifetime_days", "auto_approve_days"], "pay"),
    **dict.fromkeys(["filters", "qualifications", "countries"], "who"),
    **dict.fromkeys(["title", "description", "keywords", "codes"], "completion"),
    **dict.fromkeys(["account", "currency"], "platform"),
}
LARGEST_LIMIT = 100_000_000  # minor units
FEWEST_TIMES = 5  # sessions whose median is taken for the estimated time
LAST_TIMES = 200
FILTERS_SECONDS = 300
LONGEST = {"prolific": {"title": 120, "description": 3000}, "mturk": {"title": 128, "description": 2000}}
SETTINGS = "settings"  # option of a campaign: the settings that a plugin's recruiter asks for
DEVICES = [("desktop", "desktop"), ("tablet", "tablet"), ("mobile", "phone")]
OUTCOME_LABELS = {
    "complete": "Completed",
    "failed_check": "Failed check of the instructions",
    "screened_out": "Screened out",
    "left": "Stopped before the end",
    "over_quota": "Quota or study full",
    "refused": "No consent",
    "repeated": "Took part before",
}


@dataclass(frozen=True)
class StepState:
    """A step as the row of steps shows it, with what was chosen in it."""

    label: str
    address: str
    note: str
    is_done: bool
    is_wrong: bool
    is_here: bool


# Proposals from the study


def proposed_settings(study: Experiment, account: PlatformAccount) -> dict[str, Any]:
    """Settings of a new campaign from the study's design, pay and pilot."""
    currency = str(account.options.get("currency") or study.currency)
    minutes = proposed_minutes(study)
    first_paragraph = as_plain(study.instructions.strip().partition("\n\n")[0])
    limits = longest_texts(account.platform)
    return {
        "places": proposed_places(study),
        "reward_minor": study.reward_minor if study.currency == currency else 0,
        "currency": currency,
        "estimated_minutes": minutes,
        "options": {
            "title": study.shown_title[: limits["title"]],
            "description": first_paragraph[: limits["description"]],
        },
    }


def longest_texts(platform: str) -> Mapping[str, int]:
    """The most characters of title and description that a platform takes."""
    if platform in LONGEST:
        return LONGEST[platform]
    recruiter = adapter(platform)
    return {"title": recruiter.longest_title, "description": recruiter.longest_description}


def proposed_places(study: Experiment) -> int:
    """Participants that the target takes, without those who are complete; else the limit of participants.

    Rounded up to whole lists, unless the limit of participants leaves fewer.
    """
    requirements = summarize_lists(study).requirements
    complete = study.sessions.filter(status=Session.Status.COMPLETE, is_test=False).count()
    if requirements:
        requirement = requirements[min(study.current_round, len(requirements)) - 1]
        needed = requirement.participants or requirement.limit or requirement.n_lists
    else:
        needed = study.max_participants or 0
    places = max(needed - complete, 0)
    n_lists = study.lists.filter(version=study.current_version(), round=study.current_round).count() or 1
    even = -(-places // n_lists) * n_lists
    left = max(study.max_participants - complete, 0) if study.max_participants else even
    return even if even <= left else places


def proposed_minutes(study: Experiment) -> int | None:
    """The median of the latest complete sessions in minutes, else the estimate from the lists."""
    sessions = study.sessions.filter(
        status=Session.Status.COMPLETE,
        participant__is_simulated=False,
        started_at__isnull=False,
        completed_at__isnull=False,
    )
    times = sessions.order_by("-pk").values_list("started_at", "completed_at")[:LAST_TIMES]
    minutes = [(end - start).total_seconds() / 60 for start, end in times if start and end]
    if len(minutes) >= FEWEST_TIMES:
        return max(1, round(median(minutes)))
    return max((requirement.minutes for requirement in summarize_lists(study).requirements), default=None)


def free_name(study: Experiment, platform: str) -> str:
    """A name that no campaign or channel of the study has."""
    names = set(Campaign.objects.filter(experiment=study).values_list("name", flat=True))
    number = 1
    while (name := f"{platform}-{number}") in names:
        number += 1
    return name


# Forms


class AmountField(forms.CharField):
    """An amount of money in the campaign's currency, cleaned to minor units; None where it is empty."""

    def __init__(self, *, currency: str, largest: int = LARGEST_LIMIT, **kwargs: Any) -> None:
        super().__init__(max_length=14, widget=forms.TextInput(attrs={"inputmode": "decimal"}), **kwargs)
        self.currency, self.largest = currency, largest

    def clean(self, value: Any) -> Any:
        """Parse the amount."""
        text = str(super().clean(value))
        if not text:
            return None
        try:
            return minor_units(text, self.currency, largest=self.largest)
        except BadInput as error:
            raise ValidationError(sentence(error)) from None


class PayForm(forms.Form):
    """Places, reward, times and limits."""

    places = forms.IntegerField(min_value=1, max_value=100_000, label="Places")
    estimated_minutes = forms.IntegerField(min_value=1, max_value=1_440, label="Estimated minutes")
    maximum_minutes = forms.IntegerField(
        min_value=2,
        max_value=100_000,
        required=False,
        label="Maximum minutes",
        help_text="After which the platform takes the place back. Empty: its default.",
    )

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign
        currency, fields = campaign.currency, self.fields
        fields["reward"] = AmountField(
            currency=currency, label=f"Reward for each participant in {currency}", largest=LARGEST
        )
        fields["total_limit"] = AmountField(
            currency=currency,
            required=False,
            label=f"Budget in {currency}, with fees",
            help_text="Nothing is published or paid beyond it.",
        )
        fields["daily_limit"] = AmountField(
            currency=currency,
            required=False,
            label=f"Most paid within 24 hours in {currency}",
            help_text="What is above it waits.",
        )
        fields["payment_limit"] = AmountField(
            currency=currency,
            required=False,
            label=f"Most for one payment in {currency}",
            help_text="Reward or bonus of one participant. Empty: the limit of the lab, if it has one.",
            largest=LARGEST,
        )
        fields["two_people_above"] = AmountField(
            currency=currency,
            required=False,
            label=f"Payments above this sum in {currency} need a second person",
            help_text="Somebody else of the team confirms them before they are sent.",
        )
        if campaign.recruiter == "mturk":
            fields["lifetime_days"] = forms.IntegerField(
                min_value=1,
                max_value=365,
                label="Days on offer",
                help_text="After them, workers find no HITs.",
            )
            fields["auto_approve_days"] = forms.IntegerField(
                min_value=0,
                max_value=30,
                label="Days until MTurk approves by itself",
                help_text="Submissions without a decision by then are paid.",
            )
        self.order_fields(["places", "reward", "estimated_minutes", "maximum_minutes"])

    def clean(self) -> dict[str, Any]:
        """Refuse a maximum time that the platform would refuse."""
        data = super().clean() or {}
        minutes, most = data.get("estimated_minutes"), data.get("maximum_minutes")
        if minutes and most:
            least = shortest_maximum_minutes(minutes) if self.campaign.recruiter == "prolific" else minutes
            if most < least:
                self.add_error(
                    "maximum_minutes",
                    f"At least {least} minutes for a study of {minutes}. Leave it empty for the default.",
                )
        return data

    def settings(self) -> dict[str, Any]:
        """The settings as they are stored."""
        data = self.cleaned_data
        options = dict(self.campaign.options)
        options |= {name: data[name] for name in ("lifetime_days", "auto_approve_days") if name in data}
        return {
            "places": data["places"],
            "reward_minor": data["reward"],
            "estimated_minutes": data["estimated_minutes"],
            "maximum_minutes": data["maximum_minutes"],
            "total_limit_minor": data["total_limit"],
            "daily_limit_minor": data["daily_limit"],
            "payment_limit_minor": data["payment_limit"],
            "two_people_above_minor": data["two_people_above"],
            "options": options,
        }


def _pay_values(campaign: Campaign) -> dict[str, Any]:
    def amount(minor: int | None) -> str:
        return format_money(minor, campaign.currency).split()[0] if minor else ""

    return {
        "places": campaign.places or None,
        "estimated_minutes": campaign.estimated_minutes,
        "maximum_minutes": campaign.maximum_minutes,
        "reward": amount(campaign.reward_minor),
        "total_limit": amount(campaign.total_limit_minor),
        "daily_limit": amount(campaign.daily_limit_minor),
        "payment_limit": amount(campaign.payment_limit_minor),
        "two_people_above": amount(campaign.two_people_above_minor),
        "lifetime_days": campaign.options.get("lifetime_days", 7),
        "auto_approve_days": campaign.options.get("auto_approve_days", 7),
    }


class ProlificWhoForm(forms.Form):
    """Filters by title, devices, and the group of earlier participants."""

    devices = forms.MultipleChoiceField(
        choices=DEVICES,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Devices",
        help_text="None ticked: all of them.",
    )
    group = forms.CharField(
        max_length=100,
        label="Group of people who took part",
        help_text="Campaigns with the same group on Prolific admit each participant once, across studies.",
    )

    def __init__(
        self, *args: Any, campaign: Campaign, filters: Sequence[FilterOption], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.campaign, self.filters = campaign, filters
        for option in filters:
            for name, field in _filter_fields(option).items():
                self.fields[name] = field

    @property
    def editors(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Title and fields of each filter."""
        return [(option.title, [self[name] for name in _filter_fields(option)]) for option in self.filters]

    @property
    def others(self) -> list[forms.BoundField]:
        """Fields that are no filters."""
        return [self["devices"], self["group"]]

    def settings(self) -> dict[str, Any]:
        """The settings as they are stored: filters with the platform's titles and texts."""
        data, rows = self.cleaned_data, []
        for option in self.filters:
            row: dict[str, Any] = {"filter_id": option.id, "title": option.title}
            if option.type == "range":
                limits = {end: data[f"{option.id}:{end}"] for end in ("lower", "upper")}
                row["selected_range"] = {end: limit for end, limit in limits.items() if limit is not None}
                is_set = bool(row["selected_range"])
            else:
                row["selected_values"] = data[option.id]
                is_set = bool(data[option.id])
            if is_set:
                rows.append(row)
        options = self.campaign.options | {
            "filters": rows,
            "device_compatibility": data["devices"],
            "group": data["group"].strip(),
        }
        return {"options": options}


def _filter_fields(option: FilterOption) -> dict[str, forms.Field]:
    if option.type == "range":
        least = None if option.min is None else int(option.min)
        most = None if option.max is None else int(option.max)
        within = f"{'' if least is None else least} to {'' if most is None else most}".strip()
        return {
            f"{option.id}:{end}": forms.IntegerField(
                required=False,
                min_value=least,
                max_value=most,
                label=label,
                help_text=f"Prolific has {within}.",
            )
            for end, label in (("lower", f"{option.title}, from"), ("upper", f"{option.title}, to"))
        }
    field = forms.MultipleChoiceField(
        choices=[(text, text) for text in option.choices.values()],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=option.title,
        help_text="Any of the ticked ones. None ticked: the filter is removed.",
    )
    return {option.id: field}


def _chosen_filters(campaign: Campaign) -> list[Mapping[str, Any]]:
    return list(campaign.options.get("filters") or [])


def _who_values(campaign: Campaign) -> dict[str, Any]:
    values: dict[str, Any] = {
        "devices": campaign.options.get("device_compatibility") or [],
        "group": group_name(campaign),
    }
    for row in _chosen_filters(campaign):
        number = row["filter_id"]
        values[number] = row.get("selected_values", [])
        for end in ("lower", "upper"):
            values[f"{number}:{end}"] = row.get("selected_range", {}).get(end)
    return values


class MTurkWhoForm(forms.Form):
    """Qualifications of workers."""

    countries = forms.CharField(
        required=False,
        max_length=200,
        label="Countries",
        help_text="Two-letter codes with commas, such as US, GB. Empty: every country. MTurk has no filter"
        " for first languages: ask in the study’s questions.",
    )
    percent_approved = forms.IntegerField(
        required=False, min_value=0, max_value=100, label="Least percentage of approved work"
    )
    n_approved = forms.IntegerField(
        required=False, min_value=0, max_value=1_000_000, label="Least number of approved HITs"
    )
    no_repeat = forms.BooleanField(
        required=False, label="Nobody takes part twice", help_text="By a qualification that we grant."
    )

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign

    def clean_countries(self) -> list[str]:
        """Refuse what is no country."""
        codes = [code for code in re.split(r"[\s,;]+", self.cleaned_data["countries"].upper()) if code]
        territories = Locale("en").territories
        for code in codes:
            if len(code) != 2 or code not in territories:
                raise ValidationError(
                    f"“{code}” is no two-letter code of a country. Write for example US, GB."
                )
        return list(dict.fromkeys(codes))

    def settings(self) -> dict[str, Any]:
        """The settings as they are stored."""
        qualifications = {name: value for name, value in self.cleaned_data.items() if value is not None}
        return {"options": self.campaign.options | {"qualifications": qualifications}}


def _mturk_values(campaign: Campaign) -> dict[str, Any]:
    stored = campaign.options.get("qualifications") or {"percent_approved": 95, "no_repeat": True}
    return {**stored, "countries": ", ".join(stored.get("countries", []))}


class PluginWhoForm(forms.Form):
    """The settings that a plugin's recruiter asks for."""

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign
        self.fields.update(get_recruiter(campaign).setting_fields(campaign))

    def settings(self) -> dict[str, Any]:
        """The settings as they are stored: JSON."""
        text = json.dumps(self.cleaned_data, cls=DjangoJSONEncoder)
        return {"options": self.campaign.options | {SETTINGS: json.loads(text)}}


class CompletionForm(forms.Form):
    """Texts on the platform, and the end of a session."""

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign
        label, limits = platform_label(campaign.recruiter), longest_texts(campaign.recruiter)
        fields = self.fields
        fields["title"] = forms.CharField(
            max_length=limits["title"],
            label=f"Title on {label}",
            help_text=f"At most {limits['title']} characters. It should not tell the hypothesis.",
        )
        fields["description"] = forms.CharField(
            max_length=limits["description"],
            widget=forms.Textarea(attrs={"rows": 6}),
            label="Description",
            help_text=f"What people will do, in at most {limits['description']:,} characters of plain text."
            " An empty line begins a paragraph.",
        )
        if campaign.recruiter == "mturk":
            fields["keywords"] = forms.CharField(
                max_length=1_000,
                required=False,
                label="Keywords",
                help_text="With commas. Workers search for them.",
            )
            return
        if campaign.recruiter not in BUILT_IN:
            fields["return_link"] = forms.CharField(
                max_length=1_000,
                required=False,
                label=f"Link back to {label} after the end",
                help_text="May have {participant} and {session}. Empty: people end on our last page.",
            )
            return
        fields["approval"] = forms.ChoiceField(
            choices=[
                ("MANUALLY_REVIEW", "Waits for your review"),
                ("AUTOMATICALLY_APPROVE", "Is approved and paid at once"),
            ],
            widget=forms.RadioSelect,
            label="A completed submission",
        )
        fields["screened_out_reward"] = AmountField(
            currency=campaign.currency,
            required=False,
            largest=LARGEST,
            label=f"Pay for people who are screened out in {campaign.currency}",
            help_text="Empty: Prolific asks them to return their place. Only some workspaces may pay here.",
        )
        fields["screened_out_slots"] = forms.IntegerField(
            required=False,
            min_value=1,
            max_value=100_000,
            label="Screened-out people who are paid, at most",
            help_text="After them, Prolific pauses the campaign.",
        )

    def clean(self) -> dict[str, Any]:
        """Refuse screen-out pay that is not below the reward."""
        data = super().clean() or {}
        reward = data.get("screened_out_reward")
        if reward and self.campaign.reward_minor and reward >= self.campaign.reward_minor:
            self.add_error("screened_out_reward", "Prolific asks for less than the reward.")
        if reward and not data.get("screened_out_slots") and not self.errors:
            self.add_error("screened_out_slots", "Give the number of people who are paid at most.")
        return data

    def clean_return_link(self) -> str:
        """Refuse what is no address."""
        try:
            return (
                checked_address(self.cleaned_data["return_link"]) if self.cleaned_data["return_link"] else ""
            )
        except BadInput as error:
            raise ValidationError(sentence(error)) from None

    def settings(self) -> dict[str, Any]:
        """The settings as they are stored."""
        data = self.cleaned_data
        options = self.campaign.options | {"title": data["title"], "description": data["description"]}
        if "keywords" in data:
            options["keywords"] = data["keywords"]
            return {"options": options}
        if "return_link" in data:
            returns = {name: link for name, link in options.get("returns", {}).items() if name != "complete"}
            if data["return_link"]:
                returns["complete"] = data["return_link"]
            return {"options": options | {"returns": returns}}
        codes = dict(options.get("codes") or {})
        codes["complete"] = {**codes.get("complete", {}), "actions": [data["approval"]]}
        screened_out = {
            name: value
            for name, value in codes.get("screened_out", {}).items()
            if name not in {"reward_minor", "slots"}
        }
        if data["screened_out_reward"]:
            screened_out |= {"reward_minor": data["screened_out_reward"], "slots": data["screened_out_slots"]}
        codes["screened_out"] = screened_out
        return {"options": options | {"codes": codes}}


def _completion_values(campaign: Campaign) -> dict[str, Any]:
    options = campaign.options
    codes = options.get("codes") or {}
    paid = codes.get("screened_out", {})
    is_automatic = "AUTOMATICALLY_APPROVE" in codes.get("complete", {}).get("actions", [])
    reward = paid.get("reward_minor")
    return {
        "title": options.get("title", ""),
        "description": options.get("description", ""),
        "keywords": options.get("keywords", ""),
        "return_link": campaign.return_template("complete"),
        "approval": "AUTOMATICALLY_APPROVE" if is_automatic else "MANUALLY_REVIEW",
        "screened_out_reward": format_money(reward, campaign.currency).split()[0] if reward else "",
        "screened_out_slots": paid.get("slots"),
    }


# Row of steps


def step_states(campaign: Campaign, here: str, *, findings: Sequence[Finding] = ()) -> list[StepState]:
    """The five steps with what was chosen in each."""
    wrong = {STEP_OF_FIELD.get(finding.field, "") for finding in findings if finding.level == Level.ERROR}
    notes = _notes(campaign)
    return [
        StepState(
            label,
            reverse("study-campaign-step", args=[campaign.experiment.slug, campaign.pk, name]),
            notes.get(name, ""),
            is_done=bool(notes.get(name)) and name not in wrong,
            is_wrong=name in wrong,
            is_here=name == here,
        )
        for name, label in STEPS.items()
    ]


def _notes(campaign: Campaign) -> dict[str, str]:
    assert campaign.account is not None
    notes = {"platform": f"{platform_label(campaign.recruiter)}, {mode_note(campaign.account).word.lower()}"}
    if campaign.places and campaign.reward_minor and campaign.estimated_minutes:
        reward = format_money(campaign.reward_minor, campaign.currency)
        notes["pay"] = f"{campaign.places:,} × {reward}, {campaign.estimated_minutes} min"
    if "filters" in campaign.options:
        notes["who"] = plural(len(_chosen_filters(campaign)), "filter")
    elif "qualifications" in campaign.options:
        countries = campaign.options["qualifications"].get("countries") or []
        notes["who"] = ", ".join(countries) or "every country"
    elif SETTINGS in campaign.options:
        notes["who"] = plural(sum(map(bool, campaign.options[SETTINGS].values())), "setting")
    if campaign.options.get("description"):
        notes["completion"] = str(campaign.options.get("title", ""))
    return notes


def first_open_step(campaign: Campaign) -> str:
    """The first step in which nothing is chosen yet."""
    notes = _notes(campaign)
    return next((name for name in STEPS if not notes.get(name)), "review")


# Views


@login_required
def start(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Step 1: choose an account; a draft is stored with values from the study."""
    editing = request.method == "POST"
    study = get_study(request.user, slug, editing=editing)
    if study.origin != Experiment.Origin.COLLECTED:
        raise Http404("an imported study has no recruitment")
    accounts = [account for account in usable_accounts(study) if not is_simulated(account)]
    if editing:
        account = next((row for row in accounts if str(row.pk) == request.POST.get("account")), None)
        if account is None:
            messages.error(request, "Choose an account.")
        else:
            return _store_draft(request, study, account)
    context = {
        "study": study,
        "page": "campaigns",
        "may_edit": may_edit(request.user, study),
        "choices": [(row, platform_label(row.platform), mode_note(row)) for row in accounts],
        "labels": list(STEPS.values()),
    }
    return render(request, "judgments/recruitment/start.html", context, status=422 if editing else 200)


def _store_draft(request: AuthenticatedRequest, study: Experiment, account: PlatformAccount) -> HttpResponse:
    settings = proposed_settings(study, account)
    settings["options"]["site"] = request.build_absolute_uri("/").rstrip("/")
    try:
        campaign = campaigns.create_draft(
            study,
            recruiter=account.platform,
            name=free_name(study, account.platform),
            by=request.user,
            account=account,
            **settings,
        )
    except BadInput as error:
        messages.error(request, sentence(error))
        return redirect("study-campaign-add", study.slug)
    return redirect("study-campaign-step", study.slug, campaign.pk, "pay")


@login_required
def step(request: AuthenticatedRequest, slug: str, campaign_id: int, name: str) -> HttpResponse:
    """Show a step of a draft with its stored values, or store others and go on."""
    if name not in STEPS:
        raise Http404("no such step")
    editing = request.method == "POST"
    study = get_study(request.user, slug, editing=editing)
    campaign = get_campaign(study, campaign_id)
    if campaign.state != Campaign.State.DRAFT:
        return redirect("study-campaign", slug, campaign_id)
    if name == "review":
        return _review(request, study, campaign)
    if name == "platform":
        return _render(request, campaign, name)
    try:
        current = _form(campaign, name, request)
    except PlatformError as error:
        return _render(request, campaign, name, problem=sentence(error))
    if not editing:
        return _render(request, campaign, name, form=current, version=form_version(current))
    form = _form(campaign, name, request, data=request.POST)
    edits = compare(request.POST, current=[current], submitted=[form])
    if edits.is_stale:
        form = _form(campaign, name, request, data=edits.data)
        return _render(
            request, campaign, name, form=form, version=form_version(current), is_stale=True, status=409
        )
    if not form.is_valid():
        return _render(request, campaign, name, form=form, version=form_version(current), status=422)
    settings = form.settings()
    settings["options"] = settings["options"] | {"site": request.build_absolute_uri("/").rstrip("/")}
    try:
        campaigns.change_draft(campaign, by=request.user, **settings)
    except BadInput as error:
        form.add_error(None, sentence(error))
        return _render(request, campaign, name, form=form, version=form_version(current), status=422)
    return redirect(_address_after(request, campaign, name))


def _address_after(request: AuthenticatedRequest, campaign: Campaign, name: str) -> str:
    """The next step, the same step with another filter, or the list of campaigns."""
    slug = campaign.experiment.slug
    here = reverse("study-campaign-step", args=[slug, campaign.pk, name])
    if request.POST.get("onward") == "stay":
        return here
    if request.POST.get("onward") == "add":
        added = request.POST.get("filter", "")
        return f"{here}?add={added}#added" if re.fullmatch(r"[\w-]{1,100}", added) else here
    if request.POST.get("onward") == "leave":
        return reverse("study-campaigns", args=[slug])
    names = list(STEPS)
    return reverse("study-campaign-step", args=[slug, campaign.pk, names[names.index(name) + 1]])


def _form(campaign: Campaign, name: str, request: AuthenticatedRequest, *, data: Any = None) -> Any:
    """The form of a step with the stored values."""
    if name == "pay":
        return PayForm(data, initial=_pay_values(campaign), campaign=campaign)
    if name == "completion":
        return CompletionForm(data, initial=_completion_values(campaign), campaign=campaign)
    if campaign.recruiter == "mturk":
        form: forms.Form = MTurkWhoForm(data, initial=_mturk_values(campaign), campaign=campaign)
        for field in form.fields.values():
            set_remark(field, "")
        return form
    if campaign.recruiter not in BUILT_IN:
        return PluginWhoForm(data, initial=campaign.options.get(SETTINGS, {}), campaign=campaign)
    chosen = {str(row["filter_id"]) for row in _chosen_filters(campaign)}
    chosen |= {request.GET.get("add", ""), *request.POST.getlist("shown")}
    proposed = _proposed_languages(campaign) if data is None else {}
    filters = [option for option in _platform_filters(campaign) if option.id in chosen | proposed.keys()]
    initial = _who_values(campaign) | proposed
    who = ProlificWhoForm(data, initial=initial, campaign=campaign, filters=filters)
    for name in proposed:
        who.fields[name].help_text = f"Proposed for the sentences. {who.fields[name].help_text}"
    return who


def _proposed_languages(campaign: Campaign) -> dict[str, list[str]]:
    """The filter on first languages with the language of the sentences, until filters were saved."""
    materials = campaign.experiment.materials
    if "filters" in campaign.options or materials is None:
        return {}
    try:
        words = get_language_info(materials.language.lower())["name"].casefold().split()
    except KeyError:  # a language that Django does not know
        return {}
    for option in _platform_filters(campaign):
        if option.title.casefold() == "first language":
            fitting = [text for text in option.choices.values() if text.casefold() in words]
            return {option.id: fitting} if fitting else {}
    return {}


def _platform_filters(campaign: Campaign) -> list[FilterOption]:
    """Prolific's own list of filters, read again after some minutes."""
    key = f"prolific-filters-{campaign.account_id}"
    return cache.get_or_set(key, _prolific(campaign).filters, FILTERS_SECONDS) or []


def _prolific(campaign: Campaign) -> ProlificRecruiter:
    recruiter = get_recruiter(campaign)
    assert isinstance(recruiter, ProlificRecruiter)
    return recruiter


def _render(
    request: AuthenticatedRequest,
    campaign: Campaign,
    name: str,
    *,
    form: Any = None,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    names = list(STEPS)
    is_editor = may_edit(request.user, campaign.experiment)
    context = campaign_context(
        campaign.experiment,
        campaign,
        form=form,
        step=name,
        label=STEPS[name],
        number=names.index(name) + 1,
        following=STEPS[names[names.index(name) + 1]],
        states=step_states(campaign, name),
        may_edit=is_editor,
        **more,
    )
    if name == "pay":
        context["money"] = campaign_money(campaign)
    if name == "who" and isinstance(form, ProlificWhoForm):
        shown = {option.id for option in form.filters}
        context["addable"] = [option for option in _platform_filters(campaign) if option.id not in shown]
        context["eligible"] = _eligible(campaign)
    if name == "completion" and campaign.recruiter == "prolific":
        context["codes"] = outcome_rows(campaign)
    return render(request, "judgments/recruitment/step.html", context, status=status)


def outcome_rows(campaign: Campaign) -> list[dict[str, str]]:
    """Each outcome with its code and what Prolific does with it."""
    actions = {path["code"]: path["actions"] for path in completion_paths(campaign)}
    return [
        {"label": OUTCOME_LABELS[outcome], "code": code, "effect": _effect(actions[code], campaign)}
        for outcome, code in completion_codes(campaign).items()
        if code in actions
    ]


def _effect(actions: Sequence[Mapping[str, Any]], campaign: Campaign) -> str:
    """Describe the actions of a completion path."""
    for row in actions:
        match row["action"]:
            case "AUTOMATICALLY_APPROVE":
                return "Approves and pays at once"
            case "MANUALLY_REVIEW":
                return "Waits for your review"
            case "FIXED_SCREEN_OUT_PAYMENT":
                reward = format_money(row["fixed_screen_out_reward"], campaign.currency)
                return f"Pays {reward}, to at most {row['slots']} people"
            case "REQUEST_RETURN":
                return f"Asks the participant to return the place: “{row['return_reason']}”"
    return "Nothing"


def _eligible(campaign: Campaign) -> str:
    """Describe the number of eligible participants for the stored filters."""
    try:
        n = _prolific(campaign).eligible(campaign)
    except PlatformError as error:
        return sentence(error)
    return f"{n:,} people on Prolific match the saved filters." if n else "Fewer than 25 people match."


@dataclass(frozen=True)
class CampaignMoney:
    """Cost and hourly pay of a draft, or why they are not known."""

    cost: Cost | None
    total: str
    problem: str
    hourly: str
    minimum: str
    recommended: str
    is_low: bool

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The receipt."""
        if self.cost is None:
            return []
        return [
            ("Rewards", format_money(self.cost.reward_minor, self.cost.currency)),
            ("Fees of the platform", format_money(self.cost.fee_minor, self.cost.currency)),
        ]


def campaign_money(campaign: Campaign) -> CampaignMoney:
    """Ask the platform what the places cost, and compare the pay per hour with its minimum."""
    cost, problem = None, ""
    rates: tuple[int, int] | None = None
    try:
        if campaign.places and campaign.reward_minor:
            cost = campaigns.cost(campaign)
        if campaign.recruiter == "prolific":
            rates = (_prolific(campaign).hourly_pay() or {}).get(campaign.currency)
    except PlatformError as error:
        problem = sentence(error)
    hourly = campaigns.hourly_minor(campaign) if campaign.reward_minor else None
    minimum, recommended = rates or (0, 0)

    def show_money(minor: int | None) -> str:
        return format_money(minor, campaign.currency) if minor else ""

    return CampaignMoney(
        cost,
        show_money(cost.total_minor) if cost else "",
        problem,
        show_money(hourly),
        show_money(minimum),
        show_money(recommended),
        is_low=bool(hourly and hourly < minimum),
    )


def _review(request: AuthenticatedRequest, study: Experiment, campaign: Campaign) -> HttpResponse:
    findings, calls, problem = [], [], ""
    money = campaign_money(campaign)
    try:
        findings = campaigns.checks(campaign)
        calls = campaigns.dry_run(campaign, Kind.PUBLISH)
    except BadInput as error:
        problem = sentence(error)
    context = campaign_context(
        study,
        campaign,
        step="review",
        number=len(STEPS),
        states=step_states(campaign, "review", findings=findings),
        money=money,
        problem=problem,
        findings=[(finding, _correction(campaign, finding)) for finding in findings],
        n_errors=sum(finding.level == Level.ERROR for finding in findings),
        calls=calls,
        codes=outcome_rows(campaign) if campaign.recruiter == "prolific" else [],
        may_edit=may_edit(request.user, study),
    )
    return render(request, "judgments/recruitment/review.html", context)


@login_required
def planned_calls(request: AuthenticatedRequest, slug: str, campaign_id: int) -> HttpResponse:
    """Every call that publishing would make, as JSON without tokens; sends nothing that changes anything."""
    study = get_study(request.user, slug)
    campaign = get_campaign(study, campaign_id)
    if campaign.state != Campaign.State.DRAFT:
        raise Http404("only a draft has calls to come")
    assert campaign.account is not None
    try:
        calls = campaigns.dry_run(campaign, Kind.PUBLISH)
    except BadInput as error:
        messages.error(request, sentence(error))
        return _to_review(study, campaign_id=campaign_id)
    document = {
        "campaign": campaign.name,
        "platform": campaign.recruiter,
        "mode": campaign.mode,
        "calls": [{"method": call.method, "address": call.address, "body": call.body} for call in calls],
    }
    options = {"ensure_ascii": False, "indent": 2}
    response = JsonResponse(document, json_dumps_params=options)
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-{campaign.name}-calls.json"'
    return response


def _correction(campaign: Campaign, finding: Finding) -> str:
    """The address of the step in which a finding is corrected."""
    name = STEP_OF_FIELD.get(finding.field)
    if not name or finding.level == Level.NOTE:
        return ""
    return reverse("study-campaign-step", args=[campaign.experiment.slug, campaign.pk, name])


def _to_review(study: Experiment, *, campaign_id: int) -> HttpResponse:
    return redirect("study-campaign-step", study.slug, campaign_id, "review")


@action(_to_review)
def publish(request: AuthenticatedRequest, study: Experiment, *, campaign_id: int) -> HttpResponse | None:
    """Publish a draft; in live mode the total was typed in first."""
    campaign = get_campaign(study, campaign_id)
    assert campaign.account is not None
    if mode_note(campaign.account).is_live:
        total = campaigns.cost(campaign)
        expected = format_money(total.total_minor, total.currency).split()[0]
        if request.POST.get("total", "").strip().replace(",", ".") != expected:
            raise BadInput(
                "the total was not confirmed: nothing was sent.", remedy=f"Type {expected} and publish again."
            )
    call = campaigns.publish(campaign, by=request.user)
    label = platform_label(campaign.recruiter)
    report(request, call, done=f"The campaign is published on {label}.")
    is_published = campaign.state != Campaign.State.DRAFT
    return redirect("study-campaign", study.slug, campaign.pk) if is_published else None


def _to_list(study: Experiment, **_numbers: int) -> HttpResponse:
    return redirect("study-campaigns", study.slug)


@action(_to_list)
def discard(request: AuthenticatedRequest, study: Experiment, *, campaign_id: int) -> None:
    """Delete a draft of which the platform knows nothing."""
    campaigns.discard(get_campaign(study, campaign_id), by=request.user)
    messages.success(request, "The draft is discarded.")
