"""Import of judgments over REST: send a file, see how it is read, choose, import by a job."""

from typing import ClassVar, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from config.api_bases import StrictSerializer
from config.http.body_limit import takes_large_files
from experiments.api.serializers import JobSerializer, PlainText
from experiments.api.upload_views import (
    LANGUAGE,
    OPTIONAL,
    ImportAPIView,
    UploadAPIView,
    UploadSerializer,
)
from experiments.intake.previews import Preview, needs_confirmation
from experiments.intake.uploads import discard_uploads, save_uploads
from experiments.materials.encoding import CODECS
from experiments.models import ApiToken, Job, MaterialSet, Upload
from judgments.imports.jobs import PURPOSE, import_later, read_or_job, recognize
from judgments.imports.readers.cells import TASKS
from judgments.imports.readers.materials import SPELLINGS
from judgments.imports.readers.table import TABLE_FIELDS
from judgments.imports.repeats import REPEATS
from judgments.pages.import_views import find_lab, format_names

LONGEST_OPTION = 2_000


class JudgmentFileRequest(StrictSerializer):
    """A file of judgments and its study, as multipart form data."""

    file = serializers.FileField()
    demographics = serializers.FileField(required=False, help_text="Prolific's demographic export.")
    experiment = PlainText(max_length=200, help_text="One of your studies, or a name for a new one.")
    format = serializers.ChoiceField(
        ["auto", *format_names()], default="auto", help_text="auto: recognized, and asked about."
    )
    language = serializers.RegexField(LANGUAGE, max_length=35, help_text="BCP 47.", **OPTIONAL)
    materials = serializers.SlugField(required=False, help_text="Stored set that rows are matched with.")


class JudgmentReadingRequest(StrictSerializer):
    """Choices of how a file is read."""

    experiment = PlainText(max_length=200, required=False)
    format = serializers.ChoiceField(
        format_names(), required=False, help_text="Sending it confirms what was recognized."
    )
    language = serializers.RegexField(LANGUAGE, max_length=35, **OPTIONAL)
    materials = serializers.SlugField(required=False, allow_null=True)
    mapping = serializers.DictField(
        child=PlainText(max_length=1_000, allow_blank=True),
        required=False,
        help_text="Our column: the file's column.",
    )
    task = serializers.ChoiceField(["", *TASKS], required=False, help_text="Empty: detected.")
    repeats = serializers.ChoiceField(["", *REPEATS], required=False)
    spelling = serializers.ChoiceField(
        ["", *SPELLINGS], required=False, help_text="Which of several texts of one sentence is stored."
    )
    keep_names = serializers.BooleanField(required=False, help_text="Ids that may be names are codes.")
    missing = PlainText(
        max_length=500, help_text="Answers that stand for none, such as `99 -99`.", **OPTIONAL
    )
    labels = PlainText(max_length=LONGEST_OPTION, help_text="Meanings, such as `0=yes 1=no`.", **OPTIONAL)
    where = PlainText(max_length=LONGEST_OPTION, help_text="Rows to read: `column=value`.", **OPTIONAL)
    scale_low = serializers.FloatField(required=False, allow_null=True)
    scale_high = serializers.FloatField(required=False, allow_null=True)
    people = PlainText(max_length=LONGEST_OPTION, help_text="Columns of one person each.", **OPTIONAL)
    answers = PlainText(max_length=LONGEST_OPTION, help_text="Columns of one sentence each.", **OPTIONAL)
    encoding = serializers.ChoiceField(list(CODECS), **OPTIONAL)
    sheet = PlainText(max_length=300, **OPTIONAL)

    def validate_mapping(self, mapping: dict[str, str]) -> dict[str, str]:
        """Refuse columns that are none of ours."""
        if unknown := [name for name in mapping if name not in TABLE_FIELDS]:
            raise serializers.ValidationError(f"{unknown[0]!r} is none of {', '.join(TABLE_FIELDS)}.")
        return mapping


