"""API views of agreement, ratings, plans, releases, scoring runs and comparisons; for members only."""

from typing import Any

from django.db.models import Case, Q, QuerySet, Value, When
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from analysis.errors import StillComputing
from config.api_bases import ColumnListMixin, StrictView
from config.api_schema import ErrorSerializer
from config.http.body_limit import takes_large_files
from experiments.api.authentication import require_scope
from experiments.api.serializers import BIGGEST
from experiments.api.views import StudyAPIView
from experiments.models import ApiToken, Experiment, Job
from experiments.pages.access import get_study
from judgments.api.views import AnyAccept
from releases.api.fields import FILE
from releases.api.report_serializers import (
    AgreementChoices,
    AgreementReport,
    LeaderboardChoices,
    LeaderboardReport,
    RatingsChoices,
    RatingsReport,
)
from releases.api.serializers import (
    ComparisonRequest,
    ComparisonSerializer,
    PlanSerializer,
    ReleaseRequest,
    ReleaseSerializer,
    RunRequest,
    RunSerializer,
    ScoreSetsRequest,
)
from releases.comparison.compare import Options as ComparisonOptions
from releases.comparison.compare import list_comparisons, request_comparison
from releases.comparison.leaderboard import leaderboard
from releases.gold.describe import has_people, with_withdrawn
from releases.gold.freeze import request_release
from releases.gold.options import Options
from releases.gold.plans import chosen_exclusion, set_current_plan, write_plan
from releases.models import Comparison, ExclusionPlan, Release, ScoringRun
from releases.reports.progress import note_look
from releases.reports.report_cache import cached_report
from releases.scoring.runs import request_score_sets, request_scoring
from releases.scoring.training_metadata import Training
from releases.views.models.comparisons import list_runs
from releases.views.releases import file_answer, find, zip_answer


def report_responses(kind: type[Serializer[Any]]) -> dict[int, type[Serializer[Any]]]:
    """Responses of a report: the document, or an error for invalid choices."""
    return {200: kind, 400: ErrorSerializer, 422: ErrorSerializer}


def query_choices(view: StrictView, study: Experiment | None = None) -> dict[str, Any]:
    """The validated choices of the query string; an empty ``exclude`` is the study's current plan."""
    return with_exclusion(study, view.validated_query())


def with_exclusion(study: Experiment | None, data: dict[str, Any]) -> dict[str, Any]:
    """The choices with the study's current plan where ``exclude`` is empty."""
    if study is None or "exclude" not in data:
        return data
    return {**data, "exclude": chosen_exclusion(study, data["exclude"])}


class AgreementView(StrictView):
    """Agreement of participants with the expected labels."""

    query_class = AgreementChoices

    @extend_schema(summary="Agreement", responses=report_responses(AgreementReport))
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        study = get_study(request.user, slug)
        note_look(study, request.user, where="agreement")
        return Response(cached_report(study, "agreement", **query_choices(self, study)))


class RatingsView(StrictView):
    """Item means of ratings."""

    query_class = RatingsChoices

    @extend_schema(summary="Item means", responses=report_responses(RatingsReport))
    def get(self, request: Request, slug: str) -> Response:
        """The report, as the command prints it."""
        study = get_study(request.user, slug)
        return Response(cached_report(study, "ratings", **query_choices(self, study)))


class PlanFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the plans."""

    name = filters.CharFilter(help_text="Name of a plan: its versions.")
    is_current = filters.BooleanFilter(help_text="Whether results use it unless another is chosen.")


class ReleaseFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the releases."""

    state = filters.ChoiceFilter(choices=Release.State.choices)


class RunFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the runs."""

    state = filters.ChoiceFilter(choices=ScoringRun.State.choices)
    method = filters.CharFilter(help_text="Name of a method, such as lp.")
    model = filters.CharFilter(lookup_expr="icontains", help_text="Part of the model's address.")


class ComparisonFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the comparisons."""

    release = filters.NumberFilter(
        field_name="release__number",
        min_value=1,
        max_value=BIGGEST,
        decimal_places=0,
        help_text="Number of a release.",
    )
    run = filters.NumberFilter(
        field_name="runs", min_value=1, max_value=BIGGEST, decimal_places=0, help_text="Id of a scoring run."
    )


