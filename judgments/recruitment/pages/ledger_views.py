"""Payments of a study: the ledger of calls, what is unknown, totals, and the file for accounting."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import Count, F, Q, Sum
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from analysis.power.money import format_money
from analysis.text import no_formula, plural
from experiments.models import Experiment
from experiments.pages.access import AuthenticatedRequest, audit, get_study, may_edit, may_see_ids
from experiments.pages.forms import paginate
from judgments.models import PlatformCall
from judgments.recruitment import decisions, ledger
from judgments.recruitment.credentials import platform_secrets
from judgments.recruitment.pages.campaign_access import action, platform_campaigns, report
from judgments.recruitment.recruiter import get_recruiter, platform_label

Kind, State = PlatformCall.Kind, PlatformCall.State
PER_PAGE = 50
SHOWN_KINDS = {Kind.APPROVE, Kind.PAY_BONUSES, Kind.PREPARE_BONUSES, Kind.REJECT, Kind.REQUEST_RETURN}
FLOW = {
    State.PLANNED: "not sent yet; can be undone",
    State.SENT: "on its way",
    State.CONFIRMED: "the platform confirmed it",
    State.FAILED: "refused: nothing was paid",
    State.UNKNOWN: "never sent twice",
}


class ShowForm(forms.Form):
    """Which calls are listed."""

    state = forms.ChoiceField(
        choices=[("", "all"), *((state, State(state).label) for state in FLOW)], required=False, label="State"
    )
    campaign = forms.ChoiceField(required=False, label="Campaign")

    def __init__(self, *args: Any, study: Experiment, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        campaign = self.fields["campaign"]
        assert isinstance(campaign, forms.ChoiceField)
        names = [(str(row.pk), row.name) for row in platform_campaigns(study)]
        campaign.choices = [("", "all"), *names]


@dataclass(frozen=True)
class Stage:
    """One state of payments with its number and sum."""

    state: str
    label: str
    n: int
    amounts: list[str]
    note: str


@dataclass(frozen=True)
class SumRow:
    """Confirmed payments of one kind in one campaign and currency."""

    campaign: str
    mode: str
    what: str
    paid: str
    fee: str
    total: str


def _calls(study: Experiment) -> Any:
    calls = PlatformCall.objects.filter(campaign__experiment=study).exclude(state=State.CANCELLED)
    uncertain = Q(state__in=[State.SENT, State.UNKNOWN])
    return calls.filter(Q(kind__in=SHOWN_KINDS) | uncertain)


@login_required
def payments(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """The ledger with its totals, 50 rows on a page."""
    study = get_study(request.user, slug)
    form = ShowForm(request.GET, study=study)
    filters = form.cleaned_data if form.is_valid() else {}
    calls = _calls(study)
    if filters.get("state") == State.UNKNOWN:
        calls = calls.filter(state__in=[State.UNKNOWN, State.SENT])
    elif filters.get("state"):
        calls = calls.filter(state=filters["state"])
    if filters.get("campaign"):
        calls = calls.filter(campaign=filters["campaign"])
    rows = calls.select_related("campaign__account", "submission__session__participant", "planned_by")
    page = paginate(request, rows.annotate(n_payments=Count("payments")).order_by("-pk"), most=PER_PAGE)
    unknown = _calls(study).filter(state__in=[State.UNKNOWN, State.SENT]).select_related("campaign")
    context = {
        "study": study,
        "page": "payments",
        "form": form,
        "stages": payment_stages(study),
        "page_of_calls": page,
        "query": "&".join(f"{name}={value}" for name, value in filters.items() if value),
        "is_filtered": any(filters.values()),
        "platforms": {name: platform_label(name) for name in platform_secrets()},
        "unknown": list(unknown[:PER_PAGE]),
        "sums": payment_sums(study),
        "waiting": [
            (campaign, n)
            for campaign in platform_campaigns(study)
            if (n := decisions.waiting_for_second_person(campaign).count())
        ],
        "longest_note": ledger.LONGEST_NOTE,
        "may_edit": may_edit(request.user, study),
    }
    return render(request, "judgments/recruitment/payments.html", context)


def payment_stages(study: Experiment) -> list[Stage]:
    """Payments by state; prepared bonuses count in the call that pays them."""
    calls = PlatformCall.objects.filter(campaign__experiment=study, kind__in=Kind.spending()).order_by()
    sums: dict[str, list[str]] = defaultdict(list)
    counts: dict[str, int] = defaultdict(int)
    rows = calls.values_list("state", "currency").annotate(
        n=Count("pk"), total=Sum(F("amount_minor") + F("fee_minor"))
    )
    for state, currency, n, total in rows:
        counts[state] += n
        sums[state].append(format_money(total, currency))
    return [
        Stage(state, State(state).label.capitalize(), counts[state], sums[state], note)
        for state, note in FLOW.items()
    ]


def payment_sums(study: Experiment) -> list[SumRow]:
    """Confirmed payments by campaign, kind and currency; test mode is told apart."""
    rows = []
    for total in ledger.totals(study):
        if total.state != State.CONFIRMED:
            continue
        rows.append(
            SumRow(
                total.campaign,
                total.mode,
                _what(total),
                format_money(total.amount_minor, total.currency),
                format_money(total.fee_minor, total.currency),
                format_money(total.amount_minor + total.fee_minor, total.currency),
            )
        )
    return rows


def _what(total: ledger.Total) -> str:
    """Return the kinds of a sum: one call approves one reward, and may pay many bonuses."""
    if total.kind == Kind.APPROVE:
        return plural(total.n, "reward")
    return f"bonuses in {plural(total.n, 'call')}"


def _back(study: Experiment, **_numbers: int) -> HttpResponse:
    return redirect("study-payments", study.slug)


def _own_call(study: Experiment, number: int) -> PlatformCall:
    calls = PlatformCall.objects.select_related(
        "campaign__account", "campaign__experiment", "submission__session"
    )
    return get_object_or_404(calls, pk=number, campaign__experiment=study)


@action(_back)
def ask_platform(request: AuthenticatedRequest, study: Experiment, *, call_id: int) -> None:
    """Ask the platform about a call without an answer, before anything is sent again."""
    call = _own_call(study, call_id)
    label = platform_label(call.campaign.recruiter)
    if not ledger.unresolved_calls(call.campaign).filter(pk=call.pk).exists():
        if call.state in {State.SENT, State.UNKNOWN}:
            minutes = round(ledger.ASK_AFTER.total_seconds() / 60)
            messages.info(
                request,
                f"The request may still be on its way. {label} is asked {minutes} minutes after it was sent.",
            )
        else:
            messages.info(request, f"This call is {call.get_state_display()} now.")
        return
    ledger.resolve(call, recruiter=get_recruiter(call.campaign))
    if call.state == State.PLANNED:
        messages.success(request, f"{label} did not act. The call can be sent again.")
    else:
        evidence = call.response.get("resolved", "")
        report(request, call, done=f"{label} acted: the call is confirmed. {evidence}".strip())


@action(_back)
def settle(request: AuthenticatedRequest, study: Experiment, *, call_id: int) -> None:
    """Store what a person saw on the platform's own site about an unknown call."""
    call = _own_call(study, call_id)
    took_effect = {"yes": True, "no": False}.get(request.POST.get("took_effect", ""))
    if took_effect is None:
        messages.error(request, "Say whether the platform acted, and where you saw it.")
        return
    ledger.settle(call, took_effect=took_effect, note=request.POST.get("note", ""), by=request.user)
    messages.success(request, "Stored with your name and note.")


