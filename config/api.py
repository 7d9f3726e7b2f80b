"""The REST API: each package registers its own resources."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView

from config.api_documents import api_docs

urlpatterns = [
    path("", include("judgments.api.urls")),
    path("", include("experiments.api.urls")),
    path("", include("analysis.releases.api.urls")),
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs/", api_docs, name="api-docs"),
]
