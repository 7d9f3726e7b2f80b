"""Forms of a study's settings: its facts and texts, its task's parameters."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q

from analysis.errors import BadInput
from experiments.completion import checked_address
from experiments.extras import lines_from_trials, trials_from_lines
from experiments.languages import usual_words
from experiments.models import Experiment, MaterialSet
from experiments.pages.forms import language_field
from experiments.questions import lines_from_questions, questions_from_lines
from experiments.quiz import lines_from_quiz, quiz_from_lines
from judgments.tasks.base import Parameter, Task
from judgments.tasks.registry import shown_task

FROZEN_WITH_OPENING = ("materials",)
NEEDED_TO_OPEN = ("materials", "consent", "instructions")
EXTRAS = {"practice": "practice", "anchors": "anchor", "catch_trials": "catch"}
QUESTION_HELP = (
    "One per line: Question? | text, number, yes-no, choice: a; b; c or several: a; b; c | required, native, "
    "screen_out: a. Answers exclude nobody until a plan says so; a screen_out answer ends the session kindly."
)
QUIZ_HELP = (
    "One per line, asked after the instructions, two attempts: "
    "Question? | right answer | wrong; wrong | what to say when it is wrong"
)
PAIR_HELP = "One per line: right sentence | other sentence"
SET_HELP = "One per line: best sentence | other | other"
SENTENCE_HELP = "One per line: sentence | {right_answer}"


def lines_field(label: str, rows: int = 5) -> forms.CharField:
    """A text of lines, wide enough for sentences."""
    widget = forms.Textarea(attrs={"rows": rows, "spellcheck": "false"})
    return forms.CharField(label=label, required=False, strip=False, widget=widget)


class SettingsForm(forms.ModelForm):
    """Everything of a study but its task and its design."""

    language = language_field()
    questionnaire = lines_field("Questions about the person")
    quiz = lines_field("Questions about the instructions", 4)
    practice = lines_field("Practice trials", 4)
    catch_trials = lines_field("Catch trials")
    anchors = lines_field("Anchor sentences", 4)

    class Meta:
        model = Experiment
        fields = [
            "title",
            "description",
            "materials",
            "language",
            "consent",
            "instructions",
            "debrief",
            "questionnaire",
            "quiz",
            "quiz_failure",
            "practice",
            "catch_trials",
            "anchors",
            "target_judgments",
            "max_participants",
            "lease_minutes",
            "resume_gap_minutes",
            "resume_limit_days",
            "completion",
            "completion_code",
            "completion_url",
            "screen_out_code",
            "reward_minor",
            "currency",
        ]
        labels = {
            "consent": "Consent text",
            "debrief": "Debrief",
            "target_judgments": "Judgments wanted per item",
            "max_participants": "Most participants",
            "lease_minutes": "Minutes of silence until a list is given back",
            "quiz_failure": "After two failed attempts",
            "resume_gap_minutes": "Minutes away after which the instructions come again",
            "resume_limit_days": "Days away after which a session has expired",
            "completion": "At the end people get",
            "completion_url": "Way back",
            "screen_out_code": "Code for people screened out",
            "reward_minor": "Pay for a complete session, in cents or pence",
        }
        help_texts = {
            "consent": "Shown first. Nothing about the person is stored before they agree.",
            "instructions": "Shown before the first trial. An empty line begins a new paragraph.",
            "debrief": "Shown at the end, with the completion code.",
            "max_participants": "Empty: no limit.",
            "target_judgments": "Nobody new is asked once every item will have as many, people in session "
            "included. 0: never stop.",
            "lease_minutes": "",
            "completion_url": "An https address; {code}, {participant} and {session} are filled in.",
            "reward_minor": "Offered when you approve pay. Nothing is paid by itself.",
            "currency": "Three letters, such as GBP, EUR or USD.",
        }
        widgets = {
            "description": forms.Textarea(attrs={"rows": 2}),
            "consent": forms.Textarea(attrs={"rows": 8}),
            "instructions": forms.Textarea(attrs={"rows": 6}),
            "debrief": forms.Textarea(attrs={"rows": 4}),
        }

    def __init__(self, *args: Any, user, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.task = shown_task(self.instance.task)
        visible = MaterialSet.objects.visible_to(user).values("pk")
        self.fields["materials"].queryset = MaterialSet.objects.filter(
            Q(pk__in=visible) | Q(pk=self.instance.materials_id)
        )
        for name in FROZEN_WITH_OPENING:
            self.fields[name].disabled = self.instance.status not in Experiment.Status.editable()
        self.initial["questionnaire"] = lines_from_questions(self.instance.questionnaire)
        self.initial["quiz"] = lines_from_quiz(self.instance.quiz)
        for name in EXTRAS:
            self.initial[name] = lines_from_trials(getattr(self.instance, name), task=self.task)
        for name in NEEDED_TO_OPEN:
            self.fields[name].remark = "needed to open"
        self._explain()

    def _explain(self) -> None:
        """Say how lines are written for this task."""
        rating = SENTENCE_HELP.format(right_answer=self.task.right_answer)
        line = {"pair": PAIR_HELP, "set": SET_HELP}.get(self.task.shows, rating)
        afterwards = "" if self.task.shows == "set" else " | what to say afterwards (may be left out)"
        self.fields["catch_trials"].help_text = f"{line}. They show who reads; they are never analysed."
        self.fields["practice"].help_text = f"{line}{afterwards}."
        self.fields[
            "anchors"
        ].help_text = "One per line. Shown first, so that people see the whole range before it counts."
        self.fields["questionnaire"].help_text = QUESTION_HELP
        self.fields["quiz"].help_text = QUIZ_HELP

    def clean_questionnaire(self) -> list[dict[str, Any]]:
        """Read the questions."""
        return _read(
            questions_from_lines, self.cleaned_data["questionnaire"], known=self.instance.questionnaire
        )

    def clean_quiz(self) -> list[dict[str, Any]]:
        """Read the questions about the instructions."""
        return _read(quiz_from_lines, self.cleaned_data["quiz"], known=self.instance.quiz)

    def clean_completion_url(self) -> str:
        """Refuse a way back that is no https address."""
        given = self.cleaned_data["completion_url"]
        return _read(checked_address, given) if given.strip() else ""

    def _trials(self, name: str) -> list[dict[str, Any]]:
        known = getattr(self.instance, name)
        return _read(
            trials_from_lines, self.cleaned_data[name], task=self.task, kind=EXTRAS[name], known=known
        )

    def clean_practice(self) -> list[dict[str, Any]]:
        """Read the practice trials."""
        return self._trials("practice")

    def clean_anchors(self) -> list[dict[str, Any]]:
        """Read the anchors."""
        return self._trials("anchors")

    def clean_catch_trials(self) -> list[dict[str, Any]]:
        """Read the catch trials."""
        return self._trials("catch_trials")


def _read(reader: Any, text: str, **options: Any) -> Any:
    """Lines as rows, or a checked text; what cannot be read is said under the field."""
    try:
        return reader(text, **options)
    except BadInput as error:
        raise ValidationError(str(error)[:1].upper() + str(error)[1:]) from None


class ParametersForm(forms.Form):
    """The parameters of one task, each by the kind of its default."""

    def __init__(
        self, task: Task, given: Mapping[str, Any], data: Any = None, *, language: str = "en"
    ) -> None:
        self.usual = usual_words(task, language)
        known = {**{one.name: one.default for one in task.parameters}, **self.usual, **given}
        initial = {one.name: _shown(known[one.name]) for one in task.parameters}
        super().__init__(data, initial=initial, prefix="task")
        self.task = task
        for parameter in task.parameters:
            self.fields[parameter.name] = _field_for(parameter)
            self.fields[parameter.name].label = parameter.name.replace("_", " ").capitalize()
            self.fields[parameter.name].help_text = parameter.meaning
            self.fields[parameter.name].remark = ""

    def clean(self) -> dict[str, Any]:
        """Let the task check what it is given."""
        cleaned = super().clean()
        if not self.errors:
            try:
                self.task.settings(self.parameters())
            except BadInput as error:
                raise ValidationError(str(error)[:1].upper() + str(error)[1:]) from None
        return cleaned

    def parameters(self) -> dict[str, Any]:
        """What to store: lists as lists; words of ours that nobody changed stay unsaid."""
        listed = {one.name for one in self.task.parameters if isinstance(one.default, list | tuple)}
        return {
            name: [line.strip() for line in value.splitlines() if line.strip()] if name in listed else value
            for name, value in self.cleaned_data.items()
            if value != self.usual.get(name, object())
        }


def _shown(value: Any) -> Any:
    return "\n".join(str(one) for one in value) if isinstance(value, list | tuple) else value


def _field_for(parameter: Parameter) -> forms.Field:
    if parameter.choices:
        return forms.ChoiceField(choices=parameter.choices)
    default = parameter.default
    if isinstance(default, bool):
        return forms.BooleanField(required=False)
    if isinstance(default, int):
        return forms.IntegerField()
    if isinstance(default, float):
        return forms.FloatField()
    if isinstance(default, list | tuple):
        return forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 4}))
    return forms.CharField(required=False, max_length=1000)
