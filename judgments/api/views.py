"""Judgments over REST: pages of JSON, and whole files written while they are read."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import ClassVar

from django.db.models import Q, QuerySet
from django.http import StreamingHttpResponse
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from experiments.models import TrialKind
from experiments.pages.access import get_study
from experiments.rounds import MOST_ROUNDS
from judgments.api.serializers import JudgmentSerializer
from judgments.downloads import columns_of, csv_blocks, jsonl_blocks
from judgments.frames import judgment_frame
from judgments.jspsych_names import COLUMNS as JSPSYCH_COLUMNS
from judgments.jspsych_names import with_jspsych_names
from judgments.measured import COLUMNS as RAW_COLUMNS
from judgments.measured import with_measures
from judgments.models import Judgment
from judgments.observed import as_rows, judgments_of


class JudgmentFilter(filters.FilterSet):
    """Narrow the judgments of a study."""

    kind = filters.ChoiceFilter(field_name="trial__kind", choices=TrialKind.choices)
    status = filters.ChoiceFilter(choices=Judgment.Status.choices)
    participant = filters.CharFilter(
        field_name="trial__session__participant__pseudonym", help_text="Pseudonym of a participant."
    )
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
class JudgmentViews(generics.ListAPIView):
    """Judgments that count: previews, pilots and people who withdrew are left out."""

    queryset = Judgment.objects.none()
    serializer_class = JudgmentSerializer
    filterset_class = JudgmentFilter

    def get_queryset(self) -> QuerySet[Judgment]:
        """Judgments of the study, 404 for strangers."""
        self.study = get_study(self.request.user, self.kwargs["slug"])
        return judgments_of(self.study).order_by("trial__session", "trial__position")

    def list(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        rows = as_rows(self.study, page)
        return self.get_paginated_response(self.get_serializer(rows, many=True).data)


class AnyAccept(BaseContentNegotiation):
    """A file's address says its format, whatever the Accept header asks for; errors are JSON."""

    def select_parser(self, request: Request, parsers: list) -> object:
        """The first."""
        return parsers[0]

    def select_renderer(self, request: Request, renderers: list, format_suffix: str | None = None) -> tuple:
        """The first."""
        return renderers[0], renderers[0].media_type


class JudgmentsFile(APIView):
    """All judgments of a study as one file."""

    content_negotiation_class = AnyAccept
    suffix: ClassVar[str]
    media_type: ClassVar[str]
    write: ClassVar[Callable[..., Iterator[str]]]

    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Write the file while it is read."""
        study = get_study(request.user, slug)
        choice, frame = request.query_params.get("columns", ""), judgment_frame(study)
        if choice == "jspsych":
            blocks = type(self).write(with_jspsych_names(study, frame), JSPSYCH_COLUMNS)
        elif choice == "raw":
            blocks = type(self).write(frame, RAW_COLUMNS, also=with_measures)
        else:
            blocks = type(self).write(frame, columns_of(choice))
        answer = StreamingHttpResponse(blocks, content_type=f"{self.media_type}; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="{study.slug}-judgments.{self.suffix}"'
        return answer


COLUMNS = OpenApiParameter(
    "columns",
    str,
    enum=["contract", "all", "jspsych", "raw"],
    description="Twelve columns, all of a frame, the names jsPsych gives its data, or all that was measured.",
)


@extend_schema_view(
    get=extend_schema(
        summary="All judgments as CSV",
        operation_id="judgments_csv",
        parameters=[COLUMNS],
        responses={(200, "text/csv"): OpenApiTypes.STR},
    )
)
class JudgmentsCsv(JudgmentsFile):
    """CSV: UTF-8, one header line."""

    suffix, media_type, write = "csv", "text/csv", staticmethod(csv_blocks)


@extend_schema_view(
    get=extend_schema(
        summary="All judgments as JSON lines",
        operation_id="judgments_jsonl",
        parameters=[COLUMNS],
        responses={(200, "application/x-ndjson"): OpenApiTypes.STR},
    )
)
class JudgmentsJsonl(JudgmentsFile):
    """One JSON object per line."""

    suffix, media_type, write = "jsonl", "application/x-ndjson", staticmethod(jsonl_blocks)
