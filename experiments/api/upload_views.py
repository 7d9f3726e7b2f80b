"""Upload of materials over REST: send files, see how they are read, choose columns, import by a job."""

from typing import Any, ClassVar

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.parsers import JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.errors import BadInput, StillComputing
from config.api_bases import StrictSerializer, StrictView
from config.http.body_limit import takes_large_files
from experiments.api.serializers import JobSerializer, ObjectField, PlainText
from experiments.intake.previews import PURPOSE, Preview, import_later, needs_confirmation
from experiments.intake.uploads import discard_uploads, find_batch, save_uploads
from experiments.materials.encoding import CODECS
from experiments.materials.findings import LEFT_OUT_FOR
from experiments.materials.readers.layout import SHOWN_ROWS, parse_split
from experiments.materials.schema import FORMATS, parse_mapping
from experiments.models import Job, Lab, Upload
from experiments.pages.materials.reading import read_or_job

LANGUAGE = r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"
OPTIONAL: dict[str, Any] = {"required": False, "allow_blank": True}


class AboutSerializer(StrictSerializer):
    """Description of a material set."""

    name = PlainText(max_length=200)
    language = serializers.RegexField(LANGUAGE, max_length=35, help_text="BCP 47.")
    source = PlainText(max_length=500, **OPTIONAL)  # type: ignore[assignment]  # DRF allows a field of this name
    licence = PlainText(max_length=200, **OPTIONAL)


class UploadRequest(AboutSerializer):
    """Files that belong together, as multipart form data."""

    files = serializers.ListField(child=serializers.FileField(), min_length=1)
    lab = serializers.SlugField(required=False, help_text="Lab whose quota they count towards.")


class ReadingRequest(AboutSerializer):
    """Choices of how the files are read."""

    format = serializers.ChoiceField(list(FORMATS), required=False)
    mapping = serializers.DictField(
        child=PlainText(max_length=300, allow_blank=True),
        required=False,
        help_text="Our column: the file's column; `a+b` joins columns.",
    )
    levels = serializers.DictField(
        child=serializers.ListField(child=PlainText(max_length=300)),
        required=False,
        help_text="Levels of a factor in their order; `0:short` names the level of the value 0.",
    )
    encoding = serializers.ChoiceField(list(CODECS), help_text="Of all files.", **OPTIONAL)
    sheet = PlainText(max_length=300, **OPTIONAL)
    header_row = serializers.IntegerField(required=False, min_value=0, max_value=SHOWN_ROWS)
    split_condition = PlainText(
        max_length=100, help_text="For example `_=grammaticality,number`.", **OPTIONAL
    )
    split_paradigms = serializers.BooleanField(required=False)
    leave_out = serializers.ListField(
        child=serializers.ChoiceField(list(LEFT_OUT_FOR)), required=False, help_text="Checks whose items go."
    )

    def validate_mapping(self, mapping: dict[str, str]) -> dict[str, str]:
        """Refuse columns that are none of ours."""
        return parse_mapping([f"{ours}={theirs}" for ours, theirs in mapping.items()])

    def validate_levels(self, levels: dict[str, list[str]]) -> dict[str, list[tuple[str, str]]]:
        """Values with the names of their levels."""
        parts = {column: [value.partition(":") for value in values] for column, values in levels.items()}
        return {column: [(value, name or value) for value, _, name in rows] for column, rows in parts.items()}

    def validate_split_condition(self, text: str) -> str:
        """Refuse what names no factors."""
        parse_split(text)
        return text


class UploadFileSerializer(StrictSerializer):
    """One file."""

    name = serializers.CharField()
    bytes = serializers.IntegerField(source="n_bytes")


class UploadSerializer(StrictSerializer):
    """Uploaded files and how they are read."""

    id = serializers.UUIDField(help_text="Of the files together.")
    state = serializers.ChoiceField(["reading", "read", "failed"])
    job = serializers.IntegerField(allow_null=True, help_text="That reads large files.")
    error = serializers.CharField(allow_blank=True, help_text="Why they cannot be read or imported.")
    files = UploadFileSerializer(many=True)
    options = ObjectField(help_text="The choices.")
    preview = ObjectField(help_text="Columns, proposed mapping, findings, first rows; empty while reading.")


