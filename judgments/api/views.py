"""Judgments and the archive of studies over REST; whole files are in ``releases.api.judgment_files``.

Judgments as JSON, under the names of the contract.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import cast

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import StreamingHttpResponse
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.columns import JUDGMENT_COLUMNS
from config.api_bases import StrictSerializer, StrictView
from config.api_schema import ErrorSerializer
from experiments.api.serializers import StudySerializer
from experiments.api.views import StudyAPIView
from experiments.lists.rounds import MOST_ROUNDS
from experiments.models import ApiToken, Experiment, TrialKind
from experiments.pages.access import get_study
from judgments.frames.listing import as_rows, counted_judgments
from judgments.frames.mturk_batch import batch_csv
from judgments.models import Judgment
from judgments.study_archive import archive, unarchive


def text(name: str) -> serializers.CharField:
    """A column of text."""
    return serializers.CharField(read_only=True, allow_null=True, help_text=JUDGMENT_COLUMNS[name].meaning)


def whole_number(name: str) -> serializers.IntegerField:
    """A column of whole numbers."""
    return serializers.IntegerField(read_only=True, allow_null=True, help_text=JUDGMENT_COLUMNS[name].meaning)


class JudgmentSerializer(StrictSerializer):
    """One judgment: the columns of a judgment file, then those that identify the trial."""

    participant = text("participant")
    session = text("session")
    item = text("item")
    condition = text("condition")
    sentence_id = text("sentence_id")
    trial = text("trial")
    task = text("task")
    response = text("response")
    value = serializers.FloatField(
        read_only=True, allow_null=True, help_text=JUDGMENT_COLUMNS["value"].meaning
    )
    rt_ms = whole_number("rt_ms")
    position = whole_number("position")
    shown_first = text("shown_first")
    kind = serializers.ChoiceField(TrialKind.choices, read_only=True)
    status = serializers.ChoiceField(Judgment.Status.choices, read_only=True)
    correct = serializers.BooleanField(read_only=True, allow_null=True)
    list = text("list")
    round = whole_number("round")
    paradigm = text("paradigm")
    pair_id = text("pair_id")


class JudgmentFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the judgments of a study."""

    kind = filters.ChoiceFilter(field_name="trial__kind", choices=TrialKind.choices)
    status = filters.ChoiceFilter(choices=Judgment.Status.choices)
    participant = filters.CharFilter(
        field_name="trial__session__participant__pseudonym", help_text="Pseudonym of a participant."
    )
    item = filters.CharFilter(field_name="trial__item__key", help_text="Name of an item.")
    paradigm = filters.CharFilter(field_name="trial__item__paradigm__name", help_text="Name of a paradigm.")
    round = filters.NumberFilter(
        method="in_round",
        min_value=1,
        max_value=MOST_ROUNDS + 1,
        decimal_places=0,
        help_text="Round of the study, from 1.",
    )

    class Meta:
        model = Judgment
        fields: list[str] = []

    def in_round(self, rows: QuerySet[Judgment], name: str, number: Decimal) -> QuerySet[Judgment]:
        """Judgments of one round; those without a list belong to the first."""
        here = Q(trial__session__list__round=int(number))
        return rows.filter(here | Q(trial__session__list__isnull=True) if number == 1 else here)


@extend_schema_view(get=extend_schema(summary="Judgments of a study, by session and position"))
class JudgmentViews(StrictView, generics.ListAPIView[Judgment]):
    """Judgments that count: previews, pilots and withdrawn participants are left out."""

    further_scope = ApiToken.Scope.PEOPLE

    queryset = Judgment.objects.none()
    serializer_class = JudgmentSerializer
    filterset_class = JudgmentFilter

    def get_queryset(self) -> QuerySet[Judgment]:
        """Judgments of the study, 404 for strangers."""
        self.study = get_study(self.request.user, self.kwargs["slug"])
        return counted_judgments(self.study).order_by("trial__session", "trial__position")

    def list(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page."""
        trials = self.filter_queryset(self.get_queryset()).values_list("trial", flat=True)
        return self.get_paginated_response(as_rows(self.study, self.paginate_queryset(trials) or []))


class AnyAccept(BaseContentNegotiation):
    """A file's address says its format, whatever the Accept header asks for; errors are JSON."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser:
        """The first."""
        return next(iter(parsers))

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """The first."""
        renderer = next(iter(renderers))
        return renderer, renderer.media_type


@extend_schema_view(
    get=extend_schema(
        summary="A study of forced choices as batch results of MTurk",
        operation_id="mturk_batch_csv",
        responses={(200, "text/csv"): OpenApiTypes.STR, 422: ErrorSerializer},
    )
)
class MturkBatchCsv(StrictView):
    """One row a session, under pseudonyms; ``import_judgments --format mturk-batch`` reads it again."""

    further_scope = ApiToken.Scope.PEOPLE

    content_negotiation_class = AnyAccept

    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Write the file while it is read."""
        study = get_study(request.user, slug)
        answer = StreamingHttpResponse(batch_csv(study), content_type="text/csv; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="{study.slug}_batch_results.csv"'
        return answer


class ArchiveRequest(StrictSerializer):
    """State of an archived study."""

    confirm = serializers.BooleanField(
        default=False, help_text="Archive although sessions have no decision on pay."
    )


class ArchiveView(StrictView):
    """The archive of studies."""

    @extend_schema(
        operation_id="studies_archive",
        summary="Archive a study: it leaves the list, accepts no participants and loses nothing",
        request=ArchiveRequest,
        responses=StudySerializer,
    )
    def post(self, request: Request, slug: str) -> Response:
        """422 says what keeps it out: it takes participants, some are in session, or money is pending."""
        study, body = get_study(request.user, slug, editing=True), ArchiveRequest(data=request.data)
        body.is_valid(raise_exception=True)
        confirmed = body.validated_data["confirm"]
        archived = archive(study, by=cast("User", request.user), is_confirmed=confirmed)
        return Response(StudySerializer(archived).data)


class UnarchiveView(StudyAPIView):
    """The way back from the archive."""

    queryset = Experiment.objects.none()
    serializer_class = StudySerializer
    takes_no_body = True

    @extend_schema(
        operation_id="studies_unarchive",
        summary="Take a study back from the archive, in the state that it had",
        request=None,
        responses=StudySerializer,
    )
    def post(self, request: Request, slug: str) -> Response:
        """No effect on a study that is not in the archive."""
        return Response(StudySerializer(unarchive(self.study(), by=self.user)).data)
