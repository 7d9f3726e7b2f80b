"""Authentication of the API by token or login, what a token's scopes allow, and limits of requests."""

from collections.abc import Mapping
from typing import Any

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.authentication import SessionAuthentication, TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied, Throttled
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from experiments import limits
from experiments.models import ApiToken, Experiment
from experiments.models.access import token_digest

WRONG_TOKENS = 20  # of one network within a minute
PAY_FIELDS = ("reward_minor", "currency")  # of a study
Scope = ApiToken.Scope


def count_request(kind: str, who: str, *, limit: int) -> None:
    """Count a request within the present minute; raises ``Throttled`` (429, Retry-After) beyond the limit."""
    try:
        limits.count(kind, who, limit=limit)
    except limits.LimitReached as error:
        raise Throttled(wait=error.retry_after_s) from None


def count_user_request(user: User) -> None:
    """Count a request to the API, with any of the user's tokens or logins."""
    count_request("api", str(user.pk), limit=settings.API_REQUESTS_PER_MINUTE)


class LimitedSessionAuthentication(SessionAuthentication):
    """The cookie of a login, as on the pages; its requests count like those with a token."""

    def authenticate(self, request: Request) -> Any:
        """Authenticate by the login; requests of one user are limited."""
        result = super().authenticate(request)
        if result is not None:
            count_user_request(result[0])
        return result


class ScopedTokenAuthentication(TokenAuthentication):
    """``Authorization: Token …``; the token is looked up by its hash, and may have expired."""

    def authenticate(self, request: Request) -> Any:
        """Authenticate; wrong tokens of one network and requests of one user are limited."""
        try:
            result = super().authenticate(request)
        except AuthenticationFailed:
            # A network that sends wrong tokens never keeps right ones out: those do not come here.
            network = limits.network(get_adapter().get_client_ip(request))
            count_request("wrong-tokens", network, limit=WRONG_TOKENS)
            raise
        if result is not None:
            count_user_request(result[0])
        return result

    def authenticate_credentials(self, key: str) -> Any:
        """Return the user and the token."""
        token = ApiToken.objects.select_related("user").filter(digest=token_digest(key)).first()
        if token is None or not token.user.is_active:
            raise AuthenticationFailed("The token opens nothing.")
        if token.expires_at <= timezone.now():
            raise AuthenticationFailed("The token has expired: make another one on your account's page.")
        today = timezone.now().date()
        if token.last_used_on != today:  # one write a day, so that reading stays reading
            ApiToken.objects.filter(pk=token.pk).update(last_used_on=today)
        return token.user, token


class HasScope(BasePermission):
    """Whether the token's scopes allow the request; a login's cookie has no scopes and passes."""

    message = "The token lacks the scope that this needs."
    code = "scope"

    def has_permission(self, request: Request, view: Any) -> bool:
        """Reading needs ``read``, changing ``write``; views may need a further scope, or one to change."""
        token = request.auth
        if not isinstance(token, ApiToken):
            return True
        is_reading = request.method in SAFE_METHODS
        further = {
            getattr(view, "further_scope", ""),
            "" if is_reading else getattr(view, "change_scope", ""),
        }
        needed = {Scope.READ if is_reading else Scope.WRITE, *further} - {""}
        return needed <= set(token.scopes)


def require_scope(request: Request, scope: ApiToken.Scope) -> None:
    """Refuse a token without a scope that only some requests of a view need; 403 with the code ``scope``."""
    token = request.auth
    if isinstance(token, ApiToken) and scope not in token.scopes:
        raise PermissionDenied(f"This needs a token with the scope “{scope}”.", code=HasScope.code)


def require_money_for_pay(request: Request, values: Mapping[str, Any], *, before: Experiment) -> None:
    """Refuse a token without the scope ``money`` where values change what a study pays."""
    paid = {name: getattr(before, name) for name in PAY_FIELDS}
    pays = {name: values.get(name, paid[name]) for name in PAY_FIELDS}
    if pays != paid and (pays["reward_minor"] or paid["reward_minor"]):  # a currency alone pays nothing
        require_scope(request, Scope.MONEY)
