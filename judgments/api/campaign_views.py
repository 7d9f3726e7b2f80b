"""Campaigns on recruitment platforms over REST: drafts, publication, places, submissions, decisions, sending.

What a platform is paid for needs the scope ``money``, what names its submissions the scope ``people``.
"""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.errors import BadInput
from config.api_bases import StrictModelSerializer, StrictSerializer
from experiments.api.serializers import BIGGEST, JobSerializer, PlainText, check_fields
from experiments.api.views import StudyAPIView
from experiments.models import ApiToken, Campaign, Mode, PlatformAccount
from judgments.api.participant_views import ChangedSerializer, IdsField, find_rows
from judgments.models import PlatformCall, Submission
from judgments.recruitment import campaigns, decisions, ledger
from judgments.recruitment.credentials import is_simulated, usable_accounts
from judgments.recruitment.pages.campaign_access import get_campaign, mode_note, platform_campaigns
from judgments.recruitment.pages.setup_views import free_name, longest_texts, proposed_settings
from judgments.recruitment.pages.submission_views import LONGEST_MESSAGE, plan_message
from judgments.recruitment.payments import LONGEST_REASON
from judgments.recruitment.reconcile import reconcile_later
from judgments.recruitment.recruiter import Level, get_recruiter

LONGEST_PARTICIPANT_TEXT = 5_000
AMOUNT: dict[str, Any] = {
    "required": False,
    "allow_null": True,
    "min_value": 0,
    "max_value": BIGGEST,
    "help_text": "In minor units; null: no limit.",
}
ACTIONS = {
    "pause": campaigns.pause,
    "resume": campaigns.resume,
    "stop": campaigns.stop,
    "close": campaigns.close,
}


class AccountSerializer(StrictModelSerializer[PlatformAccount]):
    """An account of a platform that the study may use; its secrets are never returned."""

    is_live = serializers.SerializerMethodField()

    class Meta:
        model = PlatformAccount
        fields = ["id", "platform", "label", "mode", "is_live"]
        read_only_fields = fields

    def get_is_live(self, row: PlatformAccount) -> bool:
        """Whether it spends money."""
        return mode_note(row).is_live


class CampaignSettings(StrictModelSerializer[Campaign]):
    """Settings of a campaign; of a published one, only its limits change."""

    places = serializers.IntegerField(required=False, min_value=1, max_value=100_000)
    reward_minor = serializers.IntegerField(required=False, min_value=0, max_value=BIGGEST)
    estimated_minutes = serializers.IntegerField(required=False, min_value=1, max_value=1_440)
    maximum_minutes = serializers.IntegerField(
        required=False, allow_null=True, min_value=2, max_value=100_000, help_text="Null: the platform's."
    )
    total_limit_minor = serializers.IntegerField(**AMOUNT)
    daily_limit_minor = serializers.IntegerField(**AMOUNT)
    payment_limit_minor = serializers.IntegerField(**AMOUNT)
    two_people_above_minor = serializers.IntegerField(**AMOUNT)
    title = PlainText(required=False, max_length=1_000, help_text="Participants read it on the platform.")
    description = PlainText(required=False, max_length=20_000)

    class Meta:
        model = Campaign
        fields = [
            "places", "reward_minor", "estimated_minutes", "maximum_minutes", "total_limit_minor",
            "daily_limit_minor", "payment_limit_minor", "two_people_above_minor", "title", "description",
        ]  # fmt: skip


class NewCampaign(CampaignSettings):
    """A draft with the proposals of its page where nothing else is sent."""

    account = serializers.IntegerField(min_value=1, max_value=2**63 - 1, help_text="Id of an account.")
    name = serializers.SlugField(required=False, max_length=100)

    class Meta(CampaignSettings.Meta):
        fields = ["account", "name", *CampaignSettings.Meta.fields]


class CampaignSerializer(CampaignSettings):
    """A campaign."""

    account = serializers.IntegerField(source="account_id", read_only=True)
    title = PlainText(source="options.title", default="", read_only=True)
    description = PlainText(source="options.description", default="", read_only=True)

    class Meta(CampaignSettings.Meta):
        fields = [
            "id", "name", "recruiter", "account", "mode", "state", "currency", "external_id",
            *CampaignSettings.Meta.fields, "created_at", "published_at", "reconciled_at",
        ]  # fmt: skip
        read_only_fields = fields


