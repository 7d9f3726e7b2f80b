"""Participants' forms before the trials: questionnaire, quiz, line training and own modulus.

A question is ``{"name", "label", "type"}`` with type text, number, choice, multi_choice or yes_no; optional
are ``choices``, ``required``, ``help``, ``min``, ``max``, ``screen_out`` (answers that end the session),
and ``role: native_language`` with ``native`` (answers that count as native; for yes_no: yes). The quiz
sends the number of an answer in its shuffled order, never its text.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.forms import Form

from experiments.studies.languages import direction
from experiments.studies.questionnaire import LARGEST_NUMBER
from experiments.studies.wording import gettext
from experiments.studies.wording import gettext_lazy as _
from experiments.tasks.base import BadResponse
from experiments.tasks.magnitude_estimation import REFERENCE_PX
from judgments.models import Session
from judgments.sessions.pretrial import (
    correct_choice,
    quiz_attempt,
    session_line_lengths,
    shuffled_answers,
    training_attempt,
)
from judgments.sessions.protocol import Protocol, load_protocol

YES_NO = [("yes", _("Yes")), ("no", _("No"))]
NOT_SAID = "-"
NO_ANSWER = (NOT_SAID, _("I prefer not to say"))

HONEYPOT_FIELD = "further_notes"  # hidden from participants; only bots fill it in
EMPTY_ANSWERS: tuple[Any, ...] = (None, "", NOT_SAID, [])


class ParticipantForm(forms.Form):
    """Form whose labels have no colon, and whose required fields are also checked by the browser."""

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, use_required_attribute=True, label_suffix="")


class Questionnaire(ParticipantForm):
    """One field per question."""

    def __init__(self, questions: Sequence[Mapping[str, Any]], data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self.questions = questions
        for question in questions:
            self.fields[question["name"]] = _field(question)

    def answers(self) -> dict[str, Any]:
        """Non-empty answers as JSON-ready values."""
        return {name: answer for name, answer in self.cleaned_data.items() if answer not in EMPTY_ANSWERS}

    def screened_by(self) -> str:
        """Name of the first question whose answer screens the participant out; empty if none does."""
        for question in self.questions:
            answer = self.cleaned_data.get(question["name"])
            selected = {str(option) for option in (answer if isinstance(answer, list) else [answer])}
            if selected & {str(option) for option in question.get("screen_out", ())}:
                return str(question["name"])
        return ""

    def is_native(self) -> bool | None:
        """Answer to the question with role ``native_language``; None if not asked or not answered."""
        for question in self.questions:
            if question.get("role") == "native_language":
                answer = self.cleaned_data.get(question["name"])
                if answer in EMPTY_ANSWERS:
                    return None
                native_answers = {
                    str(option).strip().casefold() for option in question.get("native", ["yes"])
                }
                selected = answer if isinstance(answer, list) else [answer]
                return any(str(option).strip().casefold() in native_answers for option in selected)
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
    listed = [(str(option), str(option)) for option in question.get("choices", ())]
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
    """A whole number in a text input, because the arrows of a number input change it by accident."""
    low, high = question.get("min", 0), question.get("max", LARGEST_NUMBER)
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


COMMENT_FIELD, MAX_COMMENT_CHARACTERS = "closing_comment", 4000


class ClosingForm(Questionnaire):
    """The optional questions at the end, and the free comment."""

    def __init__(self, protocol: Protocol, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(protocol.closing_questions, data)
        if protocol.closing_comment:
            self.fields[COMMENT_FIELD] = forms.CharField(
                label=_("Anything else you would like to tell us"),
                help_text=_("Please do not write your name or an id."),
                required=False,
                max_length=MAX_COMMENT_CHARACTERS,
                widget=forms.Textarea(attrs={"rows": 4}),
            )


class QuizForm(ParticipantForm):
    """One field per question, with the hints from the second attempt."""

    def __init__(self, session: Session, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self.session = session
        for number, question in enumerate(load_protocol(session.version).quiz):
            answers = shuffled_answers(session, number)
            self.fields[f"answer_{number + 1}"] = forms.ChoiceField(
                label=question["question"],
                choices=[(str(choice), text) for choice, text in enumerate(answers, start=1)],
                widget=forms.RadioSelect,
                help_text=question.get("hint", "") if quiz_attempt(session) > 1 else "",
                error_messages={"required": _("Please answer this question.")},
            )

    def wrong(self) -> list[int]:
        """Indexes of the questions answered wrongly."""
        return [
            number
            for number in range(len(self.fields))
            if self.cleaned_data[f"answer_{number + 1}"] != correct_choice(self.session, number)
        ]


NUMBER_ATTRIBUTES = {"inputmode": "decimal", "autocomplete": "off", "maxlength": 40}


class NumberField(forms.CharField):
    """A number parsed by the session's task, cleaned to the typed text and its value."""

    def __init__(self, session: Session, **options: Any) -> None:
        super().__init__(
            max_length=40,
            strip=False,
            widget=forms.TextInput(attrs=NUMBER_ATTRIBUTES),
            error_messages={"required": _("Please type a number.")},
            **options,
        )
        self.session = session

    def clean(self, value: Any) -> tuple[str, float]:
        """The typed text and its value."""
        typed, protocol = super().clean(value), load_protocol(self.session.version)
        try:
            return typed, protocol.task.parse(typed, protocol.settings, options=()).value
        except BadResponse as problem:
            raise forms.ValidationError(problem.translate(gettext)) from None


class LinesForm(ParticipantForm):
    """One number per line of the training."""

    def __init__(self, session: Session, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self.lengths = session_line_lengths(session)
        for number in range(1, len(self.lengths) + 1):
            label = gettext("Line %(n)s") % {"n": number}
            self.fields[f"line_{number}"] = NumberField(session, label=label)

    def lines(self) -> list[dict[str, Any]]:
        """Fields with the lengths of their lines in pixels."""
        return [
            {"field": field, "px": round(REFERENCE_PX * length)}
            for field, length in zip(self, self.lengths, strict=True)
        ]

    def typed_lines(self) -> list[str]:
        """The answers as typed."""
        return [self.cleaned_data[name][0] for name in self.fields]

    def estimates(self) -> list[float]:
        """The answers as numbers."""
        return [self.cleaned_data[name][1] for name in self.fields]


class ModulusForm(ParticipantForm):
    """The participant's number for the reference sentence."""

    def __init__(self, session: Session, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self.fields["number"] = NumberField(
            session,
            label=_("Which number do you give it?"),
            help_text=_(
                "Any number above 0 will do. One that is easy to double and to halve makes the rest easy. "
                "It stays in view."
            ),
        )


def warm_up_context(kind: str, session: Session, protocol: Protocol, form: Form | None) -> dict[str, Any]:
    """Template context of the line training or the modulus."""
    parts = protocol.task.screen(protocol.settings, arrangement={})
    if kind == "training":
        return {
            "form": form or LinesForm(session),
            "attempt": training_attempt(session),
            "parts": parts,
            "reference_px": REFERENCE_PX,
        }
    materials = session.experiment.materials
    language = materials.language if materials else protocol.language
    return {
        "form": form or ModulusForm(session),
        "parts": parts,
        "sentence": {"text": parts["reference"], "language": language, "direction": direction(language)},
    }
