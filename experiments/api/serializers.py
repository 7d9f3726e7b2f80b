"""Studies, materials and jobs as JSON."""

import json
from collections.abc import Set
from typing import Any, TypeVar, cast

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from config.api_bases import StrictModelSerializer
from experiments.api.authentication import PAY_FIELDS
from experiments.lists.extra_trials import EXTRAS, checked_answers, checked_trials
from experiments.models import Experiment, Job, MaterialSet, MinimalPair, Sentence
from experiments.models.lab import check_pay
from experiments.studies.completion_url import checked_address
from experiments.studies.questionnaire import checked_questions, checked_statements, optional_questions
from experiments.studies.quiz import checked_quiz
from experiments.studies.study_list import folder_name
from experiments.studies.wording import checked_texts
from experiments.tasks.registry import shown_task, task_names

Stored = TypeVar("Stored")
BIGGEST = 2**31 - 1  # an integer of PostgreSQL


def check_fields(sent: Set[str], needed: Set[str]) -> None:
    """Raise ValidationError for what a decision needs and was not sent, and what it would not use."""
    errors = {name: ["This is needed."] for name in needed - sent}
    errors |= {name: ["This decision does not use it."] for name in sent - needed}
    if errors:
        raise serializers.ValidationError(errors)


@extend_schema_field({"type": "array", "items": {"type": "object", "additionalProperties": True}})
class RowsField(serializers.ListField):
    """A list of objects that every database can store."""

    child = serializers.DictField()

    def to_internal_value(self, data: Any) -> list[dict[str, Any]]:
        """Refuse what no database keeps."""
        return storable(super().to_internal_value(data))


@extend_schema_field({"type": "object", "additionalProperties": True})
class ObjectField(serializers.DictField):
    """An object that every database can store."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Refuse what no database keeps."""
        return storable(super().to_internal_value(data))


class PlainText(serializers.CharField):
    """Text that every database can store."""

    def to_internal_value(self, data: Any) -> str:
        """Refuse what no database keeps."""
        return storable(super().to_internal_value(data))


