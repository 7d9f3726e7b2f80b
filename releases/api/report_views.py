"""API views of the results pages' reports, with the same documents as pages and commands."""

from math import isfinite
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.aggregation.ordinal import ORDINAL_SLOPES
from analysis.choices import (
    BY,
    CODINGS,
    MAX_MORE,
    MORE,
    MULTIVERSE_EFFECTS,
    MULTIVERSE_MODELS,
    POWER_ANALYSES,
    POWER_MODELS,
    POWER_SIZES,
    POWER_TESTS,
    PROGRESS_RULE,
    SLOPES,
    STOPPING_PARTICIPANTS,
    STOPPING_THRESHOLD,
    TRANSFORMS,
)
from analysis.power.pilot import CRITERIA
from analysis.power.report import Price, prospective_report
from analysis.power.simulation import Noise
from config.api_bases import StrictSerializer, StrictView
from config.api_schema import ErrorSerializer
from experiments.api.serializers import BIGGEST, PlainText
from experiments.lists.rounds import MOST_ROUNDS
from experiments.models import Job
from experiments.pages.access import get_study
from releases.api.report_serializers import (
    ExcludeChoices,
    correction_field,
    outliers_field,
    sesoi_field,
    zeros_field,
)
from releases.api.views import query_choices, report_responses
from releases.reports.forms import RULE_HELP
from releases.reports.progress import viewed_progress
from releases.reports.report_cache import cached_report, items_report, report_or_job

MAX_SIZES, MAX_CELLS = 15, 40_000  # so that a request takes about a second
LATER = "202 with the job's state while a worker computes it; ask again."


class ReliabilityChoices(ExcludeChoices):
    """Parameters of reliability."""

    transform = serializers.ChoiceField(choices=list(TRANSFORMS), required=False, default="z")
    zeros = zeros_field()
    coding = serializers.ChoiceField(choices=list(CODINGS), required=False, default="label_blind")
    rule = PlainText(required=False, allow_blank=True, default="", max_length=20, help_text=RULE_HELP)


class EffectsChoices(ExcludeChoices):
    """Parameters of the five analyses."""

    by = serializers.ChoiceField(choices=list(BY), required=False, default="phenomenon")
    transform = serializers.ChoiceField(choices=list(TRANSFORMS), required=False, default="z")
    zeros = zeros_field()
    slopes = serializers.ChoiceField(choices=list(SLOPES), required=False, default="auto")
    population = serializers.IntegerField(required=False, default=None, min_value=2, max_value=BIGGEST)
    factorial = PlainText(required=False, allow_blank=True, default="", max_length=300)
    conditions = PlainText(required=False, allow_blank=True, default="", max_length=300)
    correction = correction_field()
    sesoi = sesoi_field()


class TimesChoices(ExcludeChoices):
    """Parameters of the report on response times."""

    by = serializers.ChoiceField(choices=list(BY), required=False, default="phenomenon")
    outliers = outliers_field()


@extend_schema_field(OpenApiTypes.STR)
class Cuts(serializers.Field[list[float], str, str, Any]):
    """Numbers, separated by commas."""

    def to_internal_value(self, data: Any) -> list[float]:
        """At most five finite numbers."""
        try:
            numbers = [float(part) for part in str(data).replace(" ", "").split(",") if part]
        except ValueError:
            raise serializers.ValidationError("Write numbers, for example 30,50.") from None
        if len(numbers) > 5 or not all(map(isfinite, numbers)):
            raise serializers.ValidationError("At most five finite numbers.")
        return numbers

    def to_representation(self, value: Any) -> str:
        """As written."""
        return ",".join(map(str, value))


class GroupsChoices(ExcludeChoices):
    """Parameters of the report on groups of participants."""

    group = PlainText(
        required=False,
        allow_blank=True,
        default="",
        max_length=200,
        help_text="A question of the background; by default the first that gives two groups of five.",
    )
    reference = PlainText(required=False, allow_blank=True, default="", max_length=200)
    cuts = Cuts(required=False, default=list, help_text="Last number of each range, such as 30,50.")
    by = serializers.ChoiceField(choices=list(BY), required=False, default="phenomenon")
    transform = serializers.ChoiceField(choices=list(TRANSFORMS), required=False, default="z")
    zeros = zeros_field()
    correction = correction_field()


class SequentialChoices(ExcludeChoices):
    """Parameters of sequential Bayes factors."""

    threshold = serializers.FloatField(
        required=False, default=STOPPING_THRESHOLD, min_value=1.01, max_value=1e6
    )
    least = serializers.IntegerField(
        required=False, default=STOPPING_PARTICIPANTS, min_value=2, max_value=1_000_000
    )
    largest = serializers.IntegerField(
        required=False, default=None, allow_null=True, min_value=2, max_value=1_000_000
    )
    by = serializers.ChoiceField(choices=list(BY), required=False, default="phenomenon")
    transform = serializers.ChoiceField(choices=list(TRANSFORMS), required=False, default="z")
    zeros = zeros_field()


