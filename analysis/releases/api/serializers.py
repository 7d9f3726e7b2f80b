"""Plans, releases, scoring runs and comparisons as JSON; and the choices of a report."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from analysis.aggregation.ratings import TRANSFORMS
from analysis.agreement.majority import TIES
from analysis.comparison.roster import METHODS
from analysis.releases.comparing import SIGNS
from analysis.releases.leaderboard import DEFAULT_SORT
from analysis.releases.models import Comparison, ExclusionPlan, Release, ScoringRun
from analysis.releases.withdrawn import withdrawn_since
from experiments.rounds import MOST_ROUNDS

BIGGEST = 2**31 - 1
EXCLUDE = "A plan's name or a comma list of steps."
ANYTHING = {"type": "object", "additionalProperties": True}


class PlainText(serializers.CharField):
    """Text that every database can store."""

    def to_internal_value(self, data: Any) -> str:
        """Refuse NUL and lone surrogates."""
        text = super().to_internal_value(data)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise serializers.ValidationError("Broken characters cannot be stored.") from None
        return text


@extend_schema_field(ANYTHING)
class AnyObject(serializers.JSONField):
    """An object as stored."""


class RuleChoices(serializers.Serializer):
    """What is left out, and what is included by which rule."""

    exclude = PlainText(
        required=False, allow_blank=True, default="", help_text="A plan's name or a comma list of steps."
    )
    rule = PlainText(required=False, allow_blank=True, default="", help_text="blimp, climp, M/N or a share.")
    ties = serializers.ChoiceField(choices=TIES, required=False, default="strict")
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=BIGGEST)


class AgreementChoices(RuleChoices):
    """What an agreement report depends on."""

    round = serializers.IntegerField(
        source="round_number",
        required=False,
        default=None,
        min_value=1,
        max_value=MOST_ROUNDS + 1,
        help_text="Judgments of this round only.",
    )


class RatingsChoices(serializers.Serializer):
    """What a report of ratings depends on."""

    exclude = PlainText(
        required=False, allow_blank=True, default="", help_text="A plan's name or a comma list of steps."
    )
    transform = serializers.ChoiceField(choices=list(TRANSFORMS), required=False, default="z")
    ddof = serializers.ChoiceField(choices=[0, 1], required=False, default=1)


class AgreementBlock(serializers.Serializer):
    """Counts and shares of some paradigms together; undefined numbers are null."""

    paradigms = serializers.IntegerField()
    included = serializers.IntegerField(allow_null=True)
    items = serializers.IntegerField()
    items_right = serializers.IntegerField()
    ties = serializers.IntegerField()
    majority_agreement = serializers.FloatField(allow_null=True)
    individual_agreement = serializers.FloatField(allow_null=True)
    individual_agreement_pooled = serializers.FloatField(allow_null=True)
    judgments = serializers.IntegerField()
    ci_low = serializers.FloatField(allow_null=True)
    ci_high = serializers.FloatField(allow_null=True)


class AgreementReport(serializers.Serializer):
    """As ``agreement --json`` prints it."""

    experiment = serializers.CharField()
    rule = serializers.CharField(allow_null=True)
    ties = serializers.CharField()
    round = serializers.IntegerField(allow_null=True, help_text="Null: all rounds.")
    overall = AgreementBlock()
    overall_included = AgreementBlock()
    paradigms = serializers.ListField(child=AnyObject())
    undecided = AnyObject(allow_null=True, help_text="Answers of both and neither, and how they count.")
    excluded = serializers.ListField(child=AnyObject())
    conventions = AnyObject()


class RatingsReport(serializers.Serializer):
    """As ``ratings --json`` prints it."""

    experiment = serializers.CharField()
    transform = serializers.CharField()
    ddof = serializers.IntegerField()
    scope = serializers.CharField()
    items = serializers.ListField(child=AnyObject())
    participants = serializers.ListField(child=AnyObject())


class StepSerializer(serializers.Serializer):
    """One step of a plan."""

    name = PlainText(max_length=60)
    rule = PlainText(max_length=60, help_text="Name of a built-in criterion.")
    scope = serializers.ChoiceField(choices=["participant", "session", "judgment"])
    parameters = AnyObject(required=False, default=dict)
    on_missing = serializers.ChoiceField(choices=["keep", "drop"], required=False, default="keep")

    def validate_parameters(self, given: Any) -> dict[str, Any]:
        """Parameters are an object."""
        if not isinstance(given, dict):
            raise serializers.ValidationError("Parameters are an object of names and values.")
        return given


class PlanSerializer(serializers.ModelSerializer):
    """A version of an exclusion plan."""

    name = serializers.SlugField(max_length=60)
    steps = StepSerializer(many=True, allow_empty=False)
    author = serializers.CharField(source="author.username", read_only=True, default=None, allow_null=True)

    class Meta:
        model = ExclusionPlan
        fields = [
            "name",
            "version",
            "steps",
            "sha256",
            "author",
            "locked_before_first_response",
            "created_at",
        ]
        read_only_fields = ["version", "sha256", "author", "locked_before_first_response", "created_at"]


class ReleaseSerializer(serializers.ModelSerializer):
    """A release and where its making stands."""

    job = serializers.IntegerField(source="job_id", read_only=True, allow_null=True)
    options = AnyObject(read_only=True)
    manifest = AnyObject(read_only=True, help_text="Empty until the release is ready.")
    withdrawn_since = serializers.SerializerMethodField(
        help_text="Sessions and judgments deleted at people's wish since; the files may still hold them."
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
        """Counts of what was taken back."""
        return withdrawn_since(release)


class ReleaseRequest(RuleChoices):
    """What a new release is made of."""

    title = PlainText(required=False, allow_blank=True, default="", max_length=200)


class RunSerializer(serializers.ModelSerializer):
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


class RunRequest(serializers.Serializer):
    """A file of scores or a model, as multipart form data."""

    file = serializers.FileField(help_text="CSV, TSV, JSON lines, Parquet or ARPA; the suffix tells which.")
    name = PlainText(required=False, allow_blank=True, default="", max_length=200)
    column = PlainText(required=False, allow_blank=True, default="", max_length=200)
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


class ScoreSetsRequest(serializers.Serializer):
    """Several models in one table, as multipart form data."""

    file = serializers.FileField(help_text="sentence_id and a column per model.")
    models = serializers.FileField(
        required=False,
        help_text="model (a column's name) and any of name, method, family, training_tokens, seed, corpus.",
    )


class LeaderboardChoices(serializers.Serializer):
    """Order and conventions of a leaderboard."""

    sort = PlainText(
        required=False, default=DEFAULT_SORT, max_length=60, help_text="Such as blimp, adc_0.5, pearson_r."
    )
    order = serializers.ChoiceField(choices=["ascending", "descending"], required=False)
    conventions = PlainText(
        required=False, allow_blank=True, default="", max_length=200, help_text="A key of `offered`."
    )


class LeaderboardReport(serializers.Serializer):
    """As ``leaderboard --json`` prints it."""

    release = serializers.IntegerField()
    sha256 = serializers.CharField()
    sort = serializers.CharField()
    ascending = serializers.BooleanField(allow_null=True)
    sort_keys = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(child=AnyObject())
    conventions = AnyObject()
    scoring = serializers.ListField(child=AnyObject(), help_text="How each model was scored.")
    offered = serializers.ListField(child=AnyObject())
    not_compared = serializers.ListField(child=AnyObject())


class ComparisonSerializer(serializers.ModelSerializer):
    """Models beside people on one release."""

    release = serializers.IntegerField(source="release.number", read_only=True)
    runs = serializers.PrimaryKeyRelatedField(many=True, read_only=True)
    job = serializers.IntegerField(source="job_id", read_only=True, allow_null=True)
    options = AnyObject(read_only=True)
    report = AnyObject(read_only=True, help_text="As `compare --json` prints it; empty before.")

    class Meta:
        model = Comparison
        fields = ["id", "title", "release", "runs", "options", "report", "job", "created_at"]
        read_only_fields = fields


class ComparisonRequest(serializers.Serializer):
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
