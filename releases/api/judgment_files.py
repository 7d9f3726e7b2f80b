"""All judgments of a study as one file, written while it is read."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.serializers import Serializer

from config.api_bases import StrictView
from config.api_schema import ErrorSerializer
from experiments.api.serializers import PlainText
from experiments.models import ApiToken, Experiment, TrialKind
from experiments.pages.access import get_study
from judgments.api.views import AnyAccept
from judgments.frames.build import judgment_frame
from judgments.frames.data_source import file_stem
from judgments.frames.export import COLUMNS as JSPSYCH_COLUMNS
from judgments.frames.export import (
    csv_blocks,
    factor_columns,
    jsonl_blocks,
    select_columns,
    with_jspsych_names,
)
from judgments.frames.measurements import COLUMNS as RAW_COLUMNS
from judgments.frames.measurements import with_measures
from releases.api.report_serializers import ExcludeChoices
from releases.api.views import query_choices
from releases.exports.judgment_table import ALL_KINDS, DROP, MARK, judgment_table, of_kinds

COLUMN_SETS = ("analysis", "contract", "all", "jspsych", "raw")


class FileChoices(ExcludeChoices):
    """Rows and columns of a file of judgments."""

    data = serializers.ChoiceField(  # type: ignore[assignment]  # DRF allows a field of this name
        choices=Experiment.Data.choices,
        required=False,
        allow_blank=True,
        default="",
        help_text="Sessions of the pilot or of the newest dry run; empty: those that count.",
    )
    columns = serializers.ChoiceField(
        choices=list(COLUMN_SETS),
        required=False,
        allow_blank=True,
        default="analysis",
        help_text="Ready for analysis; the twelve columns of the contract; all of a frame; the names jsPsych "
        "gives its data; or all that was measured.",
    )
    kinds = PlainText(
        required=False,
        allow_blank=True,
        default="",
        max_length=60,
        help_text="Kinds of trials, with commas, or all. By default targets in the columns for analysis, "
        "which leaves out fillers, catch, practice and anchor trials; all in the others.",
    )
    excluded = serializers.ChoiceField(
        choices=[MARK, DROP],
        required=False,
        default=MARK,
        help_text="With the columns for analysis: mark excluded judgments in the column exclusion, or drop "
        "them.",
    )


class JudgmentsFile(StrictView):
    """All judgments of a study as one file."""

    further_scope = ApiToken.Scope.PEOPLE
    content_negotiation_class = AnyAccept
    query_class = FileChoices
    suffix: ClassVar[str]
    media_type: ClassVar[str]
    write: ClassVar[Callable[..., Iterator[str]]]

    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Write the file while it is read."""
        study = get_study(request.user, slug)
        choices = query_choices(self, study)
        study.data = choices["data"]
        blocks = self.blocks(study, choices)
        answer = StreamingHttpResponse(blocks, content_type=f"{self.media_type}; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="{file_stem(study)}-judgments.{self.suffix}"'
        return answer

    def blocks(self, study: Experiment, choices: dict[str, Any]) -> Iterator[str]:
        """The file in blocks."""
        write, columns = type(self).write, choices["columns"] or "analysis"
        if columns == "analysis":
            kinds = choices["kinds"] or TrialKind.TARGET
            table = judgment_table(
                study, exclude=choices["exclude"], kinds=kinds, excluded=choices["excluded"]
            )
            return write(table.frame, table.columns, also=table.with_texts)
        frame = judgment_frame(study)
        frame = frame[of_kinds(frame, choices["kinds"] or ALL_KINDS)]
        if columns == "jspsych":
            return write(with_jspsych_names(study, frame), JSPSYCH_COLUMNS)
        if columns == "raw":
            return write(frame, [*RAW_COLUMNS, *factor_columns(frame)], also=with_measures)
        return write(frame, select_columns(columns, frame))


def file_responses(media_type: str) -> dict[Any, type[Serializer[Any]] | OpenApiTypes]:
    """Responses of a file: the file, or an error for invalid choices."""
    return {(200, media_type): OpenApiTypes.STR, 400: ErrorSerializer, 422: ErrorSerializer}


@extend_schema_view(
    get=extend_schema(
        summary="All judgments as CSV",
        operation_id="judgments_csv",
        responses=file_responses("text/csv"),
    )
)
class JudgmentsCsv(JudgmentsFile):
    """CSV: UTF-8, one header line."""

    suffix, media_type, write = "csv", "text/csv", staticmethod(csv_blocks)


@extend_schema_view(
    get=extend_schema(
        summary="All judgments as JSON lines",
        operation_id="judgments_jsonl",
        responses=file_responses("application/x-ndjson"),
    )
)
class JudgmentsJsonl(JudgmentsFile):
    """One JSON object per line."""

    suffix, media_type, write = "jsonl", "application/x-ndjson", staticmethod(jsonl_blocks)
