"""Studies, materials and jobs as JSON."""

import json
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from experiments.completion import checked_address
from experiments.extras import checked_trials
from experiments.models import Experiment, Job, MaterialSet, MinimalPair, Sentence
from experiments.questions import checked_questions
from experiments.quiz import checked_quiz
from judgments.tasks.registry import shown_task, task_names

EXTRAS = {"practice": "practice", "anchors": "anchor", "catch_trials": "catch"}


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


def storable(value: Any) -> Any:
    """The value, unless it holds NUL, a lone surrogate, NaN or an infinity."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        raise serializers.ValidationError("NaN, infinities and broken characters cannot be stored.") from None
    if "\\u0000" in json.dumps(value):
        raise serializers.ValidationError("NUL characters cannot be stored.")
    return value


class StudySerializer(serializers.ModelSerializer):
    """A study as it is planned now."""

    task = serializers.CharField(max_length=40, help_text="Name of a task, such as forced_choice.")
    materials = serializers.SlugRelatedField(
        slug_field="slug", queryset=MaterialSet.objects.all(), allow_null=True, required=False
    )
    parameters = ObjectField(required=False, help_text="Parameters of the task.")
    questionnaire = RowsField(required=False, help_text="Questions asked before the trials.")
    quiz = RowsField(required=False, help_text="Questions about the instructions.")
    practice = RowsField(required=False, help_text="Practice trials.")
    anchors = RowsField(required=False, help_text="Sentences that span the scale, shown first.")
    catch_trials = RowsField(required=False, help_text="Trials with one right answer.")
    version = serializers.SerializerMethodField(help_text="Newest frozen version, null in draft.")

    class Meta:
        model = Experiment
        fields = [
            "slug",
            "title",
            "description",
            "status",
            "origin",
            "version",
            "task",
            "parameters",
            "materials",
            "language",
            "consent",
            "instructions",
            "questionnaire",
            "quiz",
            "quiz_failure",
            "practice",
            "anchors",
            "catch_trials",
            "debrief",
            "target_judgments",
            "max_participants",
            "lease_minutes",
            "completion",
            "completion_url",
            "created_at",
            "opened_at",
            "closed_at",
        ]
        read_only_fields = ["slug", "status", "origin", "created_at", "opened_at", "closed_at"]
        extra_kwargs = {
            "target_judgments": {"min_value": 0, "max_value": 1_000_000},
            "max_participants": {"min_value": 1, "max_value": 10_000_000},
        }

    def get_version(self, study: Experiment) -> int | None:
        """Number of the newest version."""
        version = study.current_version()
        return version.number if version else None

    def validate_task(self, name: str) -> str:
        """Only installed tasks can be collected; imported studies may have others."""
        if name not in task_names() and not (self.instance and self.instance.task == name):
            raise serializers.ValidationError(
                f"There is no task {name!r}; there are {', '.join(task_names())}."
            )
        return name

    def validate_materials(self, materials: MaterialSet | None) -> MaterialSet | None:
        """Materials of strangers look as if they did not exist."""
        user = self.context["request"].user
        if materials and not MaterialSet.objects.visible_to(user).filter(pk=materials.pk).exists():
            raise serializers.ValidationError("There is no material set of that name for you.")
        return materials

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        """Parameters have to fit the task; rows have to fit their form."""
        task = shown_task(given.get("task") or self.instance.task)
        if given.get("parameters"):
            task.settings(given["parameters"])
        if "questionnaire" in given:
            given["questionnaire"] = checked_questions(given["questionnaire"])
        if "quiz" in given:
            given["quiz"] = checked_quiz(given["quiz"])
        if given.get("completion_url"):
            given["completion_url"] = checked_address(given["completion_url"])
        for name, kind in EXTRAS.items():
            if name in given:
                given[name] = checked_trials(given[name], task=task, kind=kind)
        return given


class MaterialSerializer(serializers.ModelSerializer):
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


class SentenceSerializer(serializers.ModelSerializer):
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


class PairSerializer(serializers.ModelSerializer):
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


class JobSerializer(serializers.ModelSerializer):
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