class MultiverseChoices(ExcludeChoices):
    """Parameters of the multiverse."""

    by = serializers.ChoiceField(choices=list(BY), required=False, default="phenomenon")
    contrast = PlainText(required=False, allow_blank=True, default="", max_length=200)
    effect = serializers.ChoiceField(choices=list(MULTIVERSE_EFFECTS), required=False, default="contrast")
    transform = serializers.ChoiceField(choices=list(TRANSFORMS), required=False, default="z")
    model = serializers.ChoiceField(choices=list(MULTIVERSE_MODELS), required=False, default="mixed-slopes")


class ProgressChoices(ExcludeChoices):
    """Parameters of the report on a running study."""

    rule = PlainText(
        required=False, default=PROGRESS_RULE, max_length=20, help_text="blimp, climp, M/N or a share."
    )
    more = serializers.IntegerField(
        required=False,
        default=MORE,
        min_value=1,
        max_value=MAX_MORE,
        help_text="Further judgments per item that the prediction assumes.",
    )
    round = serializers.IntegerField(
        source="round_number",
        required=False,
        default=None,
        min_value=1,
        max_value=MOST_ROUNDS + 1,
        help_text="Judgments of this round only.",
    )


class OrdinalChoices(ExcludeChoices):
    """Parameters of the ordinal models."""

    by = serializers.ChoiceField(choices=list(BY), required=False, default="phenomenon")
    slopes = serializers.ChoiceField(choices=list(ORDINAL_SLOPES), required=False, default="auto")
    bayesian = serializers.BooleanField(
        required=False, default=False, help_text="With the posterior of every contrast, which takes minutes."
    )


@extend_schema_field(OpenApiTypes.STR)
class Sizes(serializers.Field[list[int], str, str, Any]):
    """Whole numbers, separated by commas."""

    def __init__(self, *, least: int, most: int, **kwargs: Any) -> None:
        self.least, self.most = least, most
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> list[int]:
        """At most fifteen, in range."""
        try:
            numbers = sorted({int(part) for part in str(data).replace(" ", "").split(",") if part})
        except ValueError:
            raise serializers.ValidationError("Write whole numbers, for example 10,20,40.") from None
        if not 0 < len(numbers) <= MAX_SIZES or not self.least <= min(numbers) <= max(numbers) <= self.most:
            raise serializers.ValidationError(f"1 to 15 numbers, each from {self.least} to {self.most}.")
        return numbers

    def to_representation(self, value: Any) -> str:
        """As written."""
        return ",".join(map(str, value))


class PriceChoices(StrictSerializer):
    """Cost of one participant."""

    reward_minor = serializers.IntegerField(required=False, default=0, min_value=0, max_value=1_000_000)
    fee = serializers.FloatField(
        required=False, default=0.0, min_value=0, max_value=2, help_text="As a share of the reward."
    )


class PilotChoices(ExcludeChoices, PriceChoices):
    """Parameters of the power of other sample sizes."""

    by = serializers.ChoiceField(choices=list(BY), required=False, default="phenomenon")
    criterion = serializers.ChoiceField(choices=list(CRITERIA), required=False, default="t")
    analysis = serializers.ChoiceField(choices=POWER_ANALYSES, required=False, default="mixed")
    participants = Sizes(least=2, most=2_000, required=False, default=list(POWER_SIZES))


