"""Decisions on pay over REST: the ledger of a study, entries for sessions, and their reversal."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from config.api_bases import StrictModelSerializer, StrictSerializer
from experiments.api.serializers import BIGGEST, PlainText, check_fields
from experiments.api.views import StudyAPIView
from experiments.models import ApiToken, Experiment
from judgments.api.participant_views import ChangedSerializer, IdsField, find_rows
from judgments.models import Payment, Session
from judgments.recruitment import payments

APPROVE, BONUS, NOT_PAID, UNDO = "approve", "bonus", "not_paid", "undo"


class PaymentSerializer(StrictModelSerializer[Payment]):
    """One entry of the ledger."""

    session = serializers.IntegerField(source="session_id", read_only=True)
    participant = serializers.CharField(source="session.participant.pseudonym", read_only=True)
    reverses = serializers.IntegerField(source="reverses_id", read_only=True, allow_null=True)
    is_undone = serializers.SerializerMethodField()

    class Meta:
        model = Payment
        fields = [
            "id", "session", "participant", "kind", "amount_minor", "currency", "reason", "reverses",
            "is_undone", "at",
        ]  # fmt: skip
        read_only_fields = fields

    def get_is_undone(self, row: Payment) -> bool:
        """Whether another entry reverses it."""
        return hasattr(row, "reversal")


class PaymentFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no stubs
    """Narrow the ledger."""

    kind = filters.ChoiceFilter(choices=Payment.Kind.choices)
    session = filters.NumberFilter(
        field_name="session", min_value=1, max_value=2**63 - 1, decimal_places=0, help_text="Id of a session."
    )
    participant = filters.CharFilter(
        field_name="session__participant__pseudonym", help_text="Pseudonym of a participant."
    )

    class Meta:
        model = Payment
        fields: list[str] = []


class DecisionsRequest(StrictSerializer):
    """One decision on several sessions."""

    decision = serializers.ChoiceField([APPROVE, BONUS, NOT_PAID, UNDO])
    sessions = IdsField(required=False)
    all = serializers.BooleanField(default=False, help_text="Approve all that are complete and undecided.")
    amount_minor = serializers.IntegerField(
        required=False, min_value=1, max_value=BIGGEST, help_text="Of a bonus, in minor units."
    )
    reason = PlainText(
        required=False, default="", max_length=payments.LONGEST_REASON, help_text="Of a bonus, or of no pay."
    )
    key = PlainText(
        required=False, max_length=40, help_text="Of a bonus: sent twice with one key, it is added once."
    )

    def validate(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """What a decision needs, and nothing that it would not use."""
        decision, bonus_fields = attributes["decision"], {"amount_minor", "key"} & attributes.keys()
        if attributes["all"] == ("sessions" in attributes):
            raise serializers.ValidationError({"sessions": ["Send either sessions or all."]})
        if attributes["all"] and decision != APPROVE:
            raise serializers.ValidationError({"all": ["Only pay is approved for all."]})
        if decision == BONUS and len(bonus_fields) < 2:
            raise serializers.ValidationError({"key": ["A bonus needs amount_minor and key."]})
        if decision != BONUS and bonus_fields:
            raise serializers.ValidationError({name: ["Only for a bonus."] for name in bonus_fields})
        if attributes["reason"] and decision not in {BONUS, NOT_PAID}:
            raise serializers.ValidationError({"reason": ["Only for a bonus, or for no pay."]})
        return attributes


class PaymentRequest(StrictSerializer):
    """A decision on one session."""

    decision = serializers.ChoiceField([APPROVE, BONUS, NOT_PAID])
    amount_minor = serializers.IntegerField(
        required=False, min_value=1, max_value=BIGGEST, help_text="In minor units."
    )
    currency = serializers.RegexField("^[A-Z]{3}$", required=False, help_text="By default the study's.")
    reason = PlainText(required=False, default="", max_length=payments.LONGEST_REASON)
    key = PlainText(
        required=False, max_length=40, help_text="Of a bonus: sent twice with one key, it is added once."
    )

    def validate(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """What a decision needs, and nothing that it would not use."""
        used = {
            APPROVE: {"amount_minor"},
            BONUS: {"amount_minor", "key", "reason"},
            NOT_PAID: {"reason"},
        }[attributes["decision"]]
        check_fields({name for name in ("amount_minor", "key", "reason") if attributes.get(name)}, used)
        return attributes


class PaymentAPIView(StudyAPIView):
    """Base of the views of the ledger."""

    further_scope = ApiToken.Scope.MONEY
    queryset = Payment.objects.none()
    serializer_class: Any = PaymentSerializer


@extend_schema_view(
    get=extend_schema(summary="Ledger of a study, oldest entry first", description="One page.")
)
class PaymentViews(PaymentAPIView, generics.ListAPIView[Payment]):
    """The ledger."""

    filterset_class = PaymentFilter

    def get_queryset(self) -> QuerySet[Payment]:
        """Entries of the study."""
        entries = Payment.objects.filter(session__experiment=self.study())
        return entries.select_related("session__participant", "reversal").order_by("pk")

    @extend_schema(
        summary="Decide on the pay of several sessions",
        operation_id="studies_payments_decide",
        request=DecisionsRequest,
        responses=ChangedSerializer,
    )
    def post(self, request: Request, slug: str) -> Response:
        """Approve the study's pay, decide not to pay, give a bonus, or undo; those decided are left alone."""
        study, data = self.study(), self.validated_body(DecisionsRequest)
        sessions = Session.objects.filter(experiment=study)
        if not data["all"]:
            sessions = find_rows(sessions, data["sessions"], field="sessions")
        return Response({"changed": self.decide(study, sessions, data)})

    def decide(self, study: Experiment, sessions: QuerySet[Session], data: dict[str, Any]) -> int:
        """Store the decision; return the number of entries."""
        if data["decision"] == APPROVE:
            return payments.approve_many(study, sessions, by=self.user)
        if data["decision"] == NOT_PAID:
            return payments.refuse_many(study, sessions, reason=data["reason"], by=self.user)
        if data["decision"] == UNDO:
            return payments.undo_many(study, sessions, by=self.user)
        bonus = {name: data[name] for name in ("amount_minor", "reason", "key")}
        return payments.give_bonuses(study, sessions, **bonus, by=self.user)


