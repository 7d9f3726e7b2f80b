"""The documents of the results pages over REST: the same numbers as page and command."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from analysis.aggregation.transforms import TRANSFORMS
from analysis.agreement.answers import CODINGS
from analysis.agreement.outlook import MORE
from analysis.effects.power_report import MODELS, SIZES, Price, prospective_report
from analysis.effects.report import BY, SLOPES
from analysis.effects.resampling import CRITERIA
from analysis.releases import reading
from analysis.releases.api.fields import BIGGEST, PlainText
from analysis.releases.api.report_serializers import ExcludeChoices
from analysis.releases.api.views import chosen, refusing
from analysis.releases.forms import MOST_MORE
from analysis.releases.heavy import report_or_job
from analysis.releases.progress import RULE, seen_progress
from config.api_schema import ErrorSerializer
from experiments.models import Job
from experiments.pages.access import get_study
from experiments.rounds import MOST_ROUNDS

MOST_SIZES, MOST_CELLS = 15, 40_000
LATER = "202 with the job's state while a worker computes it; ask again."


class ReliabilityChoices(ExcludeChoices):
    """What reliability depends on."""

    transform = serializers.ChoiceField(choices=list(TRANSFORMS), required=False, default="z")
    coding = serializers.ChoiceField(choices=list(CODINGS), required=False, default="label_blind")


class EffectsChoices(ExcludeChoices):
    """What the five analyses depend on."""

    by = serializers.ChoiceField(choices=list(BY), required=False, default="phenomenon")
    transform = serializers.ChoiceField(choices=list(TRANSFORMS), required=False, default="z")
    slopes = serializers.ChoiceField(choices=[s for s in SLOPES if s], required=False, default="")
    population = serializers.IntegerField(required=False, default=None, min_value=2, max_value=BIGGEST)
    factorial = PlainText(required=False, allow_blank=True, default="", max_length=300)


class ProgressChoices(ExcludeChoices):
    """What the report on a running study depends on."""

    rule = PlainText(required=False, default=RULE, max_length=20, help_text="blimp, climp, M/N or a share.")
    more = serializers.IntegerField(
        required=False,
        default=MORE,
        min_value=1,
        max_value=MOST_MORE,
        help_text="Further judgments of every item that the outlook supposes.",
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
    """What the ordinal models depend on."""

    by = serializers.ChoiceField(choices=list(BY), required=False, default="phenomenon")


@extend_schema_field(OpenApiTypes.STR)
class Sizes(serializers.Field):
    """Whole numbers apart by commas."""

    def __init__(self, *, least: int, most: int, **kwargs: Any) -> None:
        self.least, self.most = least, most
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> list[int]:
        """At most fifteen, in range."""
        try:
            numbers = sorted({int(word) for word in str(data).replace(" ", "").split(",") if word})
        except ValueError:
            raise serializers.ValidationError("Write whole numbers, for example 10,20,40.") from None
        if not 0 < len(numbers) <= MOST_SIZES or not self.least <= min(numbers) <= max(numbers) <= self.most:
            raise serializers.ValidationError(f"1 to 15 numbers, each from {self.least} to {self.most}.")
        return numbers

    def to_representation(self, value: Any) -> str:
        """As written."""
        return ",".join(map(str, value))


class PriceChoices(serializers.Serializer):
    """What one participant costs."""

    reward_minor = serializers.IntegerField(required=False, default=0, min_value=0, max_value=1_000_000)
    fee = serializers.FloatField(
        required=False, default=0.0, min_value=0, max_value=2, help_text="As a share of the reward."
    )


class PilotChoices(ExcludeChoices, PriceChoices):
    """What the power of other sizes depends on."""

    by = serializers.ChoiceField(choices=list(BY), required=False, default="phenomenon")
    criterion = serializers.ChoiceField(choices=list(CRITERIA), required=False, default="t")
    participants = Sizes(least=2, most=2_000, required=False, default=list(SIZES))


class PlanChoices(PriceChoices):
    """A planned study."""

    task = serializers.ChoiceField(choices=list(MODELS))
    effect = serializers.FloatField(min_value=0, max_value=10)
    participants = Sizes(least=2, most=2_000, required=False, default=list(SIZES))
    items = Sizes(least=1, most=200, required=False, default=[8])
    lists = serializers.IntegerField(required=False, default=2, min_value=1, max_value=200)
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=BIGGEST)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Keep a request short."""
        if max(attrs["participants"]) * max(attrs["items"]) > MOST_CELLS:
            message = f"participants times items may not pass {MOST_CELLS:,} here: use the command."
            raise serializers.ValidationError(message)
        return attrs


