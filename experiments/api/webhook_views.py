"""Webhooks over REST: editors add, change, test and remove them; viewers see them without their addresses."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.response import Response

from config.api_bases import ColumnListMixin, StrictModelSerializer, StrictSerializer
from experiments.api.views import StudyAPIView
from experiments.limits import LimitReached
from experiments.models import Experiment, Webhook, WebhookDelivery
from experiments.pages.access import may_edit
from experiments.webhooks import endpoints
from experiments.webhooks.events import EVENTS, TEST
from experiments.webhooks.targets import MAX_LENGTH


class WebhookRequest(StrictSerializer):
    """Writable fields of a webhook."""

    address = serializers.CharField(max_length=MAX_LENGTH, help_text="Begins with https://.")
    events = serializers.ListField(
        child=serializers.ChoiceField(choices=list(EVENTS)), min_length=1, max_length=len(EVENTS)
    )
    is_enabled = serializers.BooleanField(required=False)


class WebhookSerializer(StrictModelSerializer[Webhook]):
    """A webhook; its secret is in the response that adds or rotates it, and never again."""

    address = serializers.CharField(read_only=True, help_text="Empty for viewers.")
    events = serializers.ListField(child=serializers.CharField(), read_only=True)
    host = serializers.SerializerMethodField()

    class Meta:
        model = Webhook
        fields = [
            "id", "address", "host", "events", "is_enabled", "disabled_reason", "n_failed", "created_at",
        ]  # fmt: skip
        read_only_fields = fields

    def get_host(self, row: Webhook) -> str:
        """The host of the address."""
        return endpoints.address_host(row)

    def to_representation(self, instance: Webhook) -> dict[str, Any]:
        """Leave out the address for viewers: its path may be a secret of the receiver's service."""
        shown = dict(super().to_representation(instance))
        if not self.context.get("may_edit", True):
            shown["address"] = ""
        return shown


class WebhookWithSecretSerializer(WebhookSerializer):
    """A webhook with its new secret."""

    secret = serializers.CharField(read_only=True)

    class Meta(WebhookSerializer.Meta):
        fields = [*WebhookSerializer.Meta.fields, "secret"]


class WebhookAttemptSerializer(StrictSerializer):
    """One attempt of a delivery."""

    at = serializers.CharField()
    status = serializers.IntegerField(help_text="0: no answer.")
    ms = serializers.IntegerField()
    response = serializers.CharField(help_text="The beginning of the response; for editors.")


class WebhookDeliverySerializer(StrictModelSerializer[WebhookDelivery]):
    """One event for one webhook."""

    attempts = WebhookAttemptSerializer(many=True, read_only=True)
    state = serializers.CharField(read_only=True, help_text="waiting, delivered or failed.")

    class Meta:
        model = WebhookDelivery
        fields = ["id", "event_id", "event", "body", "state", "attempts", "created_at", "delivered_at"]
        read_only_fields = fields


@contextmanager
def _throttle() -> Iterator[None]:
    """Respond with 429 and Retry-After where the user sends too much by hand."""
    try:
        yield
    except LimitReached as error:
        raise Throttled(wait=error.retry_after_s) from None


class WebhookAPIView(StudyAPIView):
    """Base of the views of one study's webhooks."""

    queryset = Webhook.objects.none()
    serializer_class: Any = WebhookSerializer

    def webhook(self) -> Webhook:
        """The webhook of the address."""
        return get_object_or_404(self.study().webhooks.select_related("experiment"), pk=self.kwargs["pk"])

    def get_serializer_context(self) -> dict[str, Any]:
        """With the right to see addresses."""
        context = dict(super().get_serializer_context())
        if "slug" in self.kwargs:
            study = Experiment.objects.filter(slug=self.kwargs["slug"]).first()
            context["may_edit"] = study is not None and may_edit(self.request.user, study)
        return context


class WebhookFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the webhooks of a study."""

    is_enabled = filters.BooleanFilter(help_text="Whether it gets events.")


class DeliveryFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the deliveries of a webhook."""

    state = filters.ChoiceFilter(choices=WebhookDelivery.State.choices)
    event = filters.ChoiceFilter(choices=[(name, name) for name in [*EVENTS, TEST]])