class JudgmentUploadAPIView(UploadAPIView):
    """Base of the views; a file of judgments is its owner's only."""

    further_scope = ApiToken.Scope.PEOPLE
    purpose: ClassVar[str] = PURPOSE

    def read(self, uploads: list[Upload]) -> Preview | Job:
        """How the file is read."""
        return read_or_job(uploads)

    def problem(self, uploads: list[Upload], reading: Preview) -> str:
        """What keeps the file from being imported as it is read."""
        options = uploads[0].options
        if options.get("guess"):
            reason = f"{options['format']}, {options['guess']}"
            return f"The format is recognized ({reason}). Send format to confirm it."
        if "error" in reading:
            return str(reading["error"])
        if needs_confirmation(reading, options):
            return "The encoding is inferred from the characters. Send the encoding that is right."
        return ""

    def materials(self, slug: str | None) -> int | None:
        """The key of a set of the caller's."""
        if not slug:
            return None
        row = MaterialSet.objects.visible_to(self.request.user).filter(slug=slug).first()
        if row is None:
            raise serializers.ValidationError({"materials": ["There is no such set for you."]})
        return row.pk


@takes_large_files
class JudgmentUploadsView(JudgmentUploadAPIView):
    """Files of judgments."""

    parser_classes = [MultiPartParser]

    @extend_schema(
        summary="Upload a file of judgments",
        request={"multipart/form-data": JudgmentFileRequest},
        responses={201: UploadSerializer, 202: UploadSerializer},
    )
    def post(self, request: Request) -> Response:
        """How it is read; 202 while a job reads a large one. Nothing is imported yet."""
        body = JudgmentFileRequest(data=request.data)
        body.is_valid(raise_exception=True)
        data = dict(body.validated_data)
        files = [data.pop(name) for name in ("file", "demographics") if name in data]
        data["materials"] = self.materials(data.get("materials"))
        is_auto = data["format"] == "auto"
        lab = find_lab(cast("User", request.user), data["experiment"])
        uploads = save_uploads(request.user, files, purpose=PURPOSE, options=data, lab=lab)
        if is_auto:
            recognize(uploads[0])
        return self.respond(uploads, status.HTTP_201_CREATED)


class JudgmentUploadView(JudgmentUploadAPIView):
    """One file."""

    parser_classes = [JSONParser]

    @extend_schema(
        summary="How an uploaded file of judgments is read",
        responses={200: UploadSerializer, 202: UploadSerializer},
    )
    def get(self, request: Request, id: str) -> Response:
        """The preview with its report; 202 while a job reads the file."""
        return self.respond(self.uploads())

    @extend_schema(
        summary="Choose how a file of judgments is read",
        request=JudgmentReadingRequest,
        responses={200: UploadSerializer, 202: UploadSerializer},
    )
    def patch(self, request: Request, id: str) -> Response:
        """The preview with these choices; those that are not sent stay."""
        uploads = self.uploads()
        body = JudgmentReadingRequest(data=request.data, partial=True)
        body.is_valid(raise_exception=True)
        data = dict(body.validated_data)
        if "materials" in data:
            data["materials"] = self.materials(data["materials"])
        options = {**uploads[0].options, **data}
        if "format" in data:
            options.pop("guess", None)
        uploads[0].options = options
        uploads[0].save(update_fields=["options"])
        return self.respond(uploads)

    @extend_schema(summary="Discard an uploaded file of judgments", responses={204: None})
    def delete(self, request: Request, id: str) -> Response:
        """Nothing of it is kept."""
        discard_uploads(self.uploads())
        return Response(status=status.HTTP_204_NO_CONTENT)


class JudgmentImportView(JudgmentUploadAPIView, ImportAPIView):
    """The import."""

    serializer_class = JobSerializer

    @extend_schema(
        summary="Import an uploaded file of judgments", request=None, responses={202: JobSerializer}
    )
    def post(self, request: Request, id: str) -> Response:
        """The job, whose result has the `slug` of the study; 422 names what keeps it from being imported."""
        job = import_later(self.readable_uploads()[0])
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)
