"""Pages of large studies that take more than a second: at once a page that names what is being done.

A job computes the reports that take long (:mod:`releases.reports.report_cache`); these pages take some
seconds once, and then come from memory.
"""

from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render

from experiments.models import Experiment
from experiments.page_cache import cache
from releases.reports.judgment_cache import data_version, n_judgments
from releases.reports.report_cache import CACHE_SECONDS
from releases.views.base import View

MAX_JUDGMENTS = 100_000  # read and summarized in about a second
WAITING = "waiting_for"  # key in the login session, which all processes of a server share


def answered_at_once(view: View) -> View:
    """Answer the first visit of a large study by a page that names the work and asks for the result itself.

    That page has the header ``Refresh: 0``: a browser shows it until the result arrives, with or without
    scripts. A view under :func:`releases.views.base.study_page`.
    """

    @wraps(view)
    def view_at_once(request: HttpRequest, study: Experiment, **kwargs: Any) -> HttpResponseBase:
        n = n_judgments(study)
        if request.method != "GET" or n <= MAX_JUDGMENTS:
            return view(request, study, **kwargs)
        address = request.get_full_path()
        key = f"computed-{data_version(study)}-{address}"
        if not cache.get(key) and request.session.get(WAITING) != address:
            request.session[WAITING] = address
            context = {"study": study, "page": view.__name__, "n_judgments": n}
            answer = render(request, "releases/large_study.html", context)
            answer["Refresh"], answer["Cache-Control"] = "0", "no-store"
            return answer
        request.session.pop(WAITING, None)
        response = view(request, study, **kwargs)
        cache.set(key, True, CACHE_SECONDS)
        return response

    return view_at_once
