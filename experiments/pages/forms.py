"""Forms of the planning pages."""

from typing import Any

from django import forms

from experiments.models import MaterialSet, Membership
from judgments.tasks.registry import tasks


def task_choices() -> list[tuple[str, str]]:
    """Every task that is installed."""
    return [(name, task.label) for name, task in tasks().items()]


def language_field() -> forms.CharField:
    """A language tag."""
    return forms.RegexField(
        r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$",
        initial="en",
        max_length=35,
        help_text="A language tag: en, de, pt-BR, zh-Hans.",
        error_messages={"invalid": "That is not a language tag; write for example en, de or pt-BR."},
    )


class NewStudyForm(forms.Form):
    """What a study needs to begin."""

    title = forms.CharField(
        max_length=200, help_text="For you and your team. Participants see it at the top of the page."
    )
    task = forms.ChoiceField(choices=task_choices, label="What people do", widget=forms.RadioSelect)
    materials = forms.ModelChoiceField(
        MaterialSet.objects.none(),
        required=False,
        empty_label="I will choose them later",
        help_text="Sentences or minimal pairs that you or your team uploaded.",
    )
    language = language_field()

    def __init__(self, *args: Any, user, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["materials"].queryset = MaterialSet.objects.visible_to(user)
        if choices := task_choices():
            self.fields["task"].initial = choices[0][0]


class MemberForm(forms.Form):
    """Somebody joins the team."""

    username = forms.CharField(max_length=150, label="User name", strip=True)
    role = forms.ChoiceField(
        choices=Membership.Role.choices,
        initial=Membership.Role.VIEWER,
        help_text="A viewer reads, an editor changes the study, an owner also changes the team.",
    )
