"""All settings, read from the environment (see config/env.py and docs/reference/settings.md)."""

import os
import re
import sys
from pathlib import Path

import structlog
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.functional import SimpleLazyObject

from analysis.plugins.registry import task_folders
from config.env import (
    env_bool,
    env_database,
    env_int,
    env_list,
    env_secret,
    env_str,
    env_umask,
    kept_secret,
)
from config.error_reports import start_sentry
from config.http.log_redaction import redact_line
from config.http.request_id import add_request_id

BASE_DIR = Path(__file__).resolve().parent.parent
VAR = Path(env_str("VAR_DIR") or BASE_DIR / "var")

# Every process reads the settings first: what it writes later (database, uploads, releases) is the owner's.
UMASK = env_umask("UMASK")
os.umask(UMASK)
FILE_UPLOAD_PERMISSIONS = 0o666 & ~UMASK

DEBUG = env_bool("DEBUG", False)
# Generated when first read, so that importing the settings writes no file.
SECRET_KEY = env_secret("SECRET_KEY") or SimpleLazyObject(lambda: kept_secret(VAR / "secret_key"))
SECRET_KEY_IS_GENERATED = not env_secret("SECRET_KEY")
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]", "testserver"])
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS", [])
HTTPS = env_bool("HTTPS", False)
BEHIND_PROXY = env_bool("BEHIND_PROXY", False)

INSTALLED_APPS = [
    "experiments",
    "judgments",
    "releases",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.humanize",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "csp",
    "rest_framework",
    "drf_spectacular",
]

MIDDLEWARE = [
    "config.http.middleware.RequestLogMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "config.http.body_limit.BodyLimitMiddleware",
    "config.http.token_addresses.TokenAddressMiddleware",
    "config.http.static_files.StaticFilesMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.http.middleware.LoginUseMiddleware",
    "config.http.middleware.TimeZoneMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "config.http.csp.ContentPolicy",
    "config.http.middleware.MethodNotAllowedMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
PLUGIN_FOLDERS = task_folders()  # packages are not imported here
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "OPTIONS": {
            # As with APP_DIRS; after all of ours come the templates of plugins' tasks, so that none of ours
            # is replaced.
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "django.template.loaders.app_directories.Loader",
                        (
                            "django.template.loaders.filesystem.Loader",
                            [folder / "templates" for folder in PLUGIN_FOLDERS],
                        ),
                    ],
                )
            ],
            "libraries": {
                "study_figures": "releases.views.figure_tags",
                "i18n": "judgments.templatetags.own_texts",  # a study's own texts for participants
            },
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

# The library i18n above replaces Django's tags of the same name by tags that extend them.
SILENCED_SYSTEM_CHECKS = ["templates.W003"]

DATABASES = {"default": env_database("DATABASE_URL", VAR / "obelus.sqlite3")}
if "pool" not in DATABASES["default"]["OPTIONS"]:
    DATABASES["default"]["CONN_MAX_AGE"] = 60  # reconnecting costs as much as storing a row, or more
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Celery carries ids of Job rows; the embedded broker is a folder (see config/celery.py).
CELERY_BROKER_URL = env_str("CELERY_BROKER_URL", "filesystem://")
CELERY_BROKER_FOLDER = VAR / "broker"
JOB_STALE_SECONDS = env_int("JOB_STALE_SECONDS", 60)
JOB_MAX_ATTEMPTS = env_int("JOB_MAX_ATTEMPTS", 5)
JOB_RETRY_SECONDS = JOB_STALE_SECONDS // 4  # until the first retry; each further delay is four times as long
if JOB_MAX_ATTEMPTS < 1 or JOB_STALE_SECONDS < 0:
    raise ImproperlyConfigured("JOB_MAX_ATTEMPTS must be above 0, and JOB_STALE_SECONDS 0 or more.")

# PDF files have no fonts but those built into Typst and those of these folders.
PDF_FONTS = env_list("PDF_FONTS", [])