class CallSerializer(StrictModelSerializer[PlatformCall]):
    """A call to a platform; `unknown` means that it may have acted."""

    campaign = serializers.CharField(source="campaign.name", read_only=True)

    class Meta:
        model = PlatformCall
        fields = [
            "id", "campaign", "kind", "state", "problem", "amount_minor", "fee_minor", "currency",
            "created_at", "sent_at", "settled_at",
        ]  # fmt: skip
        read_only_fields = fields


class PlatformFinding(StrictSerializer):
    """One result of a check."""

    level = serializers.ChoiceField([level.value for level in Level])
    text = serializers.CharField()
    remedy = serializers.CharField(allow_blank=True)
    field = serializers.CharField(allow_blank=True)


class CostSerializer(StrictSerializer):
    """A sum in minor units."""

    reward_minor = serializers.IntegerField()
    fee_minor = serializers.IntegerField()
    total_minor = serializers.IntegerField()
    currency = serializers.CharField()


class ChecksSerializer(StrictSerializer):
    """What to know before a campaign is published."""

    cost = CostSerializer()
    findings = PlatformFinding(many=True)


class CampaignAPIView(StudyAPIView):
    """Base of the views of a study's campaigns."""

    change_scope: Any = ApiToken.Scope.MONEY
    queryset: Any = Campaign.objects.none()
    serializer_class: Any = CampaignSerializer

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse viewers before the body is read."""
        super().initial(request, *args, **kwargs)
        if request.method not in SAFE_METHODS:
            self.study()

    def campaign(self) -> Campaign:
        """The campaign of the address."""
        return get_campaign(self.study(), self.kwargs["pk"])

    def site(self) -> dict[str, str]:
        """The address of this installation, to which the platform leads participants."""
        return {"site": self.request.build_absolute_uri("/").rstrip("/")}


class AccountFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the accounts."""

    platform = filters.CharFilter(help_text="Such as prolific or mturk.")


@extend_schema_view(
    get=extend_schema(summary="Accounts of platforms that a study may use", description="One page.")
)
class AccountViews(CampaignAPIView, generics.ListAPIView[PlatformAccount]):
    """Accounts."""

    filterset_class = AccountFilter
    queryset = PlatformAccount.objects.none()
    serializer_class = AccountSerializer

    def get_queryset(self) -> QuerySet[PlatformAccount]:
        """In the order in which they were added."""
        return usable_accounts(self.study()).order_by("pk")


def split_options(
    settings: dict[str, Any], campaign_options: dict[str, Any], platform: str
) -> dict[str, Any]:
    """Settings with their texts among the options; a text longer than the platform takes is an error."""
    texts = {name: settings.pop(name) for name in ("title", "description") if name in settings}
    longest = longest_texts(platform)
    errors: dict[str, Any] = {
        name: [f"The platform takes at most {longest[name]} characters."]
        for name, text in texts.items()
        if len(text) > longest[name]
    }
    if errors:
        raise serializers.ValidationError(errors)
    return {**settings, "options": {**campaign_options, **texts}}


class CampaignFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the campaigns."""

    state = filters.ChoiceFilter(choices=Campaign.State.choices)
    recruiter = filters.CharFilter(help_text="Such as prolific or mturk.")
    mode = filters.ChoiceFilter(choices=Mode.choices, help_text="Whether it spends money.")


@extend_schema_view(get=extend_schema(summary="Campaigns of a study, newest first", description="One page."))
class CampaignViews(CampaignAPIView, generics.ListAPIView[Campaign]):
    """Campaigns."""

    filterset_class = CampaignFilter

    def get_queryset(self) -> QuerySet[Campaign]:
        """Those on platforms with an account."""
        return platform_campaigns(self.study())

    @extend_schema(summary="Draft a campaign", request=NewCampaign, responses={201: CampaignSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Proposals from the study where nothing is sent; nothing is sent to the platform."""
        study, data = self.study(), self.validated_body(NewCampaign)
        accounts = {row.pk: row for row in usable_accounts(study) if not is_simulated(row)}
        account = accounts.get(data.pop("account"))
        if account is None:
            raise serializers.ValidationError({"account": ["The study has no such account."]})
        name = data.pop("name", None) or free_name(study, account.platform)
        proposed = proposed_settings(study, account)
        settings = split_options(data, {**proposed["options"], **self.site()}, account.platform)
        campaign = campaigns.create_draft(
            study,
            recruiter=account.platform,
            name=name,
            by=self.user,
            account=account,
            **{**proposed, **settings},
        )
        return Response(CampaignSerializer(campaign).data, status=status.HTTP_201_CREATED)


