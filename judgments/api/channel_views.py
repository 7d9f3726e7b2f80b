"""Channels, quotas, personal links and alerts of a study over REST."""

from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from config.api_bases import StrictModelSerializer, StrictSerializer
from experiments.api.serializers import PlainText
from experiments.api.views import StudyAPIView
from experiments.models import ApiToken, Campaign, Experiment
from experiments.pages.access import audit, get_locked_study
from judgments.models import Alert, AlertSettings
from judgments.recruitment.alerts import evaluation
from judgments.recruitment.pages.alert_views import store_alert_settings
from judgments.recruitment.pages.channel_views import (
    MAX_ROWS,
    STATE_ACTIONS,
    ChannelForm,
    create_channel,
    initial_values,
    list_channels,
    move_channel,
    own_channel,
    save_channel,
    store_quotas,
)
from judgments.recruitment.panel import PRESETS, shared_link
from judgments.recruitment.quotas import quota_counts
from judgments.sessions.arrival import MAX_VALUE_CHARACTERS, personal_link

BLANK: dict[str, Any] = {"required": False, "allow_blank": True}


class ReturnsSerializer(StrictSerializer):
    """Return links by outcome, with {code}, {participant} and {session} filled in."""

    complete = PlainText(max_length=500, **BLANK)
    screened_out = PlainText(max_length=500, **BLANK)
    over_quota = PlainText(max_length=500, **BLANK)
    refused = PlainText(max_length=500, **BLANK)
    left = PlainText(max_length=500, **BLANK)


class ChannelSerializer(StrictModelSerializer[Campaign]):
    """A channel: a link for participants of one site, with its parameters and return links."""

    name = serializers.SlugField(max_length=100, help_text="Ends the link.")
    preset = serializers.ChoiceField(
        ["", *PRESETS], required=False, source="options.preset", help_text="Fills in what is not sent."
    )
    places = serializers.IntegerField(
        required=False, min_value=0, max_value=1_000_000, help_text="0: no limit."
    )
    id_parameter = serializers.CharField(max_length=40, source="options.id_parameter", **BLANK)
    submission_parameter = serializers.CharField(
        max_length=40, source="options.submission_parameter", **BLANK
    )
    returns = ReturnsSerializer(required=False, source="options.returns")
    link = serializers.SerializerMethodField(help_text="Paste it into the site.")
    n_complete = serializers.IntegerField(read_only=True, default=0)
    n_screened_out = serializers.IntegerField(read_only=True, default=0)
    n_over_quota = serializers.IntegerField(read_only=True, default=0)
    n_refused = serializers.IntegerField(read_only=True, default=0)

    class Meta:
        model = Campaign
        fields = [
            "name", "state", "preset", "places", "id_parameter", "submission_parameter", "returns", "link",
            "n_complete", "n_screened_out", "n_over_quota", "n_refused",
        ]  # fmt: skip
        read_only_fields = ["state"]

    def get_link(self, row: Campaign) -> str:
        """The address that participants open."""
        return shared_link(self.context["request"], row)


class ChannelChanges(ChannelSerializer):
    """Changes of a channel."""

    class Meta(ChannelSerializer.Meta):
        fields = ["name", "places", "id_parameter", "submission_parameter", "returns"]


class LinkAPIView(StudyAPIView):
    """Base of the views."""

    queryset: Any = Campaign.objects.none()
    serializer_class: Any = ChannelSerializer

    def locked_study(self) -> Experiment:
        """The study, locked until the transaction ends; a closed one is not changed."""
        return get_locked_study(self.user, self.kwargs["slug"])

    def channel(self, study: Experiment, name: str) -> Response:
        """Respond with a channel and its counts."""
        row = get_object_or_404(list_channels(study), name=name)
        return Response(ChannelSerializer(row, context={"request": self.request}).data)


def form_values(data: dict[str, Any]) -> dict[str, Any]:
    """The values of the page's form in a validated body."""
    options = data.pop("options", {})
    returns = options.pop("returns", {})
    options.pop("preset", None)
    return {**data, **options, **{f"return_{outcome}": link for outcome, link in returns.items()}}


def validate_form(form: ChannelForm) -> None:
    """Raise ValidationError with the errors of the page's form."""
    if not form.is_valid():
        raise serializers.ValidationError(form.errors.get_json_data())


class ChannelFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the channels."""

    state = filters.ChoiceFilter(choices=Campaign.State.choices)


@extend_schema_view(get=extend_schema(summary="Channels of a study", description="One page."))
class ChannelViews(LinkAPIView, generics.ListAPIView[Campaign]):
    """Channels."""

    filterset_class = ChannelFilter

    def get_queryset(self) -> QuerySet[Campaign]:
        """In the order in which they were added, with participants by state."""
        channels: QuerySet[Campaign] = list_channels(self.study())
        return channels

    @extend_schema(
        summary="Add a channel, which is open", request=ChannelSerializer, responses={201: ChannelSerializer}
    )
    @transaction.atomic
    def post(self, request: Request, slug: str) -> Response:
        """What is not sent is filled in from the preset."""
        study, data = self.locked_study(), self.validated_body(ChannelSerializer)
        preset = data.get("options", {}).get("preset", "")
        chosen = PRESETS.get(preset)
        values: dict[str, Any] = {}
        if chosen:
            values = {name: getattr(chosen, name) for name in ("id_parameter", "submission_parameter")}
            values |= {f"return_{outcome}": link for outcome, link in chosen.returns.items()}
        form = ChannelForm({**values, **form_values(data)}, study=study)
        validate_form(form)
        channel = create_channel(study, form, preset=preset, by=self.user)
        response = self.channel(study, channel.name)
        response.status_code = status.HTTP_201_CREATED
        return response


class ChannelView(LinkAPIView):
    """One channel."""

    @extend_schema(summary="One channel", responses=ChannelSerializer)
    def get(self, request: Request, slug: str, name: str) -> Response:
        """The channel."""
        return self.channel(self.study(), name)

    @extend_schema(summary="Change a channel", request=ChannelChanges, responses=ChannelSerializer)
    @transaction.atomic
    def patch(self, request: Request, slug: str, name: str) -> Response:
        """What is sent; the name stays once people came over the link."""
        study, data = self.locked_study(), self.validated_body(ChannelChanges, partial=True)
        stored = own_channel(study, name)
        form = ChannelForm({**initial_values(stored), **form_values(data)}, study=study, channel=stored)
        validate_form(form)
        save_channel(stored, form, by=self.user)
        return self.channel(study, stored.name)


class StateRequest(StrictSerializer):
    """What to do with a channel."""

    action = serializers.ChoiceField(list(STATE_ACTIONS))


class ChannelStateView(LinkAPIView):
    """State of a channel."""

    @extend_schema(
        summary="Open, pause or close a channel", request=StateRequest, responses=ChannelSerializer
    )
    @transaction.atomic
    def post(self, request: Request, slug: str, name: str) -> Response:
        """A repetition changes nothing."""
        study, chosen = self.locked_study(), self.validated_body(StateRequest)["action"]
        move_channel(own_channel(study, name), chosen, by=self.user)
        return self.channel(study, name)


class QuotaSerializer(StrictSerializer):
    """The most participants with one answer."""

    question = PlainText(max_length=200, help_text="Name of a question.")
    answer = PlainText(max_length=200, help_text="An answer, or a range such as 18-29.")
    limit = serializers.IntegerField(min_value=0, max_value=1_000_000)


class CountedQuota(QuotaSerializer):
    """A quota with its participants."""

    n = serializers.IntegerField(help_text="Participants that count.")


class QuotasSerializer(StrictSerializer):
    """All quotas of a study."""

    quotas = CountedQuota(many=True)


class QuotasRequest(StrictSerializer):
    """Quotas that replace those of a study."""

    quotas = QuotaSerializer(many=True)


class QuotasView(LinkAPIView):
    """Quotas."""

    serializer_class = QuotasSerializer

    def quotas(self, study: Experiment) -> Response:
        """Respond with the quotas and their counts."""
        rows = [
            {
                "question": row.quota.question,
                "answer": row.quota.answer,
                "limit": row.quota.limit,
                "n": row.n,
            }
            for row in quota_counts(study)
        ]
        return Response({"quotas": rows})

    @extend_schema(summary="Quotas of a study with their participants", responses=QuotasSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """The quotas."""
        return self.quotas(self.study())

    @extend_schema(summary="Replace the quotas of a study", request=QuotasRequest, responses=QuotasSerializer)
    @transaction.atomic
    def put(self, request: Request, slug: str) -> Response:
        """Participants that would exceed one are returned before the first trial."""
        study, rows = self.locked_study(), self.validated_body(QuotasRequest)["quotas"]
        store_quotas(study, rows, by=self.user)
        return self.quotas(study)


class LinksRequest(StrictSerializer):
    """Labels of participants."""

    labels = serializers.ListField(
        child=PlainText(max_length=MAX_VALUE_CHARACTERS),
        min_length=1,
        max_length=MAX_ROWS,
        help_text="One for each person, such as lab-01; stored apart from the answers.",
    )
    until = serializers.DateField(required=False, allow_null=True, help_text="Last day to begin, in UTC.")

    def validate_labels(self, labels: list[str]) -> list[str]:
        """Each once."""
        if len(set(labels)) != len(labels):
            raise serializers.ValidationError("A label is there twice: both would get the same link.")
        return labels

    def validate_until(self, until: Any) -> Any:
        """No day that is over."""
        if until is not None and until < timezone.now().date():
            raise serializers.ValidationError("This day is over.")
        return until


class PersonalLink(StrictSerializer):
    """The link of one person."""

    label = serializers.CharField()  # type: ignore[assignment]  # DRF allows a field of this name
    link = serializers.CharField()


class LinksSerializer(StrictSerializer):
    """Signed links."""

    links = PersonalLink(many=True)


class LinksView(LinkAPIView):
    """Personal links."""

    change_scope = ApiToken.Scope.PEOPLE
    keeps_answers = False
    serializer_class = LinksSerializer

    @extend_schema(summary="Sign personal links", request=LinksRequest, responses=LinksSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """One for each label; the same label has the same link, and nothing is stored before it is opened."""
        study, data = self.study(), self.validated_body(LinksRequest)
        until = data.get("until")
        links = [
            {"label": label, "link": request.build_absolute_uri(personal_link(study, label, until=until))}
            for label in data["labels"]
        ]
        day = until.isoformat() if until else ""
        audit(self.user, study, "personal links downloaded", n_links=len(links), until=day)
        return Response({"links": links})


class AlertSerializer(StrictModelSerializer[Alert]):
    """A condition that needs a person."""

    class Meta:
        model = Alert
        fields = ["id", "kind", "title", "text", "address", "raised_at", "resolved_at", "dismissed_at"]
        read_only_fields = fields


class AlertSettingsSerializer(StrictModelSerializer[AlertSettings]):
    """From when on conditions are worth an alert; 0: never."""

    class Meta:
        model = AlertSettings
        fields = ["full", "idle_hours", "drop_out_percent", "balance_places", "deadline_hours", "webhook"]


class AlertFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the alerts."""

    kind = filters.ChoiceFilter(choices=Alert.Kind.choices)
    is_open = filters.BooleanFilter(method="still_open", help_text="Neither resolved nor dismissed.")

    def still_open(self, rows: QuerySet[Alert], name: str, value: bool) -> QuerySet[Alert]:
        """Open ones, or those that ended."""
        is_open = Q(resolved_at__isnull=True, dismissed_at__isnull=True)
        return rows.filter(is_open if value else ~is_open)