@extend_schema_view(
    get=extend_schema(summary="Exclusion plans of a study, every version", description="One page.")
)
class PlanViews(ColumnListMixin, StudyAPIView, generics.ListAPIView[ExclusionPlan]):
    """Plans and their versions."""

    filterset_class = PlanFilter
    columns = {**{name: name for name in PlanSerializer.Meta.fields}, "author": "author__username"}
    queryset = ExclusionPlan.objects.none()
    serializer_class = PlanSerializer

    def get_queryset(self) -> QuerySet[ExclusionPlan]:
        """By name, newest version first."""
        return ExclusionPlan.objects.filter(experiment=self.study())

    @extend_schema(
        summary="Write a plan, or its next version", request=PlanSerializer, responses={201: PlanSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Identical steps return the current version."""
        study = self.study()
        data = self.validated_body(PlanSerializer)
        steps = [dict(step) for step in data["steps"]]
        row = write_plan(study, data["name"], steps=steps, user=self.user)
        if data.get("is_current"):
            row = set_current_plan(study, f"{row.name}@{row.version}", user=self.user) or row
        return Response(PlanSerializer(row).data, status=status.HTTP_201_CREATED)


@extend_schema_view(get=extend_schema(summary="Releases of a study, newest first", description="One page."))
class ReleaseViews(StudyAPIView, generics.ListAPIView[Release]):
    """Frozen releases, and those being built."""

    filterset_class = ReleaseFilter
    queryset = Release.objects.none()
    serializer_class = ReleaseSerializer

    def get_queryset(self) -> QuerySet[Release]:
        """Newest first."""
        return with_withdrawn(Release.objects.filter(experiment=self.study())).order_by("-number")

    @extend_schema(summary="Build a release", request=ReleaseRequest, responses={202: ReleaseSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Queue the job; poll `job` or the release until it is ready."""
        study = self.study()
        data = with_exclusion(study, dict(self.validated_body(ReleaseRequest)))
        title, formats = data.pop("title"), ",".join(data.pop("formats"))
        release = request_release(study, Options(**data, formats=formats), title=title, user=self.user)
        return Response(ReleaseSerializer(release).data, status=status.HTTP_202_ACCEPTED)


class ReleaseView(StrictView):
    """One release."""

    @extend_schema(summary="One release with its manifest", responses=ReleaseSerializer)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """The release."""
        return Response(ReleaseSerializer(find(get_study(request.user, slug), number)).data)


def find_ready(study: Experiment, number: int) -> Release:
    """The study's release of that number; 409 while it is built, 404 where that failed."""
    if find(study, number).state == Release.State.BUILDING:
        raise StillComputing(f"release {number} is being built.", remedy="Ask again when it is ready.")
    return find(study, number, ready=True)


def require_people(request: Request, release: Release) -> None:
    """Refuse a token without the scope ``people``, unless the release is public in a repository."""
    open_publications = release.publications.filter(is_open=True)
    if all(publication.in_sandbox for publication in open_publications):
        require_scope(request, ApiToken.Scope.PEOPLE)


class ReleaseFileView(StrictView):
    """One file of a release."""

    may_be_early = True
    content_negotiation_class = AnyAccept

    @extend_schema(summary="One file of a release", responses=FILE)
    def get(self, request: Request, slug: str, number: int, name: str) -> StreamingHttpResponse:
        """The file as frozen; rows of single participants need the scope ``people``."""
        release = find_ready(get_study(request.user, slug), number)
        if has_people(name):
            require_people(request, release)
        return file_answer(release, name)


class ReleaseZipView(StrictView):
    """The whole release."""

    may_be_early = True
    content_negotiation_class = AnyAccept

    @extend_schema(summary="A release as ZIP", responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, number: int) -> StreamingHttpResponse:
        """All files, streamed while they are compressed; needs the scope ``people``."""
        release = find_ready(get_study(request.user, slug), number)
        require_people(request, release)
        return zip_answer(release)


@takes_large_files
@extend_schema_view(
    get=extend_schema(summary="Scoring runs over the study's sentences", description="One page.")
)
class RunViews(ColumnListMixin, StudyAPIView, generics.ListAPIView[ScoringRun]):
    """Models that were scored."""

    columns = {**{name: name for name in RunSerializer.Meta.fields}, "job": "job_id"}
    filterset_class = RunFilter
    queryset = ScoringRun.objects.none()
    serializer_class = RunSerializer
    parser_classes = [MultiPartParser]

    def get_queryset(self) -> QuerySet[ScoringRun]:
        """Newest first."""
        return list_runs(self.study())

    @extend_schema(
        summary="Score the study's sentences",
        request={"multipart/form-data": RunRequest},
        responses={202: RunSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload a file of scores or a model, and queue the run."""
        study = self.study()
        data = dict(self.validated_body(RunRequest))
        training = {
            name: data.pop(name) for name in ("family", "training_tokens", "seed", "corpus") if name in data
        }
        run = request_scoring(study, data.pop("file"), training=Training(**training), user=self.user, **data)
        return Response(RunSerializer(run).data, status=status.HTTP_202_ACCEPTED)


@takes_large_files
class ScoreSetViews(StudyAPIView):
    """Several models in one table."""

    queryset = ScoringRun.objects.none()
    serializer_class = RunSerializer
    parser_classes = [MultiPartParser]
    pagination_class = None

    @extend_schema(
        summary="Score with every column of a table",
        request={"multipart/form-data": ScoreSetsRequest},
        responses={202: RunSerializer(many=True)},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Queue a run for each model, with the metadata of the second table."""
        study = self.study()
        data = self.validated_body(ScoreSetsRequest)
        runs = request_score_sets(
            study, data["file"], models=data.get("models"), sign=data.get("sign", ""), user=self.user
        )
        return Response(RunSerializer(runs, many=True).data, status=status.HTTP_202_ACCEPTED)


class LeaderboardView(StrictView):
    """Models in one order on one release."""

    may_be_early = True
    query_class = LeaderboardChoices

    @extend_schema(
        summary="Leaderboard of a release",
        responses=report_responses(LeaderboardReport),
    )
    def get(self, request: Request, slug: str, number: int) -> Response:
        """The rows, as the command prints them."""
        release = find_ready(get_study(request.user, slug), number)
        choices = dict(query_choices(self))
        order = {"ascending": True, "descending": False}.get(choices.pop("order", ""))
        return Response(leaderboard(release, ascending=order, **choices))


@extend_schema_view(get=extend_schema(summary="Comparisons of models with people", description="One page."))
class ComparisonViews(ColumnListMixin, StudyAPIView, generics.ListAPIView[Comparison]):
    """Comparisons on the study's releases."""

    filterset_class = ComparisonFilter
    may_be_early = True
    columns = {
        **{name: name for name in ("id", "title")},
        "release": "release__number",
        "runs": "id",  # replaced below
        "state": Case(
            When(~Q(report={}), then=Value(Job.State.DONE)),
            When(job__isnull=True, then=Value(Job.State.FAILED)),
            default="job__state",
        ),
        **{name: name for name in ("options", "report")},
        "job": "job_id",
        "created_at": "created_at",
    }
    queryset = Comparison.objects.none()
    serializer_class = ComparisonSerializer

    def get_queryset(self) -> QuerySet[Comparison]:
        """Newest first."""
        return Comparison.objects.filter(release__experiment=self.study())

    def list(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page, with the runs of its comparisons in one query."""
        response = super().list(request)
        rows = {row["id"]: row | {"runs": []} for row in response.data["results"]}
        compared = Comparison.runs.through.objects.filter(comparison__in=rows)
        newest_first = compared.order_by("-scoringrun__created_at", "-scoringrun")
        for comparison, run in newest_first.values_list("comparison", "scoringrun"):
            rows[comparison]["runs"].append(run)
        response.data["results"] = list(rows.values())
        return response

    @extend_schema(
        summary="Compare models with people", request=ComparisonRequest, responses={202: ComparisonSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Queue the comparison; it contains its report when the job is done."""
        study = self.study()
        data = dict(self.validated_body(ComparisonRequest))
        release = find(study, data.pop("release"))
        run_ids, title = set(data.pop("runs")), data.pop("title")
        runs = list(list_runs(study).filter(pk__in=run_ids))
        if len(runs) != len(run_ids):
            get_object_or_404(ScoringRun.objects.none())
        comparison = request_comparison(
            release, runs, options=ComparisonOptions(**data), title=title, user=self.user
        )
        return Response(ComparisonSerializer(comparison).data, status=status.HTTP_202_ACCEPTED)


@extend_schema_view(
    get=extend_schema(summary="One comparison with its report", description="The comparison.")
)
class ComparisonView(StudyAPIView, generics.RetrieveAPIView[Comparison]):
    """One comparison."""

    queryset = Comparison.objects.none()
    serializer_class = ComparisonSerializer

    def get_queryset(self) -> QuerySet[Comparison]:
        """Comparisons on the study's releases."""
        return list_comparisons(self.study())
