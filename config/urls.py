"""URLs: the REST API, participants, researchers, accounts and the server's health."""

from allauth.account.decorators import secure_admin_login
from allauth.socialaccount.models import SocialApp, SocialToken
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView

from config.api_schema import api_docs
from experiments.accounts.other_logins import come_back, leave
from experiments.operation.health import live, ready
from judgments.monitoring.metrics import metrics

# allauth's documented way: the admin asks for the second factor as well
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
# Services of other logins are configured by settings alone, and none of their tokens are stored.
admin.site.unregister([SocialApp, SocialToken])
admin.site.site_header = admin.site.site_title = "Administration of Obelus"

api_urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("judgments.api.urls")),
    path("", include("experiments.api.urls")),
    path("", include("experiments.generation.api_urls")),
    path("", include("releases.api.urls")),
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs/", api_docs, name="api-docs"),
]

# Django tries patterns in order: the API receives the most requests, then the participants' pages.
urlpatterns = [
    path("api/v1/", include(api_urlpatterns)),
    path("", include("judgments.screens.urls")),
    path("", include("experiments.pages.urls")),
    path("", include("experiments.generation.pages.urls")),
    path("", include("judgments.pages.urls")),
    path("", include("judgments.recruitment.pages.urls")),
    path("", include("releases.urls")),
    path("hooks/", include("judgments.recruitment.hook_urls")),
    path("accounts/oidc/<str:provider_id>/login/", leave, name="leave-for-login"),
    path("accounts/oidc/<str:provider_id>/login/callback/", come_back, name="come-back-from-login"),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("metrics", metrics, name="metrics"),
    path("health/live", live, name="health-live"),
    path("health/ready", ready, name="health-ready"),
]

handler400 = "judgments.screens.error_responses.bad_request"
handler404 = "judgments.screens.error_responses.not_found"
handler403 = "experiments.pages.errors.forbidden"
handler429 = "experiments.pages.errors.too_many_requests"  # of django-allauth
handler500 = "judgments.screens.error_responses.server_error"