@extend_schema_view(get=extend_schema(summary="Alerts of a study, newest first", description="One page."))
class AlertViews(LinkAPIView, generics.ListAPIView[Alert]):
    """Alerts."""

    filterset_class = AlertFilter
    queryset = Alert.objects.none()
    serializer_class = AlertSerializer

    def get_queryset(self) -> QuerySet[Alert]:
        """Open ones have neither `resolved_at` nor `dismissed_at`."""
        return Alert.objects.filter(experiment=self.study())


class AlertView(LinkAPIView):
    """One alert."""

    queryset = Alert.objects.none()
    serializer_class = AlertSerializer

    @extend_schema(summary="Dismiss an alert until its condition has ended", responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """For the whole team."""
        evaluation.dismiss(get_object_or_404(Alert, pk=pk, experiment=self.study()), by=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class AlertSettingsView(LinkAPIView):
    """Limits of alerts."""

    queryset = AlertSettings.objects.none()
    serializer_class = AlertSettingsSerializer

    @extend_schema(summary="Limits of a study's alerts", responses=AlertSettingsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """The limits."""
        return Response(AlertSettingsSerializer(evaluation.alert_settings(self.study())).data)

    @extend_schema(
        summary="Change the limits of a study's alerts",
        request=AlertSettingsSerializer,
        responses=AlertSettingsSerializer,
    )
    def patch(self, request: Request, slug: str) -> Response:
        """What is sent."""
        study, data = self.study(), self.validated_body(AlertSettingsSerializer, partial=True)
        return Response(AlertSettingsSerializer(store_alert_settings(study, data, by=self.user)).data)