# Models scored here: where they lie, which addresses pages offer, and the workers' kinds of device.
MODELS_DIR = Path(env_str("MODELS_DIR") or VAR / "models")
MODEL_URIS = env_list("MODEL_URIS", [])
PAPERS_DATA = Path(env_str("PAPERS_DATA") or VAR / "papers")
SCORING_DEVICES = env_list("SCORING_DEVICES", ["cpu"])
SCORING_THREADS = env_int("SCORING_THREADS", 0)
SHARD_SENTENCES = env_int("SHARD_SENTENCES", 2_000)
if not set(SCORING_DEVICES) <= {"cpu", "gpu"}:
    raise ImproperlyConfigured(
        f"SCORING_DEVICES is {','.join(SCORING_DEVICES)!r}: set it to cpu, gpu or both."
    )
if SHARD_SENTENCES < 1 or SCORING_THREADS < 0:
    raise ImproperlyConfigured("SHARD_SENTENCES must be above 0, and SCORING_THREADS 0 or more.")

PREVIEW_DAYS = 30  # previews not used for so long are deleted

# Personal data: how long platforms' ids are stored after a study closes, and who is responsible (shown on the
# record of processing activities).
VAULT_DAYS = env_int("VAULT_DAYS", 90)
DATA_CONTROLLER = env_str("DATA_CONTROLLER")
DATA_PROTECTION_CONTACT = env_str("DATA_PROTECTION_CONTACT")
DATA_LOCATION = env_str("DATA_LOCATION")
if VAULT_DAYS < 0 or VAULT_DAYS > 3650:
    raise ImproperlyConfigured(f"VAULT_DAYS is {VAULT_DAYS}: set it to a number of days from 0 to 3650.")

# Recruitment over MTurk or a service that speaks its interface: the address of the API (empty: the sandbox
# for test accounts, else production), and further worker sites that may frame a study and take its form.
MTURK_ENDPOINT = env_str("MTURK_ENDPOINT")
MTURK_WORKER_SITES = env_list("MTURK_WORKER_SITES", [])
if not all(re.fullmatch(r"https?://[\w.-]+(:\d+)?", address) for address in MTURK_WORKER_SITES):
    raise ImproperlyConfigured(
        f"MTURK_WORKER_SITES is {','.join(MTURK_WORKER_SITES)!r}: set it to addresses such as"
        " https://workers.example.org, without a path."
    )

# The key that encrypts tokens of platforms, platforms' participant ids and second factors; without it,
# SECRET_KEY. Earlier keys, separated by spaces, still decrypt.
PLATFORM_KEY = env_secret("PLATFORM_KEY")
PLATFORM_KEYS_EARLIER = env_secret("PLATFORM_KEYS_EARLIER").split()
PROLIFIC_URL = env_str("PROLIFIC_URL", "https://api.prolific.com")
PROLIFIC_WEB_URL = PROLIFIC_URL.replace("//api.", "//app.")  # participants return there with their code
PROLIFIC_EVENT_WINDOW_S = 300  # age of a signed event that is still accepted

# Whether webhooks may lead into private networks, and begin with http://: for receivers beside this server.
WEBHOOK_PRIVATE_TARGETS = env_bool("WEBHOOK_PRIVATE_TARGETS", False)

# Repositories on which releases are published; accounts in test mode use the sandboxes.
HUGGINGFACE_URL = "https://huggingface.co"
ZENODO_URL = "https://zenodo.org"
ZENODO_SANDBOX_URL = "https://sandbox.zenodo.org"
OSF_URL = "https://api.osf.io"
OSF_SANDBOX_URL = "https://api.test.osf.io"

