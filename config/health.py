"""Is the process alive; can it serve."""

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse


def live(request: HttpRequest) -> JsonResponse:
    """The process answers."""
    return JsonResponse({"status": "live"})


def ready(request: HttpRequest) -> JsonResponse:
    """The database answers and its migrations are applied."""
    try:
        executor = MigrationExecutor(connection)
        waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return JsonResponse({"status": "database does not answer"}, status=503)
    if waiting:
        return JsonResponse({"status": f"{len(waiting)} migrations wait: run manage.py migrate"}, status=503)
    return JsonResponse({"status": "ready"})
