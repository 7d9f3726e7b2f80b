"""Plans, releases, scoring runs and comparisons as JSON."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from analysis.choices import SCORE_SIGNS
from analysis.comparison.in_depth.models import METHODS
from analysis.gold.formats.registry import FORMATS
from config.api_bases import StrictModelSerializer, StrictSerializer
from experiments.api.serializers import BIGGEST, PlainText
from experiments.models import Job
from releases.api.fields import AnyObject
from releases.api.report_serializers import RuleChoices
from releases.comparison.compare import SIGNS
from releases.gold.describe import withdrawn_since
from releases.models import Comparison, ExclusionPlan, Release, ScoringRun


class StepSerializer(StrictSerializer):
    """One step of a plan."""

    name = PlainText(max_length=60)
    rule = PlainText(max_length=60, help_text="Name of a built-in criterion.")
    scope = serializers.ChoiceField(choices=["participant", "session", "judgment"])
    parameters = AnyObject(required=False, default=dict)
    on_missing = serializers.ChoiceField(choices=["keep", "drop"], required=False, default="keep")

    def validate_parameters(self, parameters: Any) -> dict[str, Any]:
        """Parameters are an object."""
        if not isinstance(parameters, dict):
            raise serializers.ValidationError("Parameters are an object of names and values.")
        return parameters


class PlanSerializer(StrictModelSerializer[ExclusionPlan]):
    """A version of an exclusion plan."""

    name = serializers.SlugField(max_length=60)
    steps = StepSerializer(many=True, allow_empty=False)
    author = serializers.CharField(source="author.username", read_only=True, default=None, allow_null=True)
    is_current = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Whether results use it unless another plan is chosen; true when writing makes it so.",
    )

    class Meta:
        model = ExclusionPlan
        fields = [
            "name",
            "version",
            "steps",
            "sha256",
            "author",
            "locked_before_first_response",
            "is_current",
            "created_at",
        ]
        read_only_fields = ["version", "sha256", "author", "locked_before_first_response", "created_at"]


class ReleaseSerializer(StrictModelSerializer[Release]):
    """A release and its state."""

    job = serializers.IntegerField(source="job_id", read_only=True, allow_null=True)
    options = AnyObject(read_only=True)
    manifest = AnyObject(read_only=True, help_text="Empty until the release is ready.")
    withdrawn_since = serializers.SerializerMethodField(
        help_text="Sessions and judgments deleted since at participants' request; still in the files."
    )

    class Meta:
        model = Release
        fields = [
            "number",
            "title",
            "state",
            "options",
            "sha256",
            "manifest",
            "job",
            "withdrawn_since",
            "created_at",
        ]
        read_only_fields = fields

    @extend_schema_field(
        {
            "type": "object",
            "properties": {"sessions": {"type": "integer"}, "judgments": {"type": "integer"}},
            "required": ["sessions", "judgments"],
        }
    )
    def get_withdrawn_since(self, release: Release) -> dict[str, int]:
        """Counts of deleted sessions and judgments."""
        return withdrawn_since(release)


class ReleaseRequest(RuleChoices):
    """Options of a new release."""

    title = PlainText(required=False, allow_blank=True, default="", max_length=200)
    formats = serializers.ListField(
        child=serializers.ChoiceField(choices=list(FORMATS)),
        required=False,
        default=list,
        max_length=len(FORMATS),
        help_text="Formats of other tools in which the release is written, too.",
    )


class RunSerializer(StrictModelSerializer[ScoringRun]):
    """One model over the study's sentences."""

    job = serializers.IntegerField(source="job_id", read_only=True, allow_null=True)
    spec = AnyObject(read_only=True)

    class Meta:
        model = ScoringRun
        fields = [
            "id",
            "name",
            "model",
            "revision",
            "method",
            "spec",
            "state",
            "n_sentences",
            "n_missing",
            "error",
            "job",
            "created_at",
        ]
        read_only_fields = fields


SIGN = (
    "Which scores of a table mean a better sentence; needed for surprisal, perplexity, loss and columns with "
    "positive values only."
)


class RunRequest(StrictSerializer):
    """A file of scores or a model, as multipart form data."""

    file = serializers.FileField(help_text="CSV, TSV, JSON lines, Parquet or ARPA, by suffix.")
    name = PlainText(required=False, allow_blank=True, default="", max_length=200)
    column = PlainText(required=False, allow_blank=True, default="", max_length=200)
    sign = serializers.ChoiceField(choices=list(SCORE_SIGNS), required=False, help_text=SIGN)
    method = serializers.ChoiceField(
        choices=list(METHODS),
        required=False,
        default="lp",
        help_text="Prefix methods and classifiers: a table's scores are taken as they are.",
    )
    family = PlainText(required=False, allow_blank=True, default="", max_length=200)
    training_tokens = serializers.IntegerField(required=False, min_value=1, max_value=10**15)
    seed = PlainText(required=False, allow_blank=True, default="", max_length=40)
    corpus = PlainText(
        required=False, allow_blank=True, default="", max_length=200, help_text="What was filtered out."
    )


class ScoreSetsRequest(StrictSerializer):
    """Several models in one table, as multipart form data."""

    file = serializers.FileField(help_text="sentence_id and a column per model.")
    models = serializers.FileField(
        required=False,
        help_text="model (a column's name) and any of name, method, family, training_tokens, seed, corpus.",
    )
    sign = serializers.ChoiceField(choices=list(SCORE_SIGNS), required=False, help_text=SIGN)


class ComparisonSerializer(StrictModelSerializer[Comparison]):
    """Models compared with participants on one release."""

    release = serializers.IntegerField(source="release.number", read_only=True)
    runs: Any = serializers.PrimaryKeyRelatedField(many=True, read_only=True)
    job = serializers.IntegerField(source="job_id", read_only=True, allow_null=True)
    state = serializers.SerializerMethodField(help_text="Of its job; done when it has its report.")
    options = AnyObject(read_only=True)
    report = AnyObject(read_only=True, help_text="As `compare --json` prints it; empty before.")

    class Meta:
        model = Comparison
        fields = ["id", "title", "release", "runs", "state", "options", "report", "job", "created_at"]
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(Job.State.choices))
    def get_state(self, comparison: Comparison) -> str:
        """The state of the job."""
        if comparison.report or comparison.job is None:
            return Job.State.DONE if comparison.report else Job.State.FAILED
        return comparison.job.state


class ComparisonRequest(StrictSerializer):
    """Which models on which release, and how."""

    release = serializers.IntegerField(min_value=1, max_value=BIGGEST, help_text="Number of the release.")
    runs = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=BIGGEST), min_length=1, max_length=100
    )
    title = PlainText(required=False, allow_blank=True, default="", max_length=200)
    deltas = serializers.ListField(
        child=serializers.FloatField(min_value=0.001, max_value=999),
        required=False,
        min_length=1,
        max_length=50,
    )
    signs = serializers.ChoiceField(choices=SIGNS, required=False, default="strict")
    already_standardized = serializers.BooleanField(required=False, default=False)
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=BIGGEST)
