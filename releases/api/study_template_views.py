"""API views of study templates: the file of a study, the built-in ones, and a study from a file."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.errors import BadInput
from config.api_bases import StrictSerializer
from config.api_schema import ErrorSerializer
from experiments.api.serializers import StudySerializer
from experiments.api.views import StudyAPIView
from judgments.api.views import AnyAccept
from releases.api.fields import ANYTHING
from releases.study_templates.create import (
    built_in_file,
    built_in_templates,
    create_from_template,
    read_template,
)
from releases.study_templates.document import MAX_BYTES
from releases.views.study_templates import template_file


class TemplateChoice(StrictSerializer):
    """A built-in template."""

    name = serializers.CharField()
    title = serializers.CharField()
    task = serializers.CharField()
    description = serializers.CharField()


class TemplateRequest(StrictSerializer):
    """A file or the name of a built-in template."""

    template = serializers.CharField(
        max_length=MAX_BYTES,
        required=False,
        trim_whitespace=False,
        help_text="Content of an .obelus.yaml file.",
    )
    built_in = serializers.CharField(max_length=100, required=False, help_text="Name of a built-in template.")
    title = serializers.CharField(
        max_length=200, required=False, help_text="In place of the template's title."
    )
    dry_run = serializers.BooleanField(required=False, default=False, help_text="Store nothing.")


class TemplateSummary(StrictSerializer):
    """Result of a template."""

    title = serializers.CharField()
    task = serializers.CharField()
    makes = serializers.ListField(child=serializers.CharField())
    left_out = serializers.ListField(child=serializers.CharField())
    study = StudySerializer(allow_null=True, help_text="The new draft; null in a dry run.")


class TemplateFileChoices(StrictSerializer):
    """Content of a template's file."""

    materials = serializers.ChoiceField(
        choices=["yes", "no"], required=False, default="yes", help_text="no: without the sentences."
    )


class StudyTemplateView(StudyAPIView):
    """The template of one study."""

    query_class = TemplateFileChoices
    content_negotiation_class = AnyAccept

    @extend_schema(
        summary="A study as a template (YAML)",
        # The document describes what the YAML holds: a mapping, not the bytes of a file.
        responses={(200, "application/yaml"): ANYTHING},
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        """The file."""
        return template_file(self.study(), with_materials=self.validated_query()["materials"] == "yes")


class StudyTemplatesView(StudyAPIView):
    """Built-in templates, and a study from a template."""

    filter_backends = ()
    pagination_class = None

    @extend_schema(summary="Built-in study templates", responses=TemplateChoice(many=True))
    def get(self, request: Request) -> Response:
        """All of them."""
        return Response(built_in_templates())

    @extend_schema(
        summary="Make a study from a template",
        request=TemplateRequest,
        responses={200: TemplateSummary, 201: TemplateSummary, 400: ErrorSerializer, 422: ErrorSerializer},
    )
    def post(self, request: Request) -> Response:
        """Check the template; create the study unless this is a dry run."""
        body = self.validated_body(TemplateRequest)
        if ("template" in body) == ("built_in" in body):
            raise BadInput("give either template or built_in.", remedy="One of them names the template.")
        content = built_in_file(body["built_in"]) if "built_in" in body else body["template"]
        template = read_template(content, file=body.get("built_in", "template"), user=self.user)
        summary = template.summary()
        if body["dry_run"]:
            return Response({**summary, "study": None})
        study = create_from_template(template, self.user, title=body.get("title", ""))
        return Response({**summary, "study": StudySerializer(study).data}, status=status.HTTP_201_CREATED)
