"""API views of publications: where a release is, what would be sent, and the request to send it."""

from typing import Any

from django.db.models import QuerySet, TextField, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.errors import UnknownName
from config.api_bases import ColumnListMixin, StrictModelSerializer, StrictSerializer
from experiments.api.views import StudyAPIView
from experiments.models import PlatformAccount
from judgments.recruitment.credentials import usable_accounts
from releases.api.views import find_ready
from releases.models import Publication, Release
from releases.publishing.publish import REPOSITORIES, check_target, preview, request_publication


class PublicationRequest(StrictSerializer):
    """Target and visibility of a publication."""

    account = serializers.CharField(
        max_length=100, help_text="Label of one of the study's repository accounts."
    )
    target = serializers.CharField(
        max_length=200, required=False, default="", allow_blank=True, help_text="ORG/NAME, on Hugging Face."
    )
    is_public = serializers.BooleanField(
        required=False,
        default=False,
        help_text="For owners: publish it, or the draft that is there, for good; else a draft.",
    )


class PublicationSerializer(StrictModelSerializer[Publication]):
    """A release in a repository."""

    job = serializers.IntegerField(source="job_id", read_only=True, allow_null=True)
    state = serializers.CharField(read_only=True, help_text="sending, done (verified) or failed.")
    place = serializers.CharField(read_only=True, help_text="huggingface, zenodo or osf.")
    mode = serializers.CharField(read_only=True, help_text="test: in the repository's sandbox; or live.")
    address = serializers.CharField(read_only=True, help_text="Empty until the repository has named it.")
    concept_doi = serializers.SerializerMethodField(
        help_text="On Zenodo: the DOI of all versions of the record, which leads to the newest."
    )

    class Meta:
        model = Publication
        fields = [
            "id", "place", "target", "mode", "state", "is_open", "address", "doi", "concept_doi", "error",
            "job", "created_at", "verified_at",
        ]  # fmt: skip
        read_only_fields = fields

    def get_concept_doi(self, publication: Publication) -> str:
        """Empty without one."""
        return str(publication.facts.get("concept_doi", ""))


class PublicationFile(StrictSerializer):
    """A file that would be sent."""

    path = serializers.CharField()
    bytes = serializers.IntegerField()


class PreviewSerializer(StrictSerializer):
    """Content that would be sent."""

    title = serializers.CharField()
    licence = serializers.CharField(help_text="Empty if none is stated.")
    creators = serializers.ListField(child=serializers.CharField())
    files = PublicationFile(many=True)
    bytes = serializers.IntegerField()
    notes = serializers.ListField(child=serializers.CharField())


class PublicationAPIView(StudyAPIView):
    """Base of the views of one release's publications."""

    queryset = Publication.objects.none()
    serializer_class: Any = PublicationSerializer
    may_be_early = True

    def release(self) -> Release:
        """The release, which is ready."""
        return find_ready(self.study(), self.kwargs["number"])

    def account(self, release: Release, label: str) -> PlatformAccount:
        """The study's account of that label."""
        rows = usable_accounts(release.experiment, *REPOSITORIES).order_by("-pk")
        accounts = {row.label: row for row in rows}  # of equal labels, the first account
        if label not in accounts:
            raise UnknownName("account", label, list(accounts))
        return accounts[label]


class PublicationFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the publications."""

    state = filters.ChoiceFilter(choices=Publication.State.choices)
    place = filters.ChoiceFilter(choices=Publication.Place.choices)
    is_open = filters.BooleanFilter(help_text="Whether it is public there.")


@extend_schema_view(get=extend_schema(summary="Where a release is published", description="One page."))
class PublicationViews(ColumnListMixin, PublicationAPIView, generics.ListAPIView[Publication]):
    """Publications of one release."""

    filterset_class = PublicationFilter
    columns = {
        **{name: name for name in PublicationSerializer.Meta.fields},
        "concept_doi": Coalesce(KT("facts__concept_doi"), Value("", TextField())),
        "job": "job_id",
    }

    def get_queryset(self) -> QuerySet[Publication]:
        """In the order in which they were asked for."""
        return Publication.objects.filter(release=self.release())

    @extend_schema(
        summary="Publish a release", request=PublicationRequest, responses={202: PublicationSerializer}
    )
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Queue the job; the same place again verifies it, continues it, or makes a draft public."""
        release, data = self.release(), self.validated_body(PublicationRequest)
        account = self.account(release, data["account"])
        publication = request_publication(
            release, account, target=data["target"], is_public=data["is_public"], by=self.user
        )
        return Response(PublicationSerializer(publication).data, status=status.HTTP_202_ACCEPTED)


class PublicationPreviewView(PublicationAPIView):
    """The dry run."""

    serializer_class = PreviewSerializer

    @extend_schema(
        summary="What publishing a release would send",
        request=PublicationRequest,
        responses=PreviewSerializer,
    )
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Nothing leaves this server."""
        release, data = self.release(), self.validated_body(PublicationRequest)
        account = self.account(release, data["account"])
        check_target(account.platform, data["target"])
        shown = preview(release, account.platform, is_public=data["is_public"], mode=account.mode)
        return Response(PreviewSerializer(shown.as_dict()).data)