# Counts of limits are shared by all processes: in the database, or in Redis, which also has what pages
# compute; without it each process has its own.
CACHE_URL = env_str("CACHE_URL")
REDIS = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": CACHE_URL}
CACHES = {
    "default": {
        **(REDIS if CACHE_URL else {"BACKEND": "experiments.operation.database_cache.DatabaseCache"}),
        "KEY_FUNCTION": "experiments.operation.database_cache.hashed_key",
    },
    "pages": REDIS if CACHE_URL else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
}
API_REQUESTS_PER_MINUTE = env_int("API_REQUESTS_PER_MINUTE", 600)  # of one user; 0 is no limit
# Of one user; a check of a paradigm takes up to some seconds of a core. 0 is no limit.
PARADIGM_CHECKS_PER_MINUTE = -(-API_REQUESTS_PER_MINUTE // 10)  # rounded up: only a limit of 0 gives 0
ARRIVALS_PER_MINUTE = env_int("ARRIVALS_PER_MINUTE", 60)  # of one network in one study; 0 is no limit
# Proxies under our control, each of which appends to X-Forwarded-For the address that it serves.
ALLAUTH_TRUSTED_PROXY_COUNT = env_int("TRUSTED_PROXY_COUNT", 1 if BEHIND_PROXY else 0)
if CACHE_URL and not CACHE_URL.startswith(("redis://", "rediss://")):
    raise ImproperlyConfigured(
        f"CACHE_URL is {CACHE_URL!r}: set it to redis://HOST:PORT/DB, or leave it out."
    )
if ARRIVALS_PER_MINUTE < 0 or ALLAUTH_TRUSTED_PROXY_COUNT < 0:
    raise ImproperlyConfigured("ARRIVALS_PER_MINUTE and TRUSTED_PROXY_COUNT must be 0 or more.")

LANGUAGE_CODE = "en"
LOCALE_PATHS = [BASE_DIR / "judgments" / "locale"]  # the participant's pages; researchers read English
TIME_ZONE = "UTC"
USE_TZ = True

# Registries whose components plugins may extend: shown by `manage.py plugins` and on the page of operation.
PLUGIN_REGISTRIES = [
    "judgments.imports.readers.registry.READERS",
    "experiments.tasks.registry.TASKS",
    "judgments.recruitment.recruiter.RECRUITERS",
    "analysis.plugins.statistics.STATISTICS",
    "analysis.figures.registry.FIGURES",
    "analysis.scoring.registry.SCORERS",
]

STATIC_URL = "/static/"
STATIC_ROOT = Path(env_str("STATIC_ROOT") or VAR / "static")
# A plugin adds scripts of tasks only, and replaces none: the first file of a name is the one that is served.
STATICFILES_DIRS = [
    BASE_DIR / "static",
    *(
        ("js/tasks", folder / "static" / "js" / "tasks")
        for folder in PLUGIN_FOLDERS
        if (folder / "static" / "js" / "tasks").is_dir()
    ),
]
MEDIA_ROOT = Path(env_str("MEDIA_ROOT") or VAR / "media")
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000
MAX_UPLOAD_BYTES = env_int("MAX_UPLOAD_BYTES", 200_000_000)
UPLOAD_QUOTA_BYTES = env_int("UPLOAD_QUOTA_BYTES", 1_000_000_000)  # of one researcher, not yet imported
LAB_UPLOAD_QUOTA_BYTES = 5 * UPLOAD_QUOTA_BYTES  # of one lab, not yet imported
SCORE_QUOTA_BYTES = 5 * UPLOAD_QUOTA_BYTES  # of one researcher or lab, kept with runs
UPLOAD_DAYS = 7  # uploads neither imported nor discarded are deleted then
PREVIEW_MEMORY_BYTES = env_int("PREVIEW_MEMORY_BYTES", 4_000_000_000)  # of a worker that reads an upload


def file_storage(name: str, default_folder: Path | None, *, overwrites: bool = True) -> dict[str, object]:
    """Location of files: a folder, or s3://bucket/prefix (keys from the usual AWS variables)."""
    address = env_str(name)
    if not address.startswith("s3://"):
        location = Path(address) if address else default_folder
        folder_options = {"location": location} if location else {}
        return {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": folder_options}
    bucket, _, prefix = address.removeprefix("s3://").partition("/")
    if not bucket:
        raise ImproperlyConfigured(f"{name} is {address!r}: set it to a folder or to s3://BUCKET/PREFIX.")
    options = {
        "bucket_name": bucket,
        "location": prefix,
        "default_acl": "private",
        "file_overwrite": overwrites,
        "max_memory_size": 16 << 20,  # bytes of a file that is read; more goes to a temporary file
        "endpoint_url": env_str("S3_ENDPOINT_URL") or None,
        "region_name": env_str("AWS_DEFAULT_REGION", "us-east-1"),
        "client_config": _s3_client_config(),
    }
    return {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}


def _s3_client_config() -> object:
    """Limits of waiting for S3: with botocore's own, a bucket that is away holds a thread for 5 minutes."""
    from botocore.config import Config  # a sixth of a second, for those who use S3

    return Config(connect_timeout=5, read_timeout=30, retries={"mode": "standard", "total_max_attempts": 3})


STORAGES = {
    # Without a folder of its own the storage follows MEDIA_ROOT. Two uploads of one name stay two files.
    "default": file_storage("UPLOAD_STORAGE", None, overwrites=False),
    "releases": file_storage("RELEASE_STORAGE", VAR / "releases"),
    "backups": file_storage("BACKUP_STORAGE", VAR / "backups"),
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "config.http.static_files.HashedStaticFiles"
    },
}

# Backups by the scheduler: every so many hours (0: none), the newest so many kept (0: all). Where something
# else makes them, BACKUP_DUE_HOURS says how often; missing ones are reported.
BACKUP_STORAGE = env_str("BACKUP_STORAGE") or str(VAR / "backups")
BACKUP_HOURS = env_int("BACKUP_HOURS", 0)
BACKUP_DUE_HOURS = env_int("BACKUP_DUE_HOURS", BACKUP_HOURS)
BACKUP_KEEP = env_int("BACKUP_KEEP", 14)
BACKUP_KEY = env_secret("BACKUP_KEY")
if min(BACKUP_HOURS, BACKUP_DUE_HOURS, BACKUP_KEEP) < 0:
    raise ImproperlyConfigured("BACKUP_HOURS, BACKUP_DUE_HOURS and BACKUP_KEEP must be 0 or more.")

# Login: names or e-mail, second factor, no open sign-up unless asked for.
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_ADAPTER = "experiments.accounts.adapters.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "experiments.accounts.adapters.LoginForm",
    "signup": "experiments.accounts.adapters.SignupForm",
    "add_email": "experiments.accounts.adapters.AddressForm",
    "change_password": "experiments.accounts.adapters.NewPasswordForm",
    "reset_password_from_key": "experiments.accounts.adapters.ForgottenPasswordForm",
}
# Wrong passwords are counted by network first; the limit for an account is so high that one network cannot
# keep its owner out.
ACCOUNT_RATE_LIMITS = {"login_failed": "10/m/ip,30/h/ip,90/h/key"}
OPEN_SIGNUP = env_bool("OPEN_SIGNUP", False)
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGOUT_REDIRECT_URL = "/"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_FORMS = {
    "authenticate": "experiments.accounts.adapters.SecondFactorForm",
    "reauthenticate": "experiments.accounts.adapters.SecondFactorAgainForm",
    "activate_totp": "experiments.accounts.adapters.TurnOnForm",
    "add_webauthn": "experiments.accounts.passkeys.PasskeyForm",
}
MFA_ADAPTER = "experiments.accounts.adapters.SecondFactorAdapter"
MFA_TOTP_ISSUER = "Obelus"  # what the app calls it
MFA_TOTP_TOLERANCE = 1  # digits that changed while they were typed (RFC 6238, 5.2)
MFA_ALLOW_UNVERIFIED_EMAIL = True  # accounts are made by an administrator; addresses are not verified
# Logins of other services by OpenID Connect: a university's, and ORCID, where they are configured.
OIDC_NAME = env_str("OIDC_NAME", "University login")
OIDC_URL = env_str("OIDC_URL").rstrip("/")
OIDC_CLIENT_ID = env_str("OIDC_CLIENT_ID")
OIDC_CLIENT_SECRET = env_secret("OIDC_CLIENT_SECRET")
ORCID_URL = "https://orcid.org"
ORCID_CLIENT_ID = env_str("ORCID_CLIENT_ID")
ORCID_CLIENT_SECRET = env_secret("ORCID_CLIENT_SECRET")
OIDC_SIGNUP = env_bool("OIDC_SIGNUP", False)
if len({bool(value) for value in (OIDC_URL, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET)}) > 1:
    raise ImproperlyConfigured("Set OIDC_URL, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET, or none of them.")
