"""One form per question about the person: a questionnaire is built without knowing how lines are written."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from analysis.errors import BadInput
from experiments.questions import checked_questions

KINDS = [
    ("text", "a line of text"),
    ("number", "a whole number"),
    ("yes_no", "yes or no"),
    ("choice", "one of these answers"),
    ("multi_choice", "any of these answers"),
]
LISTS = ("choices", "native", "screen_out")
MOST = 60


def _lines(label: str, help_text: str) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})
    return forms.CharField(label=label, required=False, widget=widget, help_text=help_text)


class QuestionForm(forms.Form):
    """What is asked, how it is answered, and what follows from the answer."""

    name = forms.CharField(required=False, max_length=60, widget=forms.HiddenInput)
    label = forms.CharField(label="Question", required=False, max_length=500)
    type = forms.ChoiceField(label="Answered by", choices=KINDS)
    choices = _lines("Answers to choose from", "One per line, for one or any of these answers.")
    required = forms.BooleanField(
        label="Has to be answered",
        required=False,
        help_text="Otherwise people may leave it out, or say that they prefer not to say.",
    )
    is_native = forms.BooleanField(
        label="Tells whether the study's language is the person's native one",
        required=False,
        help_text="Excludes nobody until an exclusion plan says so.",
    )
    native = _lines("Answers that count as native", "One per line, as written above. Empty: yes.")
    screen_out = _lines(
        "Answers that end the session kindly",
        "One per line, as written above; yes or no where it is answered by yes or no. Empty: none.",
    )
    help = forms.CharField(label="Hint under the question", required=False, max_length=500)
    min = forms.IntegerField(label="Smallest number", required=False)
    max = forms.IntegerField(label="Largest number", required=False)
    publish = forms.BooleanField(
        label="Releases may hold the answers",
        required=False,
        help_text="Otherwise they stay with the study's team.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("label", "choices"):
            self.fields[name].remark = ""  # an empty question is left out, so none of them is required

    @property
    def first_fields(self) -> list[forms.BoundField]:
        """What every question needs."""
        return [self[name] for name in ("label", "type", "choices", "required")]

    @property
    def further_fields(self) -> list[forms.BoundField]:
        """What some questions need."""
        return [self[name] for name in ("is_native", *LISTS[1:], "help", "min", "max", "publish")]

    @property
    def has_further(self) -> bool:
        """Whether any of the further fields says something, or is wrong."""
        return any(field.value() or field.errors for field in self.further_fields)

    @property
    def is_blank(self) -> bool:
        """Whether nothing was written into it."""
        return not any(self[name].value() for name in ("label", *LISTS, "help"))

    def clean(self) -> dict[str, Any]:
        """Refuse what cannot be asked."""
        cleaned = super().clean()
        if not self.errors and not self.is_blank:
            try:
                checked_questions([self.row()])
            except BadInput as error:
                raise ValidationError(str(error).replace("question 1", "This question", 1)) from None
        return cleaned

    def row(self) -> dict[str, Any]:
        """The question as a study keeps it: only what was said."""
        given = self.cleaned_data
        row = {name: given[name] for name in ("name", "label", "type", "help") if given[name]}
        row |= {name: given[name] for name in ("min", "max") if given[name] is not None}
        row |= {name: True for name in ("required", "publish") if given[name]}
        lists = {name: [one.strip() for one in given[name].splitlines() if one.strip()] for name in LISTS}
        if given["type"] not in ("choice", "multi_choice"):
            lists["choices"] = []
        if given["is_native"]:
            row["role"] = "native_language"
        else:
            lists["native"] = []
        return row | {name: found for name, found in lists.items() if found}


def forms_of(rows: Sequence[Mapping[str, Any]]) -> list[QuestionForm]:
    """Forms of stored questions."""
    return numbered([_initial(row) for row in rows])


def numbered(initials: Sequence[Mapping[str, Any]]) -> list[QuestionForm]:
    """Forms that show what is given, in this order."""
    return [QuestionForm(prefix=f"q{place}", initial=dict(one)) for place, one in enumerate(initials)]


def sent_forms(data: Mapping[str, Any]) -> list[QuestionForm]:
    """Forms as they were sent."""
    given = str(data.get("n", ""))
    n = min(int(given), MOST) if given.isascii() and given.isdigit() else 0
    return [QuestionForm(data, prefix=f"q{place}") for place in range(n)]


def typed(form: QuestionForm) -> dict[str, Any]:
    """What stands in a form that was sent, right or wrong."""
    return {name: form[name].value() for name in form.fields}


def _initial(row: Mapping[str, Any]) -> dict[str, Any]:
    lists = {name: "\n".join(str(one) for one in row.get(name, ())) for name in LISTS}
    kind = str(row.get("type", "text")).replace("-", "_")
    return {**row, **lists, "type": kind, "is_native": row.get("role") == "native_language"}
