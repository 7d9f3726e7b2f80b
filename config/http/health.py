"""Liveness and readiness checks."""

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse


def live(request: HttpRequest) -> JsonResponse:
    """Respond while the process is alive."""
    return JsonResponse({"status": "live"})


def ready(request: HttpRequest) -> JsonResponse:
    """Respond with 200 where the database is reachable and migrated, else with 503."""
    try:
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return JsonResponse({"status": "database does not answer"}, status=503)
    if pending:
        return JsonResponse({"status": f"{len(pending)} migrations wait: run manage.py migrate"}, status=503)
    return JsonResponse({"status": "ready"})