if bool(ORCID_CLIENT_ID) != bool(ORCID_CLIENT_SECRET):
    raise ImproperlyConfigured("Set ORCID_CLIENT_ID and ORCID_CLIENT_SECRET, or neither.")
for _name, _address in {"OIDC_URL": OIDC_URL, "ORCID_URL": ORCID_URL}.items():
    if _address and not re.match(r"https://|http://(localhost|127\.0\.0\.1)[:/]", _address):
        raise ImproperlyConfigured(f"{_name} is {_address!r}: set it to an address with https://.")


def openid_service(key: str, name: str, *, url: str, client_id: str, secret: str) -> dict[str, object]:
    """A service for logins, which publishes its addresses below its own (OpenID Connect Discovery)."""
    service = {"provider_id": key, "name": name, "client_id": client_id, "secret": secret}
    scopes = ["openid"] if key == "orcid" else ["openid", "profile", "email"]
    return {**service, "settings": {"server_url": url, "scope": scopes}}


OPENID_SERVICES = []
if OIDC_URL:
    OPENID_SERVICES += [
        openid_service(
            "university", OIDC_NAME, url=OIDC_URL, client_id=OIDC_CLIENT_ID, secret=OIDC_CLIENT_SECRET
        )
    ]
if ORCID_CLIENT_ID:
    OPENID_SERVICES += [
        openid_service("orcid", "ORCID", url=ORCID_URL, client_id=ORCID_CLIENT_ID, secret=ORCID_CLIENT_SECRET)
    ]
