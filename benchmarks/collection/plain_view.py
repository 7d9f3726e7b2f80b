"""The bound of bench_load: a plain Django view that inserts one row per request; stock middleware."""

import json
import os

from django.conf import settings

from config.env import env_database

settings.configure(
    SECRET_KEY="of a benchmark, kept nowhere",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    DATABASES={"default": {**env_database("PLAIN_DATABASE_URL", None), "CONN_MAX_AGE": 60}},  # type: ignore[arg-type]
    USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions"],
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
)

import django  # noqa: E402

django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection, models  # noqa: E402
from django.http import HttpRequest, JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402
from django.views.decorators.csrf import csrf_exempt  # noqa: E402


class Row(models.Model):
    """One answer, unique by worker and trial."""

    worker = models.CharField(max_length=64, db_index=True)
    trial = models.CharField(max_length=64)
    response = models.CharField(max_length=64)
    rt_ms = models.FloatField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        app_label = "bench"
        constraints = [models.UniqueConstraint(fields=["worker", "trial"], name="row_once")]


@csrf_exempt
def store(request: HttpRequest) -> JsonResponse:
    """Insert one row."""
    judgment = json.loads(request.body)
    row = Row.objects.create(
        worker=judgment["worker"],
        trial=judgment["trial"],
        response=judgment["response"],
        rt_ms=judgment["rt_ms"],
    )
    return JsonResponse({"id": row.pk})


urlpatterns = [path("store", store)]
application = get_wsgi_application()

if os.environ.get("MAKE_TABLE"):
    with connection.schema_editor() as editor:
        editor.create_model(Row)