class Document(serializers.Serializer):
    """As the command prints it."""

    experiment = serializers.CharField()

    def to_representation(self, instance: Any) -> Any:
        """Unchanged."""
        return instance


class Waiting(serializers.Serializer):
    """The job that computes a report."""

    job = serializers.IntegerField()
    state = serializers.CharField()
    error = serializers.CharField(allow_blank=True)


class PowerDocument(serializers.Serializer):
    """As the command prints it."""

    task = serializers.CharField()
    designs = serializers.ListField(child=serializers.DictField())


def answered(request: Request, slug: str, name: str, kind: type[Serializer]) -> Response:
    """The report, or 202 with its job."""
    study = get_study(request.user, slug)
    found = report_or_job(study, name, dict(chosen(kind, request)), user=request.user)
    if isinstance(found, Job):
        told = {"job": found.pk, "state": found.state, "error": found.error}
        return Response(told, status=status.HTTP_202_ACCEPTED)
    return Response(found)


class ExclusionsView(APIView):
    """What a plan removes, and whether conclusions hang on it."""

    @extend_schema(summary="Exclusions", parameters=[ExcludeChoices], responses=refusing(Document))
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        study = get_study(request.user, slug)
        return Response(reading.exclusions(study, **chosen(ExcludeChoices, request)))


class ItemsView(APIView):
    """Every item, and the models beside the majority."""

    @extend_schema(summary="Items", parameters=[ExcludeChoices], responses=refusing(Document))
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        study = get_study(request.user, slug)
        return Response(reading.items_report(study, **chosen(ExcludeChoices, request)))


class ProgressView(APIView):
    """Agreement and inclusion while the study runs, with intervals that hold at every look."""

    @extend_schema(
        summary="Agreement so far",
        description="As of some seconds ago. Asking is a look, which is kept and counted in `looks`.",
        parameters=[ProgressChoices],
        responses=refusing(Document),
    )
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the page shows it."""
        study = get_study(request.user, slug)
        choices = chosen(ProgressChoices, request)
        return Response(seen_progress(study, user=request.user, where="progress", **choices))


class ReliabilityView(APIView):
    """Agreement of people with each other, and ceilings."""

    @extend_schema(
        summary="Reliability",
        description=LATER,
        parameters=[ReliabilityChoices],
        responses={**refusing(Document), 202: Waiting},
    )
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        return answered(request, slug, "reliability", ReliabilityChoices)


class EffectsView(APIView):
    """The five analyses of every contrast."""

    @extend_schema(
        summary="Effects",
        description=LATER,
        parameters=[EffectsChoices],
        responses={**refusing(Document), 202: Waiting},
    )
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        return answered(request, slug, "effects", EffectsChoices)


class OrdinalView(APIView):
    """Likert ratings as ordered categories."""

    @extend_schema(
        summary="Ordinal models",
        description=LATER,
        parameters=[OrdinalChoices],
        responses={**refusing(Document), 202: Waiting},
    )
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        return answered(request, slug, "ordinal", OrdinalChoices)


class PilotView(APIView):
    """Power of other numbers of participants, the study as a pilot."""

    @extend_schema(
        summary="Power from this study as a pilot",
        description=LATER,
        parameters=[PilotChoices],
        responses={**refusing(Document), 202: Waiting},
    )
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        return answered(request, slug, "pilot", PilotChoices)


class PowerView(APIView):
    """Power of a planned study."""

    @extend_schema(
        summary="Power of a planned study",
        parameters=[PlanChoices],
        responses={200: PowerDocument, 400: ErrorSerializer, 422: ErrorSerializer},
    )
    def get(self, request: Request) -> Response:
        """The report, as the command prints it."""
        data = dict(chosen(PlanChoices, request))
        price = Price(data.pop("reward_minor"), data.pop("fee"))
        return Response(prospective_report(data.pop("task"), data.pop("effect"), price=price, **data))
