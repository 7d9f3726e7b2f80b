"""Agreement, ratings, plans, releases, scores and comparisons: members only, and strangers find nothing."""

from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, mixins, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from analysis.releases import reading
from analysis.releases.api.report_serializers import (
    AgreementChoices,
    AgreementReport,
    LeaderboardChoices,
    LeaderboardReport,
    RatingsChoices,
    RatingsReport,
)
from analysis.releases.api.serializers import (
    ComparisonRequest,
    ComparisonSerializer,
    PlanSerializer,
    ReleaseRequest,
    ReleaseSerializer,
    RunRequest,
    RunSerializer,
    ScoreSetsRequest,
)
from analysis.releases.comparing import Options as ComparisonOptions
from analysis.releases.comparing import comparisons_of, request_comparison
from analysis.releases.freezing import request_release
from analysis.releases.leaderboard import leaderboard
from analysis.releases.looks import note_look
from analysis.releases.models import Comparison, ExclusionPlan, Release, ScoringRun
from analysis.releases.options import Options
from analysis.releases.plans import write_plan
from analysis.releases.scoring import request_score_sets, request_scoring
from analysis.releases.training import Training
from analysis.releases.views.models import runs_of
from analysis.releases.views.releases import file_answer, find, zip_answer
from config.api_schema import ErrorSerializer
from experiments.models import Experiment
from experiments.pages.access import get_study
from judgments.api.views import AnyAccept


def refusing(kind: type[Serializer]) -> dict[int, type[Serializer]]:
    """Responses of a report whose choices may be refused."""
    return {200: kind, 400: ErrorSerializer, 422: ErrorSerializer}


def chosen(kind: type[Serializer], request: Request) -> dict[str, Any]:
    """The choices in the address, checked."""
    choices = kind(data=request.query_params.dict())
    choices.is_valid(raise_exception=True)
    return choices.validated_data


class AgreementView(APIView):
    """How far people agree with the expected labels."""

    @extend_schema(summary="Agreement", parameters=[AgreementChoices], responses=refusing(AgreementReport))
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        study = get_study(request.user, slug)
        note_look(study, request.user, where="agreement")
        return Response(reading.agreement(study, **chosen(AgreementChoices, request)))


class RatingsView(APIView):
    """Item means of ratings."""

    @extend_schema(summary="Item means", parameters=[RatingsChoices], responses=refusing(RatingsReport))
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        study = get_study(request.user, slug)
        return Response(reading.ratings(study, **chosen(RatingsChoices, request)))


class OfStudy(generics.GenericAPIView):
    """Rows of one study."""

    filter_backends: list[Any] = []

    def study(self) -> Experiment:
        """The study: 404 for strangers, 403 for viewers who would change something."""
        editing = self.request.method not in {"GET", "HEAD", "OPTIONS"}
        return get_study(self.request.user, self.kwargs["slug"], editing=editing)

    def given(self, kind: type[Serializer]) -> dict[str, Any]:
        """The body, checked."""
        body = kind(data=self.request.data)
        body.is_valid(raise_exception=True)
        return body.validated_data


