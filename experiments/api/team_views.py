"""Teams over REST: members and invitations of studies and labs, links for reviewers, labs.

Members read what participants answered, so that changes need the scope ``people`` beside ``write``.
"""

from typing import Any, cast

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from config.api_bases import StrictModelSerializer, StrictSerializer
from experiments.api.authentication import require_scope
from experiments.api.serializers import BIGGEST, PlainText, StudySerializer
from experiments.api.views import StudyAPIView
from experiments.models import ApiToken, Experiment, Invitation, Lab, LabMembership, Membership, ReviewLink
from experiments.pages.access import get_lab, get_study
from experiments.pages.teams import labs
from experiments.pages.teams.invitations import invitation_link, mail_invitation
from experiments.teams import invitations, review_links
from experiments.teams.members import Team, add_member, list_members, only_owners, remove_member

ROLES = dict([*Membership.Role.choices, *LabMembership.Role.choices])
LONGEST_DAYS = 365  # of a link for reviewers


class TeamAPIView(StudyAPIView):
    """Base of the views of a study's or a lab's team; addresses of labs pass ``kind``."""

    change_scope = ApiToken.Scope.PEOPLE
    queryset: Any = Membership.objects.none()
    kind = "study"

    def team(self, *, changing: bool = False) -> Team:
        """The study or lab: 404 without access, 403 for those who may not change its team."""
        slug = self.kwargs["slug"]
        if self.kind == "lab":
            return get_lab(self.user, slug, managing=changing)
        study = get_study(self.user, slug, editing=changing)
        if changing:
            only_owners(study, self.user)
        return study


class MemberSerializer(StrictSerializer):
    """A member with a role."""

    id = serializers.IntegerField(read_only=True)
    user = PlainText(source="user.username", max_length=150, help_text="User name.")
    role = serializers.ChoiceField(
        list(ROLES.items()), help_text="viewer, editor; owner of a study; manager of a lab."
    )


class InvitationSerializer(StrictModelSerializer[Invitation]):
    """An invitation that was neither accepted nor revoked."""

    email = serializers.EmailField(max_length=254)
    role = serializers.ChoiceField(list(ROLES.items()))

    class Meta:
        model = Invitation
        fields = ["id", "email", "role", "created_at", "sent_at", "expires_at"]
        read_only_fields = ["id", "created_at", "sent_at", "expires_at"]


class SentInvitationSerializer(InvitationSerializer):
    """An invitation with its link, which is returned once."""

    link = serializers.CharField(read_only=True)
    is_sent = serializers.BooleanField(
        read_only=True, help_text="Whether it was mailed; else send the link yourself."
    )

    class Meta(InvitationSerializer.Meta):
        fields = [*InvitationSerializer.Meta.fields, "link", "is_sent"]


def check_role(team: Team, role: str) -> None:
    """Refuse a role that teams of the other kind have."""
    roles = (LabMembership if isinstance(team, Lab) else Membership).Role.values
    if role not in roles:
        raise serializers.ValidationError({"role": [f"It is one of {', '.join(roles)}."]})


class RoleFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow members or invitations."""

    role = filters.ChoiceFilter(choices=list(ROLES.items()))


@extend_schema_view(get=extend_schema(summary="Members of a team", description="One page."))
class MemberViews(TeamAPIView, generics.ListAPIView[Any]):
    """Members."""

    filterset_class = RoleFilter
    serializer_class = MemberSerializer

    def get_queryset(self) -> QuerySet[Any]:
        """In the order in which they were added."""
        return list_members(self.team()).select_related("user").order_by("pk")

    @extend_schema(
        summary="Add a member, or give one another role",
        request=MemberSerializer,
        responses={201: MemberSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """By owners of a study or managers of a lab; one of them stays."""
        team, data = self.team(changing=True), self.validated_body(MemberSerializer)
        check_role(team, data["role"])
        member = add_member(team, data["user"]["username"], role=data["role"], by=self.user)
        return Response(MemberSerializer(member).data, status=status.HTTP_201_CREATED)


class MemberView(TeamAPIView):
    """One member."""

    serializer_class = MemberSerializer

    @extend_schema(summary="Remove a member, or leave", responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Members may remove themselves, owners and managers all; one of these stays."""
        team = self.team()
        member = get_object_or_404(list_members(team).select_related("user"), pk=pk)
        remove_member(team, member, by=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class InvitationAPIView(TeamAPIView):
    """Base of the views of invitations; only those who may change the team see them."""

    keeps_answers = False
    queryset = Invitation.objects.none()
    serializer_class: Any = InvitationSerializer

    def sent(self, invitation: Invitation, token: str, code: int) -> Response:
        """Mail the link, and return it."""
        link = invitation_link(self.request, token)
        is_sent = mail_invitation(invitation, link, by=self.user) is True
        invitation.refresh_from_db()
        row = InvitationSerializer(invitation).data
        return Response({**row, "link": link, "is_sent": is_sent}, status=code)


@extend_schema_view(get=extend_schema(summary="Pending invitations to a team", description="One page."))
class InvitationViews(InvitationAPIView, generics.ListAPIView[Invitation]):
    """Invitations."""

    filterset_class = RoleFilter

    def get_queryset(self) -> QuerySet[Invitation]:
        """Newest first."""
        return invitations.pending(self.team(changing=True))

    @extend_schema(
        summary="Invite an address", request=InvitationSerializer, responses={201: SentInvitationSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """The link is mailed where this installation sends mail, and returned once."""
        team, data = self.team(changing=True), self.validated_body(InvitationSerializer)
        check_role(team, data["role"])
        invitation, token = invitations.invite(team, **data, by=self.user)
        return self.sent(invitation, token, status.HTTP_201_CREATED)


class InvitationView(InvitationAPIView):
    """One invitation."""

    @extend_schema(summary="Revoke an invitation", responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Its link opens nothing any more."""
        waiting = invitations.pending(self.team(changing=True))
        invitations.revoke(get_object_or_404(waiting, pk=pk), by=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ResendView(InvitationAPIView):
    """Another link."""

    takes_no_body = True

    @extend_schema(
        summary="Send an invitation again, with another link",
        request=None,
        responses={200: SentInvitationSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """The former link opens nothing any more."""
        waiting = invitations.pending(self.team(changing=True))
        self.refuse_body()
        invitation = get_object_or_404(waiting, pk=pk)
        return self.sent(invitation, invitations.renew(invitation, by=self.user), status.HTTP_200_OK)


class ReviewLinkSerializer(StrictModelSerializer[ReviewLink]):
    """A link for reviewers."""

    label = PlainText(max_length=80, help_text="Such as the journal.")  # type: ignore[assignment]
    days = serializers.IntegerField(write_only=True, min_value=1, max_value=LONGEST_DAYS)
    with_materials = serializers.BooleanField(default=False, help_text="Whether it shows sentences.")

    class Meta:
        model = ReviewLink
        fields = [
            "id", "label", "days", "with_materials", "created_at", "expires_at", "revoked_at", "n_uses",
            "last_used_on",
        ]  # fmt: skip
        read_only_fields = ["id", "created_at", "expires_at", "revoked_at", "n_uses", "last_used_on"]


class NewReviewLinkSerializer(StrictSerializer):
    """A new link, which is returned once."""

    link = serializers.CharField()


class ReviewLinkFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the links."""

    is_active = filters.BooleanFilter(
        method="in_use", help_text="Whether it opens: neither revoked nor expired."
    )

    def in_use(self, rows: QuerySet[ReviewLink], name: str, value: bool) -> QuerySet[ReviewLink]:
        """Those that open, or that do not."""
        opens = Q(revoked_at__isnull=True, expires_at__gt=timezone.now())
        return rows.filter(opens if value else ~opens)


@extend_schema_view(get=extend_schema(summary="Links for reviewers of a study", description="One page."))
class ReviewLinkViews(TeamAPIView, generics.ListAPIView[ReviewLink]):
    """Links for reviewers, for owners."""

    filterset_class = ReviewLinkFilter
    keeps_answers = False
    queryset = ReviewLink.objects.none()
    serializer_class = ReviewLinkSerializer

    def get_queryset(self) -> QuerySet[ReviewLink]:
        """Newest first."""
        return ReviewLink.objects.filter(experiment=cast(Experiment, self.team(changing=True)))

    @extend_schema(
        summary="Make a link for reviewers",
        request=ReviewLinkSerializer,
        responses={201: NewReviewLinkSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """The response has the link, once."""
        study, data = self.team(changing=True), self.validated_body(ReviewLinkSerializer)
        token = review_links.make_link(cast(Experiment, study), **data, by=self.user)
        link = request.build_absolute_uri(reverse("shared", args=[token]))
        return Response({"link": link}, status=status.HTTP_201_CREATED)


class ReviewLinkView(TeamAPIView):
    """One link for reviewers."""

    queryset = ReviewLink.objects.none()
    serializer_class = ReviewLinkSerializer

    @extend_schema(summary="Revoke a link for reviewers", responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """It opens nothing any more."""
        study = cast(Experiment, self.team(changing=True))
        review_links.revoke_link(get_object_or_404(study.review_links, pk=pk), by=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class LabOfStudy(StrictSerializer):
    """The lab of a study."""

    lab = serializers.SlugField(allow_null=True, help_text="Short name; null takes the study out of its lab.")


class StudyLabView(TeamAPIView):
    """The lab of a study."""

    serializer_class = StudySerializer

    @extend_schema(
        summary="Move a study into a lab, or out of it", request=LabOfStudy, responses=StudySerializer
    )
    def put(self, request: Request, slug: str) -> Response:
        """By owners of the study, into a lab that they edit; its members see the study."""
        study, name = self.study(), self.validated_body(LabOfStudy)["lab"]
        labs.move_to_lab(study, get_lab(self.user, name) if name else None, by=self.user)
        return Response(StudySerializer(study).data)


class LabSerializer(StrictModelSerializer[Lab]):
    """A lab."""

    name = PlainText(max_length=120)
    payment_limits = serializers.DictField(
        child=serializers.IntegerField(min_value=1, max_value=BIGGEST),
        required=False,
        help_text="Most for one payment in minor units, by currency; empty: no limit.",
    )
    n_members = serializers.IntegerField(read_only=True, default=0)
    n_studies = serializers.IntegerField(read_only=True, default=0)

    class Meta:
        model = Lab
        fields = ["slug", "name", "payment_limits", "n_members", "n_studies", "created_at"]
        read_only_fields = ["slug", "created_at"]

    def validate_payment_limits(self, limits: dict[str, int]) -> dict[str, int]:
        """Currencies by their ISO codes."""
        if wrong := [code for code in limits if not (len(code) == 3 and code.isascii() and code.isupper())]:
            raise serializers.ValidationError(f"{wrong[0]!r} is no code of a currency, such as GBP.")
        return limits


class NewLab(StrictSerializer):
    """The name of a new lab."""

    name = PlainText(max_length=120)


def counted_labs(user: User) -> QuerySet[Lab]:
    """Labs of a user with their sizes."""
    rows = Lab.objects.filter(pk__in=Lab.objects.visible_to(user).values("pk"))
    return rows.annotate(
        n_members=Count("memberships", distinct=True), n_studies=Count("studies", distinct=True)
    )


class LabAPIView(TeamAPIView):
    """Base of the views of labs."""

    kind = "lab"
    queryset = Lab.objects.none()
    serializer_class = LabSerializer


class LabFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the labs."""

    search = filters.CharFilter(field_name="name", lookup_expr="icontains", help_text="Part of the name.")


@extend_schema_view(get=extend_schema(summary="Your labs", description="One page."))
class LabViews(LabAPIView, generics.ListAPIView[Lab]):
    """Labs of the caller."""

    filterset_class = LabFilter

    def get_queryset(self) -> QuerySet[Lab]:
        """By name."""
        return counted_labs(self.user).order_by("name", "pk")

    @extend_schema(summary="Make a lab, which you manage", request=NewLab, responses={201: LabSerializer})
    def post(self, request: Request) -> Response:
        """Members and studies are added to it."""
        lab = labs.create_lab(self.user, self.validated_body(NewLab)["name"])
        row = counted_labs(self.user).get(pk=lab.pk)
        return Response(LabSerializer(row).data, status=status.HTTP_201_CREATED)


class LabView(LabAPIView):
    """One lab."""

    def row(self, lab: Team) -> Response:
        """The lab as it is stored."""
        return Response(LabSerializer(counted_labs(self.user).get(pk=lab.pk)).data)

    @extend_schema(summary="One lab", responses=LabSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """The lab."""
        return self.row(self.team())

    @extend_schema(
        summary="Rename a lab, or limit its payments", request=LabSerializer, responses=LabSerializer
    )
    @transaction.atomic
    def patch(self, request: Request, slug: str) -> Response:
        """By managers; `payment_limits` needs the scope `money`."""
        lab, data = cast(Lab, self.team(changing=True)), self.validated_body(LabSerializer, partial=True)
        if "payment_limits" in data:
            require_scope(request, ApiToken.Scope.MONEY)
            labs.set_payment_limits(lab, data["payment_limits"], by=self.user)
        if "name" in data:
            labs.rename_lab(lab, data["name"], by=self.user)
        return self.row(lab)

    @extend_schema(summary="Delete a lab without studies", responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Its members lose their roles in it."""
        labs.delete_lab(cast(Lab, self.team(changing=True)), by=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)