class SessionPaymentView(PaymentAPIView):
    """Pay of one session."""

    @extend_schema(
        summary="Decide on the pay of one session",
        request=PaymentRequest,
        responses={201: PaymentSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Approve an amount, give a bonus, or decide not to pay; a repetition returns the earlier entry."""
        study, data = self.study(), self.validated_body(PaymentRequest)
        sessions = Session.objects.select_related("participant", "experiment")
        session = get_object_or_404(sessions, pk=pk, experiment=study)
        currency = data.get("currency", study.currency)
        if data["decision"] == NOT_PAID:
            entry = payments.refuse(session, reason=data["reason"], currency=currency, by=self.user)
        elif data["decision"] == APPROVE:
            amount = data["amount_minor"]
            entry = payments.approve(session, amount_minor=amount, currency=currency, by=self.user)
        else:
            bonus = {name: data[name] for name in ("amount_minor", "reason", "key")}
            entry = payments.give_bonus(session, **bonus, currency=currency, by=self.user)
        return Response(PaymentSerializer(entry).data, status=status.HTTP_201_CREATED)


class PaymentUndoView(PaymentAPIView):
    """The reversal of an entry."""

    takes_no_body = True

    @extend_schema(summary="Reverse an entry of the ledger", request=None, responses={201: PaymentSerializer})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Both entries stay; what was sent to a platform cannot be undone."""
        entries = Payment.objects.select_related("session__participant", "session__experiment")
        entry = get_object_or_404(entries, pk=pk, session__experiment=self.study())
        return Response(
            PaymentSerializer(payments.undo(entry, by=self.user)).data, status=status.HTTP_201_CREATED
        )