if OPENID_SERVICES:
    INSTALLED_APPS.append("allauth.socialaccount.providers.openid_connect")  # imports requests
SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": OPENID_SERVICES}}
SOCIALACCOUNT_ADAPTER = "experiments.accounts.other_logins.OtherLoginAdapter"
SOCIALACCOUNT_REQUESTS_TIMEOUT = 10  # seconds; the page waits for the other service
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "experiments.accounts.adapters.PasswordLength", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
EMAIL_BACKEND = env_str("EMAIL_BACKEND", "django.core.mail.backends.console.EmailBackend")
MAIL_LEAVES = not EMAIL_BACKEND.endswith(("console.EmailBackend", "dummy.EmailBackend"))
# Addresses are confirmed by a link before a login, where mail leaves this machine.
EMAIL_VERIFICATION = env_bool("EMAIL_VERIFICATION", MAIL_LEAVES)
if EMAIL_VERIFICATION and not MAIL_LEAVES:
    raise ImproperlyConfigured("EMAIL_VERIFICATION needs mail: set EMAIL_BACKEND, or leave it out.")
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if EMAIL_VERIFICATION else "none"
ACCOUNT_SIGNUP_FIELDS = [
    "email*" if EMAIL_VERIFICATION else "email",
    "username*",
    "password1*",
    "password2*",
]
ACCOUNT_EMAIL_NOTIFICATIONS = True  # of a changed password, address or second factor
DEFAULT_FROM_EMAIL = env_str("DEFAULT_FROM_EMAIL", "obelus@localhost")
EMAIL_HOST = env_str("EMAIL_HOST", "localhost")
EMAIL_PORT = env_int("EMAIL_PORT", 25)
EMAIL_HOST_USER = env_str("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = env_secret("EMAIL_HOST_PASSWORD")
EMAIL_USE_TLS = env_bool("EMAIL_USE_TLS", False)
EMAIL_TIMEOUT = 20  # seconds; without a limit a mail server that hangs holds a worker
# Where mail and webhooks lead: jobs have no request from which the address of the site follows.
SITE_ADDRESS = env_str(
    "SITE_ADDRESS",
    f"https://{ALLOWED_HOSTS[0]}" if HTTPS else f"http://{ALLOWED_HOSTS[0]}:{env_int('PORT', 8000)}",
).rstrip("/")

# Everything comes from this host; no inline script or style, no plug-ins, no frames of ours elsewhere.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "manifest-src": [SELF],
    },
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_ENGINE = "experiments.accounts.login_sessions"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "experiments.api.authentication.ScopedTokenAuthentication",
        "experiments.api.authentication.LimitedSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "experiments.api.authentication.HasScope",
    ],
    "DEFAULT_PAGINATION_CLASS": "config.api_bases.PageSizePagination",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "config.api_schema.Schema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "EXCEPTION_HANDLER": "config.api_bases.error_response",
    "PAGE_SIZE": 100,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Obelus",
    "DESCRIPTION": "Studies, materials, judgments, agreement, ratings, releases and comparisons.",
    "VERSION": "1",
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_INCLUDE_SCHEMA": False,
    # Clients that are generated would require the read-only fields of a body that is also an answer.
    "COMPONENT_SPLIT_REQUEST": True,
    "DEFAULT_GENERATOR_CLASS": "config.api_schema.DocumentGenerator",
    "PREPROCESSING_HOOKS": ["judgments.api.session_schema.add_session_addresses"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "config.api_schema.add_links",
        "config.api_schema.name_uploads",
        "config.api_schema.forbid_unknown_keys",
    ],
    "ENUM_NAME_OVERRIDES": {
        "CampaignState": "experiments.models.Campaign.State",
        "DesignKind": "experiments.models.Design.Kind",
        "JobState": "experiments.models.Job.State",
        "LeftOutCheck": "experiments.materials.findings.LEFT_OUT_FOR",
        "PlatformCallState": "judgments.models.PlatformCall.State",
        "ReleaseState": "releases.models.Release.State",
        "RoundParticipants": "experiments.lists.rounds.PARTICIPANTS",
        "MethodEnum": "analysis.comparison.in_depth.models.METHODS",
    },
}