@extend_schema_view(get=extend_schema(summary="Exclusion plans of a study, every version"))
class PlanViews(mixins.ListModelMixin, OfStudy):
    """Plans and their versions."""

    queryset = ExclusionPlan.objects.none()
    serializer_class = PlanSerializer

    def get_queryset(self) -> QuerySet[ExclusionPlan]:
        """By name, newest version first."""
        return ExclusionPlan.objects.filter(experiment=self.study()).select_related("author")

    def get(self, request: Request, slug: str) -> Response:
        """One page."""
        return self.list(request)

    @extend_schema(
        summary="Write a plan, or its next version", request=PlanSerializer, responses={201: PlanSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """The same steps again give the version that stands."""
        study = self.study()
        data = self.given(PlanSerializer)
        steps = [dict(step) for step in data["steps"]]
        row = write_plan(study, data["name"], steps=steps, user=request.user)
        return Response(PlanSerializer(row).data, status=status.HTTP_201_CREATED)


@extend_schema_view(get=extend_schema(summary="Releases of a study, newest first"))
class ReleaseViews(mixins.ListModelMixin, OfStudy):
    """Frozen releases, and those being built."""

    queryset = Release.objects.none()
    serializer_class = ReleaseSerializer

    def get_queryset(self) -> QuerySet[Release]:
        """Newest first."""
        return Release.objects.filter(experiment=self.study()).order_by("-number")

    def get(self, request: Request, slug: str) -> Response:
        """One page."""
        return self.list(request)

    @extend_schema(summary="Build a release", request=ReleaseRequest, responses={202: ReleaseSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Queue the job; look at `job` or at the release until it is ready."""
        study = self.study()
        data = dict(self.given(ReleaseRequest))
        title = data.pop("title")
        release = request_release(study, Options(**data), title=title, user=request.user)
        return Response(ReleaseSerializer(release).data, status=status.HTTP_202_ACCEPTED)


class ReleaseView(APIView):
    """One release."""

    @extend_schema(summary="One release with its manifest", responses=ReleaseSerializer)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """The release."""
        return Response(ReleaseSerializer(find(get_study(request.user, slug), number)).data)


class ReleaseFileView(APIView):
    """One file of a release."""

    content_negotiation_class = AnyAccept

    @extend_schema(summary="One file of a release", responses={(200, "*/*"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, number: int, name: str) -> StreamingHttpResponse:
        """The file as frozen."""
        return file_answer(find(get_study(request.user, slug), number, ready=True), name)


class ReleaseZipView(APIView):
    """The whole release."""

    content_negotiation_class = AnyAccept

    @extend_schema(summary="A release as ZIP", responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, number: int) -> StreamingHttpResponse:
        """All files, sent as they are packed."""
        return zip_answer(find(get_study(request.user, slug), number, ready=True))


@extend_schema_view(get=extend_schema(summary="Scoring runs over the study's sentences"))
class RunViews(mixins.ListModelMixin, OfStudy):
    """Models that were scored."""

    queryset = ScoringRun.objects.none()
    serializer_class = RunSerializer
    parser_classes = [MultiPartParser]

    def get_queryset(self) -> QuerySet[ScoringRun]:
        """Newest first."""
        return runs_of(self.study())

    def get(self, request: Request, slug: str) -> Response:
        """One page."""
        return self.list(request)

    @extend_schema(
        summary="Score the study's sentences",
        request={"multipart/form-data": RunRequest},
        responses={202: RunSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Take a file of scores or a model, and queue the run."""
        study = self.study()
        data = dict(self.given(RunRequest))
        said = {
            name: data.pop(name) for name in ("family", "training_tokens", "seed", "corpus") if name in data
        }
        run = request_scoring(study, data.pop("file"), training=Training(**said), user=request.user, **data)
        return Response(RunSerializer(run).data, status=status.HTTP_202_ACCEPTED)


class ScoreSetViews(OfStudy):
    """Several models in one table."""

    queryset = ScoringRun.objects.none()
    serializer_class = RunSerializer
    parser_classes = [MultiPartParser]

    @extend_schema(
        summary="Score with every column of a table",
        request={"multipart/form-data": ScoreSetsRequest},
        responses={202: RunSerializer(many=True)},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Queue a run for each model, tagged with what the second table says of it."""
        study = self.study()
        data = self.given(ScoreSetsRequest)
        runs = request_score_sets(study, data["file"], models=data.get("models"), user=request.user)
        return Response(RunSerializer(runs, many=True).data, status=status.HTTP_202_ACCEPTED)


class LeaderboardView(APIView):
    """Models in one order on one release."""

    @extend_schema(
        summary="Leaderboard of a release",
        parameters=[LeaderboardChoices],
        responses=refusing(LeaderboardReport),
    )
    def get(self, request: Request, slug: str, number: int) -> Response:
        """The rows, as the command prints them."""
        release = find(get_study(request.user, slug), number, ready=True)
        choices = dict(chosen(LeaderboardChoices, request))
        order = {"ascending": True, "descending": False}.get(choices.pop("order", ""))
        return Response(leaderboard(release, ascending=order, **choices))


@extend_schema_view(get=extend_schema(summary="Comparisons of models with people"))
class ComparisonViews(mixins.ListModelMixin, OfStudy):
    """Comparisons on the study's releases."""

    queryset = Comparison.objects.none()
    serializer_class = ComparisonSerializer

    def get_queryset(self) -> QuerySet[Comparison]:
        """Newest first."""
        return comparisons_of(self.study())

    def get(self, request: Request, slug: str) -> Response:
        """One page."""
        return self.list(request)

    @extend_schema(
        summary="Compare models with people", request=ComparisonRequest, responses={202: ComparisonSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Queue the comparison; its report stands in it when the job is done."""
        study = self.study()
        data = dict(self.given(ComparisonRequest))
        release = find(study, data.pop("release"))
        wanted, title = set(data.pop("runs")), data.pop("title")
        runs = list(runs_of(study).filter(pk__in=wanted))
        if len(runs) != len(wanted):
            get_object_or_404(ScoringRun.objects.none())
        made = request_comparison(
            release, runs, options=ComparisonOptions(**data), title=title, user=request.user
        )
        return Response(ComparisonSerializer(made).data, status=status.HTTP_202_ACCEPTED)


class ComparisonView(APIView):
    """One comparison."""

    @extend_schema(summary="One comparison with its report", responses=ComparisonSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """The comparison."""
        found = get_object_or_404(comparisons_of(get_study(request.user, slug)), pk=pk)
        return Response(ComparisonSerializer(found).data)
