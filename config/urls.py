"""Addresses: participants, researchers, the API, and the server's health."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

from config.health import live, ready

admin.site.login = secure_admin_login(admin.site.login)  # one door for all, with the second factor
admin.site.site_header = admin.site.site_title = "Administration of Obelus"

urlpatterns = [
    path("api/v1/", include("config.api")),  # first: answers are the busiest address
    path("", include("judgments.screens.urls")),  # then participants, who wait for each
    path("", include("experiments.pages.urls")),
    path("", include("judgments.pages.urls")),
    path("", include("analysis.releases.urls")),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("health/live", live, name="health-live"),
    path("health/ready", ready, name="health-ready"),
]

handler400 = "config.refusals.bad_request"
handler404 = "config.refusals.not_found"
handler403 = "experiments.pages.errors.forbidden"
handler500 = "config.unavailable.broken"