# The place of an error, without its values, which may be typed text or answers.
PLACES = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
LOG_RENDERERS: dict[str, list[structlog.typing.Processor]] = {
    "lines": [
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    ],
    "json": [structlog.processors.ExceptionRenderer(PLACES), structlog.processors.JSONRenderer()],
}
LOG_FORMAT = env_str("LOG_FORMAT", "lines")
if LOG_FORMAT not in LOG_RENDERERS:
    raise ImproperlyConfigured(f"LOG_FORMAT is {LOG_FORMAT!r}: set it to lines or json.")

# Numbers for Prometheus at /metrics: for who sends the token; without one, for this machine only.
METRICS_TOKEN = env_secret("METRICS_TOKEN")

# Errors to Sentry, or a service that speaks its interface, without typed text.
if SENTRY_DSN := env_secret("SENTRY_DSN"):
    start_sentry(SENTRY_DSN)

LOG_CONTEXT: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,  # of a job
    add_request_id,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso"),
]
# Our own lines take the way of Django's: to the standard error, in one format, without tokens.
structlog.configure(
    processors=[
        structlog.stdlib.filter_by_level,
        *LOG_CONTEXT,
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "lines": {
            "()": "structlog.stdlib.ProcessorFormatter",
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *LOG_RENDERERS[LOG_FORMAT],
                redact_line,
            ],
            "foreign_pre_chain": LOG_CONTEXT,
        }
    },
    "filters": {"as_warning": {"()": "config.http.log_redaction.AsWarning"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "lines"},
        "plugin_failures": {"class": "experiments.operation.counters.PluginFailureCounter"},
    },
    "root": {"handlers": ["console"], "level": env_str("LOG_LEVEL", "INFO").upper()},
    "loggers": {
        "analysis.plugins.registry": {"handlers": ["plugin_failures"]},
        "kombu.connection": {"level": "ERROR"},  # it warns that a folder has no host name
        **{
            f"django.security.{refusal}": {"filters": ["as_warning"]}
            for refusal in ("RequestDataTooBig", "TooManyFieldsSent", "TooManyFilesSent")
        },
        "matplotlib": {"level": "WARNING"},  # at INFO it says that it looked for fonts
        "botocore": {"level": "INFO"},  # at DEBUG it logs requests whole, with signatures and worker ids
        "httpx2": {"level": "WARNING"},  # of huggingface_hub
        "httpx": {"level": "WARNING"},  # it writes every address, and some have the id of a participant
    },
}