def storable(value: Stored) -> Stored:
    """The value, unless it holds NUL, a lone surrogate, NaN or an infinity."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        raise serializers.ValidationError("NaN, infinities and broken characters cannot be stored.") from None
    if "\\u0000" in json.dumps(value):
        raise serializers.ValidationError("NUL characters cannot be stored.")
    return value


class StudySerializer(StrictModelSerializer[Experiment]):
    """A study as it is planned now."""

    task = serializers.CharField(max_length=40, help_text="Name of a task, such as forced_choice.")
    materials = serializers.SlugRelatedField(
        slug_field="slug", queryset=MaterialSet.objects.all(), allow_null=True, required=False
    )
    lab: Any = serializers.SlugRelatedField(
        slug_field="slug", read_only=True, allow_null=True, help_text="Short name of its lab."
    )
    parameters = ObjectField(required=False, help_text="Parameters of the task.")
    questionnaire = RowsField(required=False, help_text="Questions asked before the trials.")
    closing_questions = RowsField(required=False, help_text="Optional questions beside the completion code.")
    consent_statements = RowsField(
        required=False, help_text="Statements to tick beside the consent text: text, required."
    )
    quiz = RowsField(required=False, help_text="Questions about the instructions.")
    practice = RowsField(required=False, help_text="Practice trials.")
    anchors = RowsField(required=False, help_text="Sentences that span the scale, shown first.")
    catch_trials = RowsField(required=False, help_text="Trials with one right answer.")
    participant_texts = ObjectField(
        required=False, help_text="Own texts for participants, by the English text that each replaces."
    )
    version = serializers.SerializerMethodField(help_text="Newest frozen version, null in draft.")

    class Meta:
        model = Experiment
        fields = [
            "slug",
            "title",
            "public_title",
            "public_slug",
            "description",
            "lab",
            "folder",
            "status",
            "origin",
            "version",
            "task",
            "parameters",
            "materials",
            "context_display",
            "context_ms",
            "context_label",
            "deadline_ms",
            "deadline_bar",
            "language",
            "consent",
            "consent_statements",
            "contact",
            "instructions",
            "questionnaire",
            "quiz",
            "quiz_failure",
            "practice",
            "practice_expected",
            "practice_other",
            "anchors",
            "catch_trials",
            "debrief",
            "closing_questions",
            "closing_comment",
            "participant_texts",
            "target_judgments",
            "target_unit",
            "max_participants",
            "lease_minutes",
            "resume_gap_minutes",
            "resume_limit_days",
            "lab_mode",
            "completion",
            "completion_code",
            "completion_url",
            "screen_out_code",
            "partial_code",
            "reward_minor",
            "currency",
            "created_at",
            "opened_at",
            "closed_at",
            "archived_at",
        ]
        read_only_fields = [
            "slug",
            "public_slug",
            "status",
            "origin",
            "target_unit",
            "created_at",
            "opened_at",
            "closed_at",
            "archived_at",
        ]
        extra_kwargs = {
            "public_title": {"allow_blank": False},
            "target_judgments": {"min_value": 0, "max_value": 1_000_000},
            "max_participants": {"min_value": 1, "max_value": 10_000_000},
        }

    def get_version(self, study: Experiment) -> int | None:
        """Number of the newest version."""
        if hasattr(study, "newest_version"):  # of a list, in one query
            return cast("int | None", study.newest_version)
        version = study.current_version()
        return version.number if version else None

    def validate_folder(self, name: str) -> str:
        """The name without spaces around it."""
        return folder_name(name)

    def validate_task(self, name: str) -> str:
        """Only installed tasks can be collected; imported studies may have others."""
        if name not in task_names() and not (self.instance and self.instance.task == name):
            raise serializers.ValidationError(
                f"There is no task {name!r}; there are {', '.join(task_names())}."
            )
        return name

    def validate_context_display(self, display: str) -> str:
        """Only of imported judgments it may be unknown whether contexts were seen."""
        is_imported = self.instance is not None and self.instance.origin == Experiment.Origin.IMPORTED
        if display == Experiment.ContextDisplay.UNKNOWN and not is_imported:
            raise serializers.ValidationError("Participants here either see contexts or do not.")
        return display

    def validate_materials(self, materials: MaterialSet | None) -> MaterialSet | None:
        """Materials of strangers look as if they did not exist."""
        user = self.context["request"].user
        if materials and not MaterialSet.objects.visible_to(user).filter(pk=materials.pk).exists():
            raise serializers.ValidationError("There is no material set of that name for you.")
        return materials

    def validate(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """Parameters have to fit the task; rows have to fit their form."""
        stored = self.instance
        task = shown_task(attributes["task"] if stored is None else attributes.get("task", stored.task))
        if attributes.get("parameters"):
            task.settings(attributes["parameters"])
        if "questionnaire" in attributes:
            attributes["questionnaire"] = checked_questions(attributes["questionnaire"])
        if "closing_questions" in attributes:
            attributes["closing_questions"] = optional_questions(
                checked_questions(attributes["closing_questions"])
            )
        if "consent_statements" in attributes:
            attributes["consent_statements"] = checked_statements(attributes["consent_statements"])
        if "quiz" in attributes:
            attributes["quiz"] = checked_quiz(attributes["quiz"])
        if attributes.get("completion_url"):
            attributes["completion_url"] = checked_address(attributes["completion_url"])
        if "participant_texts" in attributes:
            texts = attributes["participant_texts"]
            attributes["participant_texts"] = checked_texts(texts, task=task.name)
        if {"reward_minor", "currency", "lab"} & attributes.keys():
            before = stored or Experiment()
            pay = {name: attributes.get(name, getattr(before, name)) for name in PAY_FIELDS}
            if pay["reward_minor"]:
                check_pay(attributes.get("lab", before.lab), pay["reward_minor"], pay["currency"])
        for name, kind in EXTRAS.items():
            if name in attributes:
                attributes[name] = checked_trials(attributes[name], task=task, kind=kind)
            if attributes.keys() & {name, "parameters", "task"}:
                parameters = attributes.get("parameters", stored.parameters if stored else {})
                rows = attributes.get(name, getattr(stored, name, []))
                checked_answers(rows, task=task, settings=parameters, kind=kind)
        return attributes


class MaterialSerializer(StrictModelSerializer[MaterialSet]):
    """A material set, without its sentences."""

    n_sentences = serializers.IntegerField(read_only=True)
    n_pairs = serializers.IntegerField(read_only=True)

    class Meta:
        model = MaterialSet
        fields = [
            "slug",
            "name",
            "language",
            "source",
            "licence",
            "file_format",
            "checksum",
            "n_sentences",
            "n_pairs",
            "created_at",
        ]
        read_only_fields = fields


class SentenceSerializer(StrictModelSerializer[Sentence]):
    """A sentence with the columns of a sentence file."""

    sentence_id = serializers.CharField(source="key", read_only=True)
    sentence = serializers.CharField(source="text", read_only=True)
    item = serializers.CharField(source="item.key", read_only=True)
    paradigm = serializers.CharField(source="item.paradigm.name", read_only=True, default="")
    phenomenon = serializers.CharField(source="item.paradigm.phenomenon.name", read_only=True, default="")

    class Meta:
        model = Sentence
        fields = ["sentence_id", "sentence", "item", "condition", "paradigm", "phenomenon", "expected"]
        read_only_fields = fields


class PairSerializer(StrictModelSerializer[MinimalPair]):
    """A minimal pair with the columns of a pair file, and both sentences."""

    pair_id = serializers.CharField(source="key", read_only=True)
    good_id = serializers.CharField(source="good.key", read_only=True)
    bad_id = serializers.CharField(source="bad.key", read_only=True)
    sentence_good = serializers.CharField(source="good.text", read_only=True)
    sentence_bad = serializers.CharField(source="bad.text", read_only=True)
    paradigm = serializers.CharField(source="paradigm.name", read_only=True, default="")
    phenomenon = serializers.CharField(source="paradigm.phenomenon.name", read_only=True, default="")

    class Meta:
        model = MinimalPair
        fields = [
            "pair_id",
            "good_id",
            "bad_id",
            "paradigm",
            "phenomenon",
            "sentence_good",
            "sentence_bad",
            "discard",
        ]
        read_only_fields = fields


class JobSerializer(StrictModelSerializer[Job]):
    """Long work: state, progress and what came of it."""

    study = serializers.CharField(source="experiment.slug", read_only=True, default=None, allow_null=True)
    percent = serializers.IntegerField(read_only=True, allow_null=True)
    result = ObjectField(read_only=True)

    class Meta:
        model = Job
        fields = [
            "id",
            "kind",
            "study",
            "state",
            "progress",
            "total",
            "percent",
            "message",
            "result",
            "error",
            "created_at",
            "started_at",
            "finished_at",
        ]
        read_only_fields = fields