@extend_schema_view(get=extend_schema(summary="Webhooks of a study", description="One page."))
class WebhookViews(WebhookAPIView, generics.ListAPIView[Webhook]):
    """The webhooks of a study."""

    filterset_class = WebhookFilter

    def get_queryset(self) -> QuerySet[Webhook]:
        """In the order in which they were added."""
        return Webhook.objects.filter(experiment=self.study())

    @extend_schema(
        summary="Add a webhook", request=WebhookRequest, responses={201: WebhookWithSecretSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Store it; the response has the secret, once."""
        study, data = self.study(), self.validated_body(WebhookRequest)
        webhook = endpoints.add(study, data["address"], events=data["events"], by=self.user)
        if data.get("is_enabled") is False:
            webhook = endpoints.change(webhook, is_enabled=False, by=self.user)
        return Response(WebhookWithSecretSerializer(webhook).data, status=status.HTTP_201_CREATED)


class WebhookView(WebhookAPIView):
    """One webhook."""

    @extend_schema(summary="One webhook", responses=WebhookSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """The webhook."""
        return Response(self.get_serializer(self.webhook()).data)

    @extend_schema(summary="Change a webhook", request=WebhookRequest, responses=WebhookSerializer)
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """Change address or events, disable it, or enable it again."""
        webhook = self.webhook()
        data = self.validated_body(WebhookRequest, partial=True)
        return Response(WebhookSerializer(endpoints.change(webhook, **data, by=self.user)).data)

    @extend_schema(summary="Remove a webhook with its log", responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Remove it."""
        endpoints.remove(self.webhook(), by=self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class WebhookSecretView(WebhookAPIView):
    """The secret of a webhook."""

    takes_no_body = True

    @extend_schema(
        summary="Give a webhook another secret", request=None, responses={200: WebhookWithSecretSerializer}
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """The response has the secret, once; for a day the earlier one signs as well."""
        webhook = endpoints.rotate_secret(self.webhook(), by=self.user)
        return Response(WebhookWithSecretSerializer(webhook).data)


class WebhookTestView(WebhookAPIView):
    """A test of a webhook."""

    takes_no_body = True
    serializer_class = WebhookDeliverySerializer

    @extend_schema(summary="Send a test event", request=None, responses={202: WebhookDeliverySerializer})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Queue the delivery."""
        with _throttle():
            delivery = endpoints.test(self.webhook(), by=self.user)
        return Response(WebhookDeliverySerializer(delivery).data, status=status.HTTP_202_ACCEPTED)


@extend_schema_view(
    get=extend_schema(summary="Deliveries of a webhook, newest first", description="One page.")
)
class DeliveryViews(ColumnListMixin, WebhookAPIView, generics.ListAPIView[WebhookDelivery]):
    """The log of a webhook."""

    filterset_class = DeliveryFilter
    columns = {name: name for name in WebhookDeliverySerializer.Meta.fields}
    serializer_class = WebhookDeliverySerializer

    def get_queryset(self) -> QuerySet[WebhookDelivery]:
        """Newest first."""
        return WebhookDelivery.objects.filter(webhook=self.webhook())

    def list(self, request: Request, *args: object, **kwargs: object) -> Response:
        """One page; without responses for viewers."""
        response = super().list(request)
        if not self.get_serializer_context()["may_edit"]:
            for row in response.data["results"]:
                row["attempts"] = [{**attempt, "response": ""} for attempt in row["attempts"]]
        return response


class DeliverySendView(WebhookAPIView):
    """The repetition of a delivery."""

    takes_no_body = True
    serializer_class = WebhookDeliverySerializer

    @extend_schema(summary="Send a delivery again", request=None, responses={202: WebhookDeliverySerializer})
    def post(self, request: Request, slug: str, pk: int, delivery: int) -> Response:
        """Queue it again with the same id and body."""
        row = get_object_or_404(self.webhook().deliveries.select_related("webhook__experiment"), pk=delivery)
        with _throttle():
            endpoints.repeat(row, by=self.user)
        row.refresh_from_db()
        return Response(WebhookDeliverySerializer(row).data, status=status.HTTP_202_ACCEPTED)
