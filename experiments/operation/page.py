"""The administrators' page of the running service."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from config.version import code_version
from experiments.models import Heartbeat
from experiments.operation import health
from experiments.operation.backup import last_backup
from experiments.operation.counters import totals
from experiments.operation.plugins import installed_plugins


@login_required
def operation(request: HttpRequest) -> HttpResponse:
    """Show processes, queue, disks and the last backup."""
    if not request.user.is_staff:
        raise PermissionDenied("Administrators see this page.")
    context = {
        "section": "operation",
        "failure": health.database_failure(),
        "problems": list(health.degradations()),
        "processes": Heartbeat.objects.exclude(process="health"),
        "queue": health.queue(),
        "disks": health.disks(),
        "backup": last_backup(),
        "backup_due_hours": settings.BACKUP_DUE_HOURS,
        "plugins": installed_plugins(),
        "n_plugin_failures": round(totals()["plugin_failures_total"]),
        "version": code_version(),
    }
    return render(request, "experiments/operation.html", context)
