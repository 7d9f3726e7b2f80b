"""Forms of the planning pages.

Confirmation page before an action that cannot be undone.

Pages of tables; fewer rows on a phone.
"""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib.auth.models import AnonymousUser, User
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from analysis.errors import BadInput
from analysis.power.money import minor_units
from experiments.models import Experiment, Lab, MaterialSet, Membership
from experiments.studies.languages import NAMES, language_choices, tag_named
from experiments.tasks.registry import tasks


def set_remark(field: forms.Field, remark: str) -> None:
    """Set the remark beside a field's label; empty: no remark, not even "optional"."""
    field.remark = remark  # type: ignore[attr-defined]  # read by the field's template


def rearrange(
    rows: Sequence[dict[str, Any]], step: str, place: str, *, most: int, blank: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows of a page with one added, removed or moved up or down; any other step changes nothing."""
    rows = list(rows)
    at = int(place) if place.isascii() and place.isdigit() else len(rows)
    if step == "add" and len(rows) < most:
        rows.append(dict(blank))
    elif step == "remove" and at < len(rows):
        del rows[at]
    elif step == "up" and 0 < at < len(rows):
        rows[at - 1], rows[at] = rows[at], rows[at - 1]
    elif step == "down" and at + 1 < len(rows):
        rows[at + 1], rows[at] = rows[at], rows[at + 1]
    return rows


def task_choices() -> list[tuple[str, str]]:
    """Every task that is installed."""
    return [(name, task.label) for name, task in tasks().items()]


class LanguageInput(forms.TextInput):
    """A text box that suggests the languages of the participant's pages by name."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """The box and its suggestions."""
        listed = f"{(attrs or {}).get('id', name)}_names"
        box = super().render(name, value, {**(attrs or {}), "list": listed}, renderer)
        names = format_html_join("", '<option value="{}">{}</option>', language_choices())
        return format_html('{}<datalist id="{}">{}</datalist>', box, listed, names)


class LanguageField(forms.RegexField):
    """A language tag; a language of ours may also be called by its name."""

    widget = LanguageInput(attrs={"autocomplete": "off", "spellcheck": "false"})

    def to_python(self, value: Any) -> str:
        """The tag of a name."""
        return tag_named(super().to_python(value) or "")


def language_field() -> LanguageField:
    """The language of a study."""
    return LanguageField(
        r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$",
        initial="en",
        max_length=35,
        help_text="The pages speak "
        + "; ".join(english for english, _ in NAMES.values())
        + ". Any other language tag (fi, haw, …) keeps the buttons in English.",
        error_messages={"invalid": "That is not a language tag; write for example en, de or pt-BR."},
    )


class PriceForm(forms.Form):
    """Cost of one participant."""

    reward = forms.CharField(
        required=False, max_length=12, label="Reward per participant", help_text="For example 1.50."
    )
    currency = forms.CharField(required=False, max_length=3, min_length=3)
    fee = forms.FloatField(
        required=False,
        min_value=0,
        max_value=200,
        label="Platform fee (%)",
        help_text="Percent of the reward.",
    )

    def clean_currency(self) -> str:
        """The code in upper case."""
        return str(self.cleaned_data["currency"]).upper()

    def clean(self) -> dict[str, Any]:
        """Convert the reward to minor units; 0 without one."""
        data = super().clean() or self.cleaned_data
        try:
            reward = data.get("reward")
            data["reward_minor"] = minor_units(reward, data.get("currency") or "GBP") if reward else 0
        except BadInput as error:
            field = "currency" if error.column == "currency" else "reward"
            self.add_error(field, str(error))
        return data

    def price(self) -> dict[str, Any]:
        """Reward and fee as the reports take them; the fee as a share."""
        data = getattr(self, "cleaned_data", {})
        return {"reward_minor": data.get("reward_minor") or 0, "fee": (data.get("fee") or 0) / 100}


class NewStudyForm(forms.Form):
    """Fields of a new study."""

    title = forms.CharField(
        max_length=200,
        help_text="For you and your team. Participants see a neutral title, which you can change.",
    )
    task = forms.ChoiceField(choices=task_choices, label="Task of the participants", widget=forms.RadioSelect)
    materials = forms.ModelChoiceField(
        MaterialSet.objects.none(),
        required=False,
        empty_label="I will choose them later",
        help_text="Sentences or minimal pairs that you or your team uploaded.",
    )
    language = language_field()
    lab = forms.ModelChoiceField(
        Lab.objects.none(),
        required=False,
        to_field_name="slug",
        empty_label="None",
        help_text="Its members get their role in the study, too. Can be changed on the Team page.",
    )

    def __init__(self, *args: Any, user: User | AnonymousUser, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        labs = Lab.objects.open_to_studies_by(user)
        lab = self.fields["lab"]
        assert isinstance(lab, forms.ModelChoiceField)
        lab.queryset = labs
        if not labs.exists():
            del self.fields["lab"]
        materials = self.fields["materials"]
        assert isinstance(materials, forms.ModelChoiceField)
        materials.queryset = MaterialSet.objects.visible_to(user)
        self.fields["task"].initial = Experiment._meta.get_field("task").default


class MemberForm(forms.Form):
    """Add a member to the team."""

    username = forms.CharField(max_length=150, label="User name", strip=True)
    role = forms.ChoiceField(
        choices=Membership.Role.choices,
        initial=Membership.Role.VIEWER,
        help_text="A viewer reads, an editor changes the study, an owner also changes the team.",
    )


def is_sure(request: HttpRequest) -> bool:
    """Whether the form was sent from the confirmation page."""
    return "sure" in request.POST


def ask(
    request: HttpRequest, question: str, effect: str, *, yes: str, no: str, back: str, **context: object
) -> HttpResponse:
    """Render the confirmation page: the effect, a button that proceeds, a link that cancels."""
    page = {"question": question, "effect": effect, "yes": yes, "no": no, "back": back}
    return render(request, "experiments/sure.html", page | context)


ON_A_PHONE = 25  # each row is a card there


def paginate(request: HttpRequest, rows: Any, *, most: int) -> "Page[Any]":
    """Return the requested page; a shorter one on a phone."""
    return Paginator(rows, min(most, ON_A_PHONE) if is_phone(request) else most).get_page(
        request.GET.get("page")
    )


def is_phone(request: HttpRequest) -> bool:
    """Whether the browser is on a phone, by its client hint or its user agent."""
    hint = request.headers.get("Sec-CH-UA-Mobile")
    return hint == "?1" if hint else "Mobi" in request.headers.get("User-Agent", "")