class UploadAPIView(StrictView, generics.GenericAPIView[Any]):
    """Base of the views; uploads are their owner's only."""

    queryset = Upload.objects.none()
    serializer_class: Any = UploadSerializer
    pagination_class = None
    purpose: ClassVar[str] = PURPOSE

    def uploads(self) -> list[Upload]:
        """The files of the address."""
        if not (uploads := find_batch(self.request.user, self.kwargs["id"], purpose=self.purpose)):
            raise Http404
        return uploads

    def read(self, uploads: list[Upload]) -> Preview | Job:
        """How the files are read, or the job that reads large ones."""
        return read_or_job(uploads)

    def problem(self, uploads: list[Upload], reading: Preview) -> str:
        """What keeps the files from being imported as they are read; empty where nothing does."""
        return problem(uploads, reading)

    def respond(self, uploads: list[Upload], code: int = status.HTTP_200_OK) -> Response:
        """Respond with the reading, 202 while a job reads the files."""
        reading = self.read(uploads)
        document: dict[str, Any] = {"id": uploads[0].batch, "files": uploads, "options": uploads[0].options}
        row: dict[str, Any]
        if not isinstance(reading, Job):
            row = {"state": "read", "job": None, "error": self.problem(uploads, reading), "preview": reading}
        elif reading.state == Job.State.FAILED:
            row = {"state": "failed", "job": reading.pk, "error": reading.error, "preview": {}}
        else:
            row = {"state": "reading", "job": reading.pk, "error": "", "preview": {}}
            code = status.HTTP_202_ACCEPTED
        return Response(UploadSerializer(document | row).data, status=code)


def problem(uploads: list[Upload], reading: Preview) -> str:
    """Return what keeps the files from being imported as they are read; empty where nothing does."""
    options = uploads[0].options
    if "error" in reading:
        return str(reading["error"])
    if reading["blocking"]:
        return " ".join(str(finding["message"]) for finding in reading["blocking"])
    if reading["proposed"] and not options.get("mapping"):
        proposed = ", ".join(f"{ours} = {theirs}" for ours, theirs in reading["proposed"].items() if theirs)
        return f"The columns are proposed, not recognized: {proposed}. Send the mapping that is right."
    if needs_confirmation(reading, options):
        return "The encoding is inferred from the characters. Send the encoding that is right."
    return ""


@takes_large_files
class UploadsView(UploadAPIView):
    """Files of materials."""

    parser_classes = [MultiPartParser]

    @extend_schema(
        summary="Upload files of materials",
        request={"multipart/form-data": UploadRequest},
        responses={201: UploadSerializer, 202: UploadSerializer},
    )
    def post(self, request: Request) -> Response:
        """How they are read; 202 while a job reads large ones. Nothing is imported yet."""
        body = UploadRequest(data=request.data)
        body.is_valid(raise_exception=True)
        data = dict(body.validated_data)
        files, slug = data.pop("files"), data.pop("lab", "")
        lab = Lab.objects.open_to_studies_by(request.user).filter(slug=slug).first()
        if slug and lab is None:
            raise serializers.ValidationError({"lab": ["There is no such lab for you."]})
        uploads = save_uploads(request.user, files, purpose=PURPOSE, options=data, lab=lab)
        return self.respond(uploads, status.HTTP_201_CREATED)


class UploadView(UploadAPIView):
    """One upload."""

    parser_classes = [JSONParser]

    @extend_schema(
        summary="How uploaded files are read", responses={200: UploadSerializer, 202: UploadSerializer}
    )
    def get(self, request: Request, id: str) -> Response:
        """The preview; 202 while a job reads the files."""
        return self.respond(self.uploads())

    @extend_schema(
        summary="Choose how uploaded files are read",
        request=ReadingRequest,
        responses={200: UploadSerializer, 202: UploadSerializer},
    )
    def patch(self, request: Request, id: str) -> Response:
        """The preview with these choices; those that are not sent stay."""
        uploads = self.uploads()
        body = ReadingRequest(data=request.data, partial=True)
        body.is_valid(raise_exception=True)
        uploads[0].options = {**uploads[0].options, **body.validated_data}
        uploads[0].save(update_fields=["options"])
        return self.respond(uploads)

    @extend_schema(summary="Discard uploaded files", responses={204: None})
    def delete(self, request: Request, id: str) -> Response:
        """Nothing of them is kept."""
        discard_uploads(self.uploads())
        return Response(status=status.HTTP_204_NO_CONTENT)


class ImportAPIView(UploadAPIView):
    """Base of the imports."""

    serializer_class = JobSerializer
    may_be_early = True

    def readable_uploads(self) -> list[Upload]:
        """The files of the address, unless something keeps them from being imported."""
        uploads = self.uploads()
        self.refuse_body()
        reading = self.read(uploads)
        if isinstance(reading, Job):
            if reading.state == Job.State.FAILED:
                raise BadInput(reading.error)
            raise StillComputing("the files are being read.", remedy="Ask again.")
        if reason := self.problem(uploads, reading):
            raise BadInput(reason)
        return uploads


class UploadImportView(ImportAPIView):
    """The import."""

    @extend_schema(
        summary="Import uploaded files as materials",
        request=None,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, id: str) -> Response:
        """The job, whose result has the `slug` of the set; 422 names what keeps them from being imported."""
        job = import_later(self.readable_uploads())
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)