class PlanChoices(PriceChoices):
    """A planned study."""

    task = serializers.ChoiceField(choices=list(POWER_MODELS))
    effect = serializers.FloatField(min_value=0, max_value=10)
    participants = Sizes(least=2, most=2_000, required=False, default=list(POWER_SIZES))
    items = Sizes(least=1, most=200, required=False, default=[8])
    lists = serializers.IntegerField(
        required=False, min_value=1, max_value=200, help_text="By default as many as conditions."
    )
    analysis = serializers.ChoiceField(choices=POWER_ANALYSES, required=False, default="mixed")
    item_effect = serializers.FloatField(
        required=False, min_value=0, max_value=5, help_text="SD of the effect; by default as published."
    )
    participant_effect = serializers.FloatField(
        required=False, min_value=0, max_value=5, help_text="SD of the effect; by default as published."
    )
    rule = serializers.CharField(
        required=False, default="blimp", max_length=20, help_text="Of the test inclusion."
    )
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=BIGGEST)
    test = serializers.ChoiceField(choices=POWER_TESTS, required=False, default="t")
    conditions = serializers.IntegerField(required=False, default=3, min_value=2, max_value=100)
    correlation = serializers.FloatField(required=False, default=0.5, min_value=-0.99, max_value=0.99)
    epsilon = serializers.FloatField(required=False, default=1.0, min_value=0.01, max_value=1)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Limit the time of a request."""
        if max(attrs["participants"]) * max(attrs["items"]) > MAX_CELLS:
            message = f"participants times items may not exceed {MAX_CELLS:,} here: use the command."
            raise serializers.ValidationError(message)
        return attrs


class Document(StrictSerializer):
    """As the command prints it."""

    experiment = serializers.CharField()

    def to_representation(self, instance: Any) -> Any:
        """Unchanged."""
        return instance


class Waiting(StrictSerializer):
    """The job that computes a report."""

    job = serializers.IntegerField()
    state = serializers.CharField()
    error = serializers.CharField(allow_blank=True)


class PowerDocument(StrictSerializer):
    """As the command prints it."""

    task = serializers.CharField()
    designs = serializers.ListField(child=serializers.DictField())


def report_response(view: StrictView, slug: str, name: str) -> Response:
    """The report, or 202 with its job."""
    user = view.request.user
    study = get_study(user, slug)
    result = report_or_job(study, name, query_choices(view, study), user=user)
    if isinstance(result, Job):
        progress = {"job": result.pk, "state": result.state, "error": result.error}
        return Response(progress, status=status.HTTP_202_ACCEPTED)
    return Response(result)


class ExclusionsView(StrictView):
    """Exclusions of a plan, and their effect on the results."""

    query_class = ExcludeChoices

    @extend_schema(summary="Exclusions", responses=report_responses(Document))
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        study = get_study(request.user, slug)
        return Response(cached_report(study, "exclusions", **query_choices(self, study)))


class ItemsView(StrictView):
    """Every item, and the models of annotators and of strength."""

    query_class = ExcludeChoices

    @extend_schema(summary="Items", responses=report_responses(Document))
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        study = get_study(request.user, slug)
        return Response(items_report(study, **query_choices(self, study)))


class ProgressView(StrictView):
    """Agreement and inclusion while the study runs, with intervals that hold at every look."""

    query_class = ProgressChoices

    @extend_schema(
        summary="Agreement so far",
        description="At most some seconds old. A request is recorded as a look and counted in `looks`.",
        responses=report_responses(Document),
    )
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the page shows it."""
        study = get_study(request.user, slug)
        choices = query_choices(self, study)
        return Response(viewed_progress(study, user=request.user, where="progress", **choices))


class ReliabilityView(StrictView):
    """Agreement between participants, and ceilings."""

    query_class = ReliabilityChoices

    @extend_schema(
        summary="Reliability",
        description=LATER,
        responses={**report_responses(Document), 202: Waiting},
    )
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        return report_response(self, slug, "reliability")


class EffectsView(StrictView):
    """The five analyses of every contrast."""

    query_class = EffectsChoices

    @extend_schema(
        summary="Effects",
        description=LATER,
        responses={**report_responses(Document), 202: Waiting},
    )
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        return report_response(self, slug, "effects")


class TimesView(StrictView):
    """Response times by condition."""

    query_class = TimesChoices

    @extend_schema(
        summary="Response times",
        description=LATER,
        responses={**report_responses(Document), 202: Waiting},
    )
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        return report_response(self, slug, "times")


class GroupsView(StrictView):
    """Effects and items by group of participants."""

    query_class = GroupsChoices

    @extend_schema(
        summary="Groups of participants",
        description=LATER,
        responses={**report_responses(Document), 202: Waiting},
    )
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        return report_response(self, slug, "groups")


class SequentialView(StrictView):
    """The Bayes factor of every contrast after each participant."""

    query_class = SequentialChoices

    @extend_schema(
        summary="Sequential Bayes factors",
        description=LATER,
        responses={**report_responses(Document), 202: Waiting},
    )
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        return report_response(self, slug, "sequential")


class MultiverseView(StrictView):
    """One effect under every specification."""

    query_class = MultiverseChoices

    @extend_schema(
        summary="Multiverse",
        description=LATER,
        responses={**report_responses(Document), 202: Waiting},
    )
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        return report_response(self, slug, "multiverse")


class OrdinalView(StrictView):
    """Likert ratings as ordered categories."""

    query_class = OrdinalChoices

    @extend_schema(
        summary="Ordinal models",
        description=LATER,
        responses={**report_responses(Document), 202: Waiting},
    )
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        return report_response(self, slug, "ordinal")


class PilotView(StrictView):
    """Power of other numbers of participants, the study as a pilot."""

    query_class = PilotChoices

    @extend_schema(
        summary="Power from this study as a pilot",
        description=LATER,
        responses={**report_responses(Document), 202: Waiting},
    )
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        return report_response(self, slug, "pilot")


class PowerView(StrictView):
    """Power of a planned study."""

    query_class = PlanChoices

    @extend_schema(
        summary="Power of a planned study",
        responses={200: PowerDocument, 400: ErrorSerializer, 422: ErrorSerializer},
    )
    def get(self, request: Request) -> Response:
        """The report, as the command prints it."""
        data = dict(query_choices(self))
        price = Price(data.pop("reward_minor"), data.pop("fee"))
        noise = Noise(
            item_effect=data.pop("item_effect", None), participant_effect=data.pop("participant_effect", None)
        )
        task, effect = data.pop("task"), data.pop("effect")
        return Response(prospective_report(task, effect, noise=noise, price=price, **data))
