"""Metrics in Prometheus' text format: counters of this host's web processes, and facts of the database."""

import hmac
from collections.abc import Iterator
from time import time

from django.conf import settings
from django.db.models import Count, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from experiments.models import Heartbeat, Job
from experiments.operation import health
from experiments.operation.backup import last_backup
from experiments.operation.counters import CLASSES, LATENCY_LIMITS, SAVE, totals
from judgments.models import Payment, PlatformCall, Session

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LOOPBACK = {"127.0.0.1", "::1"}
Sample = tuple[dict[str, str], float]


def metrics(request: HttpRequest) -> HttpResponse:
    """Return all metrics to the token's owner, or on this machine where no token is set."""
    if not _is_allowed(request):
        return HttpResponse("Send METRICS_TOKEN as a bearer token.\n", status=403, content_type="text/plain")
    return HttpResponse("".join(_lines()), content_type=CONTENT_TYPE)


def _is_allowed(request: HttpRequest) -> bool:
    if token := settings.METRICS_TOKEN:
        return hmac.compare_digest(
            request.headers.get("Authorization", "").encode(), f"Bearer {token}".encode()
        )
    # A proxy on this machine connects from the loopback address, too, and names whom it serves.
    is_direct = "X-Forwarded-For" not in request.headers and "Forwarded" not in request.headers
    return is_direct and not settings.BEHIND_PROXY and request.META.get("REMOTE_ADDR") in LOOPBACK


def _lines() -> Iterator[str]:
    sums = totals()
    for name, description in COUNTERS.items():
        yield from _metric(name, "counter", description, [({}, sums[name])])
    responses = [({"class": f"{n}xx"}, sums[f"responses_{n}xx_total"]) for n in (1, 2, 3, 4, 5)]
    yield from _metric("responses_total", "counter", "Responses by class of status.", responses)
    yield from _histogram(sums)
    for name, description, samples in _gauges():
        yield from _metric(name, "gauge", description, samples)


COUNTERS = {
    "arrivals_total": "Sessions that began.",
    "judgments_stored_total": "Answers stored.",
    "judgments_repeated_total": "Answers that were sent again and stored before.",
    "plugin_failures_total": "Errors that plugins raised.",
}


def _gauges() -> Iterator[tuple[str, str, list[Sample]]]:
    now = timezone.now()
    by_status = Session.objects.filter(is_test=False).values_list("status").annotate(n=Count("pk")).order_by()
    yield "sessions", "Sessions of participants.", [({"status": status}, n) for status, n in by_status]
    leases = Session.objects.filter(status=Session.Status.ACTIVE).aggregate(
        held=Count("pk", filter=Q(lease_expires_at__gt=now)),
        overdue=Count("pk", filter=Q(lease_expires_at__lte=now)),
    )
    yield "leases", "Places that sessions hold.", [({"state": state}, n) for state, n in leases.items()]
    by_state = Job.objects.values_list("state").annotate(n=Count("pk")).order_by()
    yield "jobs", "Background jobs.", [({"state": state}, n) for state, n in by_state]
    queue = health.queue()
    yield "job_queue_oldest_seconds", "Age of the oldest waiting job.", [({}, queue["oldest_s"])]
    retried = Job.objects.filter(attempt__gt=1).aggregate(n=Sum("attempt"), jobs=Count("pk"))
    yield "job_retries", "Starts of jobs beyond the first.", [({}, (retried["n"] or 0) - retried["jobs"])]
    payments = Payment.objects.values_list("kind", "currency").annotate(
        n=Count("pk"), sum=Sum("amount_minor")
    )
    rows = [
        ({"kind": kind, "currency": currency}, n, sum_) for kind, currency, n, sum_ in payments.order_by()
    ]
    yield "payments", "Payments of the ledger.", [(labels, n) for labels, n, _ in rows]
    yield "payments_minor", "Their amounts in minor units.", [(labels, sum_) for labels, _, sum_ in rows]
    calls = PlatformCall.objects.values_list("state").annotate(n=Count("pk")).order_by()
    yield "platform_calls", "Calls of recruitment platforms.", [({"state": state}, n) for state, n in calls]
    beats = Heartbeat.objects.exclude(process="health").values_list("process", "at")
    ages = [({"process": process}, (now - at).total_seconds()) for process, at in beats]
    yield "heartbeat_age_seconds", "Since the last sign of life.", ages
    disks = [({"folder": disk.name}, float(disk.free)) for disk in health.disks()]
    yield "disk_free_bytes", "Free space.", disks
    shares = [({"folder": disk.name}, disk.free / disk.total) for disk in health.disks()]
    yield "disk_free_ratio", "Free share of the disk.", shares
    age = health.backup_age_s()
    yield "backup_age_seconds", "Since the last backup, or else the installation.", [({}, age)]
    if last_backup():
        yield "last_backup_timestamp_seconds", "When the last backup ended.", [({}, time() - age)]
    yield "degradations", "Problems that need somebody.", [({}, len(list(health.degradations())))]


def _histogram(sums: dict[str, float]) -> Iterator[str]:
    name = "obelus_answer_save_seconds"
    yield f"# HELP {name} Time of a request that stores answers.\n# TYPE {name} histogram\n"
    n_answers = 0.0
    for limit, counted in zip((*LATENCY_LIMITS, "+Inf"), CLASSES, strict=True):
        n_answers += sums[counted]  # a class of the format includes all quicker ones
        yield f'{name}_bucket{{le="{limit}"}} {_number(n_answers)}\n'
    yield f"{name}_sum {_number(sums[f'{SAVE}_sum'])}\n{name}_count {_number(n_answers)}\n"


def _metric(name: str, kind: str, description: str, samples: list[Sample]) -> Iterator[str]:
    yield f"# HELP obelus_{name} {description}\n# TYPE obelus_{name} {kind}\n"
    for labels, value in samples:
        pairs = ",".join(f'{label}="{_escape_label(content)}"' for label, content in labels.items())
        yield f"obelus_{name}{f'{{{pairs}}}' if pairs else ''} {_number(value)}\n"


def _escape_label(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