ACCOUNTING_COLUMNS = (
    "campaign",
    "platform",
    "mode",
    "kind",
    "state",
    "amount",
    "fee",
    "currency",
    "sent_at",
    "confirmed_at",
    "call",
)


@login_required
def accounting(request: AuthenticatedRequest, slug: str) -> StreamingHttpResponse:
    """Payments as CSV; with the platform's ids of submissions only if asked for, which the history notes."""
    study = get_study(request.user, slug, editing=True)
    with_ids = request.GET.get("ids") == "yes"
    if with_ids and not may_see_ids(request.user, study):
        raise PermissionDenied("Ids of platforms are for members of the study.")
    audit(request.user, study, "payments downloaded", with_platform_ids=with_ids)
    columns = [*ACCOUNTING_COLUMNS, "submission"] if with_ids else list(ACCOUNTING_COLUMNS)
    response = StreamingHttpResponse(_csv_lines(study, columns), content_type="text/csv; charset=utf-8")
    name = f"{study.slug}-payments-{timezone.now():%Y-%m-%d}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _csv_lines(study: Experiment, columns: list[str]) -> Iterator[str]:
    yield _csv_line(columns)
    for row in ledger.accounting_rows(study):
        yield _csv_line([no_formula(str(row[name])) for name in columns])


def _csv_line(cells: list[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()