class CampaignView(CampaignAPIView):
    """One campaign."""

    @extend_schema(summary="One campaign", responses=CampaignSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """The campaign."""
        return Response(CampaignSerializer(self.campaign()).data)

    @extend_schema(
        summary="Change a draft, or the limits of any campaign",
        request=CampaignSettings,
        responses=CampaignSerializer,
    )
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """422 names what cannot change any more."""
        data, campaign = self.validated_body(CampaignSettings, partial=True), self.campaign()
        if {"title", "description"} & data.keys():
            data = split_options(data, {**campaign.options, **self.site()}, campaign.recruiter)
        return Response(CampaignSerializer(campaigns.change_draft(campaign, by=self.user, **data)).data)

    @extend_schema(summary="Discard a draft", responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Only one of which the platform knows nothing."""
        campaigns.discard(self.campaign(), by=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class CampaignChecksView(CampaignAPIView):
    """Checks."""

    serializer_class = ChecksSerializer

    @extend_schema(summary="Cost and checks of a campaign", responses=ChecksSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Our checks, then the platform's, which is asked; an error keeps the draft from being published."""
        campaign = self.campaign()
        findings = campaigns.checks(campaign)
        return Response(ChecksSerializer({"cost": campaigns.cost(campaign), "findings": findings}).data)


class PublishRequest(StrictSerializer):
    """Confirmation of the cost."""

    total_minor = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=BIGGEST,
        help_text="Total cost as in the checks; needed where the account spends money.",
    )


class PublishView(CampaignAPIView):
    """Publication."""

    serializer_class = CallSerializer

    @extend_schema(summary="Publish a campaign", request=PublishRequest, responses=CallSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """The call to the platform with its state; 422 names the first check that fails."""
        data, campaign = self.validated_body(PublishRequest), self.campaign()
        assert campaign.account is not None
        if mode_note(campaign.account).is_live:
            total = campaigns.cost(campaign).total_minor
            if data.get("total_minor") != total:
                raise BadInput(
                    "the total was not confirmed: nothing was sent.", remedy=f"Send total_minor: {total}."
                )
        return Response(CallSerializer(campaigns.publish(campaign, by=self.user)).data)


class ActionRequest(StrictSerializer):
    """What to do."""

    action = serializers.ChoiceField(list(ACTIONS))


class CampaignActionView(CampaignAPIView):
    """States of a campaign."""

    serializer_class = CallSerializer

    @extend_schema(
        summary="Pause, resume, stop or close a campaign", request=ActionRequest, responses=CallSerializer
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """The call with its state; closing is 422 while people wait for a decision or money."""
        chosen, campaign = self.validated_body(ActionRequest)["action"], self.campaign()
        return Response(CallSerializer(ACTIONS[chosen](campaign, by=self.user)).data)


class PlacesRequest(StrictSerializer):
    """Further places."""

    n = serializers.IntegerField(min_value=1, max_value=100_000, help_text="Places to add.")
    places = serializers.IntegerField(
        min_value=0, max_value=BIGGEST, help_text="Places now: where they have changed, none are added."
    )


class PlacesView(CampaignAPIView):
    """Places."""

    serializer_class = CallSerializer

    @extend_schema(
        summary="Add places to a published campaign", request=PlacesRequest, responses=CallSerializer
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """The call with its state."""
        data, campaign = self.validated_body(PlacesRequest), self.campaign()
        call = campaigns.top_up(campaign, data["n"], by=self.user, places=data["places"])
        return Response(CallSerializer(call).data)


class ReadView(CampaignAPIView):
    """The platform's list of submissions."""

    change_scope = ApiToken.Scope.PEOPLE
    takes_no_body = True
    serializer_class = JobSerializer

    @extend_schema(
        summary="Read the submissions from the platform", request=None, responses={202: JobSerializer}
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """The job; one that is waiting or running is returned."""
        job = reconcile_later(self.campaign(), by=self.user)
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class SubmissionSerializer(StrictModelSerializer[Submission]):
    """A person's place in a campaign, without the platform's id of the person."""

    session = serializers.IntegerField(source="session_id", read_only=True, allow_null=True)
    participant = serializers.CharField(
        source="session.participant.pseudonym", read_only=True, allow_null=True, default=None
    )
    mismatches = serializers.ListField(child=serializers.CharField(), read_only=True)
    decision = serializers.CharField(read_only=True, help_text="approve, reject, request_return, or empty.")

    class Meta:
        model = Submission
        fields = [
            "id", "session", "participant", "status", "platform_status", "started_at", "submitted_at",
            "decide_by", "mismatches", "decision", "category", "message", "reason", "decided_at",
        ]  # fmt: skip
        read_only_fields = fields


class SubmissionFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the submissions."""

    status = filters.ChoiceFilter(choices=Submission.Status.choices)
    decision = filters.ChoiceFilter(
        choices=[("none", "none"), *Submission.Decision.choices[1:]], method="decided_as"
    )

    class Meta:
        model = Submission
        fields: list[str] = []

    def decided_as(self, rows: QuerySet[Submission], name: str, value: str) -> QuerySet[Submission]:
        """Those with this decision."""
        return rows.filter(decision="" if value == "none" else value)


@extend_schema_view(get=extend_schema(summary="Submissions of a campaign", description="One page."))
class SubmissionViews(CampaignAPIView, generics.ListAPIView[Submission]):
    """Submissions."""

    further_scope = ApiToken.Scope.PEOPLE
    queryset = Submission.objects.none()
    serializer_class = SubmissionSerializer
    filterset_class = SubmissionFilter

    def get_queryset(self) -> QuerySet[Submission]:
        """In the order in which they came."""
        rows = Submission.objects.filter(campaign=self.campaign())
        return rows.select_related("session__participant").order_by("pk")


class DecisionRequest(StrictSerializer):
    """One decision on several submissions; nothing is sent before `sending/`."""

    decision = serializers.ChoiceField(["approve", "reject", "request_return", "undo"])
    submissions = IdsField()
    category = PlainText(required=False, max_length=40, help_text="Ground of a rejection.")
    message = PlainText(
        required=False, max_length=LONGEST_PARTICIPANT_TEXT, help_text="What the participant reads."
    )
    reason = PlainText(required=False, default="", max_length=LONGEST_REASON, help_text="For the team.")

    def validate(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """What a decision needs, and nothing that it would not use."""
        decision = attributes["decision"]
        needed = {"reject": {"category", "message"}, "request_return": {"message"}}.get(decision, set())
        sent = {"category", "message"} & attributes.keys()
        if decision == "undo" and attributes["reason"]:
            sent.add("reason")
        check_fields(sent, needed)
        return attributes


class DecisionsView(CampaignAPIView):
    """Decisions."""

    serializer_class = ChangedSerializer

    @extend_schema(summary="Decide on submissions", request=DecisionRequest, responses=ChangedSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """The number of those that waited for a decision; a rejection takes one submission at a time."""
        data, campaign = self.validated_body(DecisionRequest), self.campaign()
        rows = find_rows(
            Submission.objects.filter(campaign=campaign), data["submissions"], field="submissions"
        )
        if data["decision"] == "reject" and len(data["submissions"]) > 1:
            raise serializers.ValidationError({"submissions": ["A rejection is decided for one person."]})
        return Response({"changed": self.decide(campaign, rows, data)})

    def decide(self, campaign: Campaign, rows: QuerySet[Submission], data: dict[str, Any]) -> int:
        """Store the decision."""
        if data["decision"] == "undo":
            return decisions.undo(campaign, rows, by=self.user)
        texts: dict[str, Any] = {name: data[name] for name in ("category", "message") if name in data}
        options: dict[str, Any] = {"by": self.user, "reason": data["reason"], **texts}
        if data["decision"] == "reject":
            return decisions.reject(campaign, rows, **options)
        if data["decision"] == "request_return":
            return decisions.request_return(campaign, rows, **options)
        return decisions.approve(campaign, rows, **options)


class SendingSerializer(StrictSerializer):
    """What would be sent now."""

    n_approvals = serializers.IntegerField()
    n_rejections = serializers.IntegerField()
    n_return_requests = serializers.IntegerField()
    n_bonuses = serializers.IntegerField()
    n_waiting_for_second_person = serializers.IntegerField()
    reward_minor = serializers.IntegerField()
    bonus_minor = serializers.IntegerField()
    fee_minor = serializers.IntegerField()
    total_minor = serializers.IntegerField()
    findings = PlatformFinding(many=True)


def describe_sending(campaign: Campaign, sending: decisions.PlannedSending) -> dict[str, Any]:
    """The numbers and sums of a sending."""
    lists = ("approvals", "rejections", "return_requests", "bonuses")
    sums = ("reward_minor", "bonus_minor", "fee_minor", "total_minor", "findings")
    return {
        **{f"n_{name}": len(getattr(sending, name)) for name in lists},
        **{name: getattr(sending, name) for name in sums},
        "n_waiting_for_second_person": decisions.waiting_for_second_person(campaign).count(),
    }


class SendRequest(StrictSerializer):
    """Confirmation of the sum."""

    total_minor = serializers.IntegerField(
        min_value=0,
        max_value=BIGGEST,
        help_text="As GET returned it; where it has changed, nothing is sent.",
    )


class SendingView(CampaignAPIView):
    """Decisions that are not sent yet."""

    serializer_class = SendingSerializer

    @extend_schema(summary="Decisions that would be sent now, with their cost", responses=SendingSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Numbers and sums; the platform is asked about its fees."""
        campaign = self.campaign()
        return Response(SendingSerializer(describe_sending(campaign, decisions.preview(campaign))).data)

    @extend_schema(
        summary="Send the decisions to the platform, and pay",
        request=SendRequest,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """The job; payments above a limit wait for a second person."""
        total, campaign = self.validated_body(SendRequest)["total_minor"], self.campaign()
        decisions.plan_sending(campaign, by=self.user, total_minor=total)
        job = decisions.send_later(campaign, by=self.user)
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class ReleaseView(CampaignAPIView):
    """The second person."""

    takes_no_body = True
    serializer_class = ChangedSerializer

    @extend_schema(
        summary="Confirm payments that another user planned, and send them",
        request=None,
        responses=ChangedSerializer,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """The number of payments confirmed."""
        campaign = self.campaign()
        n = decisions.release(campaign, by=self.user)
        if n:
            decisions.send_later(campaign, by=self.user)
        return Response({"changed": n})


class MessageRequest(StrictSerializer):
    """A message to a participant."""

    text = PlainText(max_length=LONGEST_MESSAGE)
    key = PlainText(max_length=40, help_text="Sent twice with one key, it is sent once.")


class MessageView(CampaignAPIView):
    """Messages."""

    change_scope = ApiToken.Scope.PEOPLE
    serializer_class = CallSerializer

    @extend_schema(
        summary="Write to a participant over the platform", request=MessageRequest, responses=CallSerializer
    )
    def post(self, request: Request, slug: str, pk: int, submission: int) -> Response:
        """The call with its state."""
        data, campaign = self.validated_body(MessageRequest), self.campaign()
        rows = Submission.objects.select_related("session")
        stored = get_object_or_404(rows, pk=submission, campaign=campaign)
        return Response(CallSerializer(plan_message(campaign, stored, **data, by=self.user)).data)


class CallFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the calls."""

    state = filters.ChoiceFilter(choices=PlatformCall.State.choices)
    kind = filters.ChoiceFilter(choices=PlatformCall.Kind.choices)
    campaign = filters.CharFilter(field_name="campaign__name", help_text="Name of a campaign.")


@extend_schema_view(get=extend_schema(summary="Calls to platforms, newest first", description="One page."))
class CallViews(CampaignAPIView, generics.ListAPIView[PlatformCall]):
    """The ledger of calls."""

    filterset_class = CallFilter
    further_scope = ApiToken.Scope.MONEY
    queryset = PlatformCall.objects.none()
    serializer_class = CallSerializer

    def get_queryset(self) -> QuerySet[PlatformCall]:
        """Calls of the study's campaigns."""
        rows = PlatformCall.objects.filter(campaign__experiment=self.study())
        return rows.select_related("campaign").order_by("-pk")


class CallAPIView(CampaignAPIView):
    """Base of the views of one call."""

    queryset = PlatformCall.objects.none()
    serializer_class = CallSerializer

    def call(self) -> PlatformCall:
        """The call of the address."""
        calls = PlatformCall.objects.select_related(
            "campaign__account", "campaign__experiment", "submission__session"
        )
        return get_object_or_404(calls, pk=self.kwargs["pk"], campaign__experiment=self.study())


class CallAskView(CallAPIView):
    """Calls without an answer."""

    takes_no_body = True

    @extend_schema(
        summary="Ask the platform about a call without an answer", request=None, responses=CallSerializer
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """The call; unchanged where its request may still be on its way."""
        call = self.call()
        if ledger.unresolved_calls(call.campaign).filter(pk=call.pk).exists():
            ledger.resolve(call, recruiter=get_recruiter(call.campaign))
        return Response(CallSerializer(call).data)


class SettleRequest(StrictSerializer):
    """What a person saw on the platform's own site."""

    took_effect = serializers.BooleanField()
    note = PlainText(max_length=LONGEST_REASON, help_text="Where it was seen.")


class CallSettleView(CallAPIView):
    """Calls that a person settles."""

    @extend_schema(
        summary="Store what was seen about an unknown call", request=SettleRequest, responses=CallSerializer
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Stored with your name."""
        data, call = self.validated_body(SettleRequest), self.call()
        ledger.settle(call, **data, by=self.user)
        call.refresh_from_db()
        return Response(CallSerializer(call).data)
