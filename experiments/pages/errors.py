"""Pages for what cannot be shown, kind and to the point."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from analysis.plugins.registry import PluginFailure
from experiments.pages.access import ClosedStudy
from experiments.teams.members import OnlyOwners

API = "/api/"
ADMINISTRATION = ("/admin/", "/operation/")
RETRY_AFTER_S = 60  # the window of most limits; nothing says which one was reached


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Nothing at this address, or not for this user: both look the same."""
    if request.path.startswith(API):
        return JsonResponse({"code": "not_found", "message": "There is nothing at this address."}, status=404)
    return render(request, "404.html", status=404)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Not for this user."""
    context = {
        "is_administration": request.path.startswith(ADMINISTRATION),
        "is_for_owners": isinstance(exception, OnlyOwners),
        "is_closed": isinstance(exception, ClosedStudy),
    }
    return render(request, "403.html", context, status=403)


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """Too many logins, wrong codes or messages asked for, by one network or for one account."""
    response = render(request, "429.html", status=429)
    response["Retry-After"] = str(RETRY_AFTER_S)
    return response


def plugin_failed(request: HttpRequest, failure: PluginFailure) -> HttpResponse:
    """A plugin cannot be used or raised an error: the message names its package and what to do."""
    if request.path.startswith(API):
        return JsonResponse({"code": "plugin_failed", "message": str(failure)}, status=503)
    return render(request, "plugin_failed.html", {"failure": failure}, status=503)


def broken(request: HttpRequest) -> HttpResponse:
    """Our fault."""
    if request.path.startswith(API):
        return JsonResponse({"code": "error", "message": "Something broke on our side."}, status=500)
    return render(request, "500.html", status=500)
