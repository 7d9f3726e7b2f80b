"""The questionnaire, built from what the study asks.

A question is ``{"name", "label", "type"}`` with type text, number, choice, multi_choice or yes_no;
optional are ``choices``, ``required``, ``help``, ``min``, ``max``, and ``role: native_language`` with
``native``: the answers that count as speaking the study's language natively (yes_no: yes); ``screen_out``
lists answers that end the session kindly.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from experiments.questions import MOST

YES_NO = [("yes", _("Yes")), ("no", _("No"))]
UNSAID = "-"
NO_ANSWER = (UNSAID, _("I prefer not to say"))

TRAP = "further_notes"  # a field that people do not see
NOTHING: tuple[Any, ...] = (None, "", UNSAID, [])


class Questionnaire(forms.Form):
    """One field per question."""

    def __init__(self, questions: Sequence[Mapping[str, Any]], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, use_required_attribute=True, label_suffix="", **kwargs)
        self.questions = questions
        for question in questions:
            self.fields[question["name"]] = _field(question)

    def answers(self) -> dict[str, Any]:
        """Answers that were given, ready for JSON."""
        return {name: given for name, given in self.cleaned_data.items() if given not in NOTHING}

    def screened_by(self) -> str:
        """The first question with an answer that the study screens out by; empty without one."""
        for question in self.questions:
            given = self.cleaned_data.get(question["name"])
            said = {str(one) for one in (given if isinstance(given, list) else [given])}
            if said & {str(one) for one in question.get("screen_out", ())}:
                return str(question["name"])
        return ""

    def is_native(self) -> bool | None:
        """What the question with role ``native_language`` says; None when not asked or not answered."""
        for question in self.questions:
            if question.get("role") == "native_language":
                given = self.cleaned_data.get(question["name"])
                if given in NOTHING:
                    return None
                wanted = {str(one).strip().casefold() for one in question.get("native", ["yes"])}
                said = given if isinstance(given, list) else [given]
                return any(str(one).strip().casefold() in wanted for one in said)
        return None


def _field(question: Mapping[str, Any]) -> forms.Field:
    kind = str(question.get("type", "text")).replace("-", "_")
    required = bool(question.get("required"))
    common = {
        "label": question.get("label") or question["name"],
        "required": required,
        "help_text": question.get("help", ""),
        "error_messages": {"required": _("Please answer this question.")},
    }
    listed = [(str(one), str(one)) for one in question.get("choices", ())]
    if kind == "multi_choice":
        return forms.MultipleChoiceField(choices=listed, widget=forms.CheckboxSelectMultiple, **common)
    if kind in {"choice", "yes_no"}:
        choices = (YES_NO if kind == "yes_no" else listed) + ([] if required else [NO_ANSWER])
        return forms.ChoiceField(choices=choices, widget=forms.RadioSelect, **common)
    if kind == "number":
        return _number(question, common)
    attributes = {"autocomplete": "off"}
    return forms.CharField(max_length=1000, widget=forms.TextInput(attrs=attributes), **common)


def _number(question: Mapping[str, Any], common: dict[str, Any]) -> forms.Field:
    """A whole number in a plain text box: no arrows that change it by accident."""
    low, high = question.get("min", 0), question.get("max", MOST)
    common["error_messages"]["invalid"] = _("Please type a whole number.")
    if "max" in question:
        outside = gettext("Please give a number from %(low)s to %(high)s.") % {"low": low, "high": high}
        common["error_messages"] |= {"min_value": outside, "max_value": outside}
    return forms.IntegerField(
        min_value=low,
        max_value=high,
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
        **common,
    )
