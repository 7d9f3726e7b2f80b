"""Settings of the test suite: the site's own, with a test database and faster logins."""

from config.settings import *  # noqa: F403
from config.settings import DATABASES, INSTALLED_APPS, STORAGES, VAR

DATABASES["default"].pop("CONN_MAX_AGE", None)
DATABASES["default"]["OPTIONS"].pop("pool", None)  # an idle pooled connection blocks DROP DATABASE
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["ENGINE"] = "tests.sqlite"
    DATABASES["default"]["TEST"] = {"NAME": str(VAR / "test.sqlite3")}  # a file, which threads can share
    # A test's rows need not outlive a power cut, so no commit waits for the disk.
    DATABASES["default"]["OPTIONS"]["init_command"] += " PRAGMA synchronous=OFF;"
else:
    DATABASES["default"]["ENGINE"] = "tests.postgresql"
    DATABASES["default"]["OPTIONS"]["options"] = "-c synchronous_commit=off"

STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
API_REQUESTS_PER_MINUTE = ARRIVALS_PER_MINUTE = 0  # one process plays everybody, from one address
WHITENOISE_AUTOREFRESH = True  # looks files up on request: a test client starts without listing them all
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # PBKDF2 takes 0.2 s a login
# for tests with a service
INSTALLED_APPS = [*INSTALLED_APPS, "allauth.socialaccount.providers.openid_connect"]
