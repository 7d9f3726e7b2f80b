"""Limits of logins and messages: counted by network, for all processes together."""

import os
import socket
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlparse

import pytest
from django.core.cache import cache, caches
from django.db import connection
from django.test import Client

from experiments import limits
from experiments.models import CacheEntry
from experiments.operation.database_cache import hashed_key
from experiments.periodic import delete_expired_rows
from tests import cast

REDIS = os.environ.get("TEST_CACHE_URL", "redis://127.0.0.1:6379/14")
PROXY = "10.0.0.1"
STRANGER, UNIVERSITY = "203.0.113.9", "198.51.100.7"


@pytest.fixture(autouse=True)
def _proxy(settings, db):
    """One proxy of ours, which appends the address that it serves."""
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1


def post(path, sent, *, network, claimed=""):
    forwarded = f"{claimed}, {network}" if claimed else network
    return Client(REMOTE_ADDR=PROXY, headers={"x-forwarded-for": forwarded}).post(path, sent)


def login(name, password, **network):
    return post("/accounts/login/", {"login": name, "password": password}, **network)


def test_a_stranger_who_guesses_passwords_keeps_nobody_else_out():
    cast.ada()
    cast.ben()
    answers = [
        login("ada", f"wrong-{number}", network=STRANGER, claimed=f"192.0.2.{number}") for number in range(26)
    ]
    assert [answer.status_code for answer in answers[:10]] == [200] * 10
    assert {answer.status_code for answer in answers[10:]} == {429}
    assert int(answers[-1]["Retry-After"]) >= 1 and "Too many attempts" in answers[-1].content.decode()
    assert login("ada", "ada-password", network=STRANGER).status_code == 429
    assert login("ada", "ada-password", network=UNIVERSITY).status_code == 302
    assert login("ben", "ben-password", network=UNIVERSITY).status_code == 302


def test_addresses_of_one_ipv6_network_are_counted_together():
    cast.ada()
    answers = [login("ada", "wrong", network=f"2001:db8::{number}") for number in range(12)]
    assert answers[-1].status_code == 429
    assert login("ada", "ada-password", network="2001:db8:0:1::1").status_code == 302


def test_a_right_password_is_not_counted():
    cast.ada()
    assert {login("ada", "ada-password", network=UNIVERSITY).status_code for _ in range(15)} == {302}


def test_messages_about_passwords_are_limited_by_address_and_network(mailoutbox):
    cast.ada()
    reset = "/accounts/password/reset/"
    answers = [post(reset, {"email": "ada@example.org"}, network=UNIVERSITY) for _ in range(7)]
    assert [answer.status_code for answer in answers] == [302] * 5 + [429] * 2 and len(mailoutbox) == 5
    assert int(answers[-1]["Retry-After"]) >= 1
    others = [post(reset, {"email": f"p{number}@example.org"}, network=STRANGER) for number in range(22)]
    assert others[19].status_code == 302 and others[-1].status_code == 429


def test_a_request_that_came_through_fewer_proxies_is_counted_by_its_own_address(settings):
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 2
    cast.ada()
    answers = [login("ada", "wrong", network="192.0.2.1") for _ in range(11)]
    assert answers[0].status_code == 200 and answers[-1].status_code == 429


def test_no_address_is_stored(client):
    login("ada", "wrong", network=STRANGER)
    stored = " ".join(f"{entry.key} {entry.value}" for entry in CacheEntry.objects.all())
    assert stored and STRANGER not in stored


@pytest.mark.django_db(transaction=True)
def test_requests_at_once_are_all_counted():
    cache.add("arrivals", 0, timeout=60)

    def count(_):
        try:
            return [caches.create_connection("default").incr("arrivals") for _ in range(10)]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        counts = [number for numbers in pool.map(count, range(4)) for number in numbers]
    assert sorted(counts) == list(range(1, 41)) and cache.get("arrivals") == 40


def test_values_expire_and_are_deleted_by_the_scheduler(monkeypatch):
    cache.set("brief", [1.5, 2], timeout=60)
    assert cache.get("brief") == [1.5, 2] and not cache.add("brief", 1) and cache.touch("brief", 90)
    monkeypatch.setattr("experiments.operation.database_cache.time", lambda: 4e9)
    assert cache.get("brief", "gone") == "gone" and not cache.touch("brief", 90)
    with pytest.raises(ValueError, match="no count"):
        cache.incr("brief")
    assert cache.add("brief", 3, timeout=None) and cache.get("brief") == 3 and cache.delete("brief")
    cache.set("brief", 1, timeout=-1)
    delete_expired_rows()
    assert not CacheEntry.objects.exists()


@pytest.fixture
def redis(settings, monkeypatch):
    """The counts in Redis, as with ``CACHE_URL``; the keys that this test stored so far."""
    where = urlparse(REDIS)
    try:
        socket.create_connection((where.hostname, where.port), timeout=1).close()
    except OSError:
        pytest.skip(f"no Redis answers at {where.hostname}:{where.port}; TEST_CACHE_URL names another")
    mark = uuid.uuid4().hex
    backend = "django.core.cache.backends.redis.RedisCache"
    entry = {
        "BACKEND": backend,
        "LOCATION": REDIS,
        "KEY_FUNCTION": lambda *words: f"{mark}:{hashed_key(*words)}",
    }
    settings.CACHES = {**settings.CACHES, "default": entry}
    # One minute for the whole test: a new one would begin a new count.
    monkeypatch.setattr("experiments.limits.time", lambda: 4e9)
    client = caches["default"]._cache.get_client(None, write=True)
    yield lambda: {key.decode(): client.ttl(key) for key in client.scan_iter(f"{mark}:*")}
    for key in client.scan_iter(f"{mark}:*"):
        client.delete(key)


def test_wrong_logins_are_limited_with_redis(redis):
    cast.ada()
    cast.ben()
    answers = [login("ada", f"wrong-{number}", network=STRANGER) for number in range(13)]
    assert [answer.status_code for answer in answers[9:]] == [200, 429, 429, 429]
    assert int(answers[-1]["Retry-After"]) >= 1
    assert login("ben", "ben-password", network=UNIVERSITY).status_code == 302
    assert redis() and STRANGER not in str(redis()) and not CacheEntry.objects.exists()


def test_counts_in_redis_are_exact_apart_and_expire(redis):
    def arrive(_):
        answers = []
        for _ in range(10):
            try:
                limits.count("arrivals", STRANGER, limit=25)
                answers.append(0)
            except limits.LimitReached as error:
                answers.append(error.retry_after_s)
        return answers

    with ThreadPoolExecutor(4) as pool:
        answers = sorted(seconds for part in pool.map(arrive, range(4)) for seconds in part)
    assert answers[:25] == [0] * 25 and len(answers) == 40 and all(1 <= s <= 60 for s in answers[25:])
    limits.count("arrivals", UNIVERSITY, limit=25)
    assert len(redis()) == 2 and all(0 < seconds <= 120 for seconds in redis().values())


def test_processes_with_the_same_cache_url_share_their_counts(redis):
    program = """
import sys
import django
django.setup()
from experiments import limits
limits.time = lambda: 4e9
for _ in range(2):
    try:
        limits.count("arrivals", sys.argv[1], limit=3)
        print("passed")
    except limits.LimitReached as error:
        print("refused", error.retry_after_s)
"""
    who = uuid.uuid4().hex  # its count expires by itself
    variables = {
        **os.environ,
        "CACHE_URL": REDIS,
        "SECRET_KEY": "k" * 50,
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    answers = [
        subprocess.run(
            [sys.executable, "-c", program, who], env=variables, capture_output=True, text=True, check=True
        ).stdout.split("\n")[:2]
        for _ in range(2)
    ]
    assert answers == [["passed", "passed"], ["passed", "refused 20"]]


@pytest.mark.parametrize(
    ("variables", "counted"),
    [
        ({"BEHIND_PROXY": "yes"}, STRANGER),
        ({}, PROXY),
        ({"BEHIND_PROXY": "yes", "TRUSTED_PROXY_COUNT": "2"}, "192.0.2.1"),
    ],
    ids=["behind a proxy", "without a proxy", "behind two proxies"],
)
def test_behind_a_proxy_the_address_that_it_appended_is_counted(variables, counted, tmp_path):
    program = f"""
import django
django.setup()
from allauth.account.adapter import get_adapter
from django.test import RequestFactory
headers = {{"x-forwarded-for": "192.0.2.1, {STRANGER}"}}
request = RequestFactory().get("/", REMOTE_ADDR="{PROXY}", headers=headers)
print(get_adapter().get_client_ip(request))
"""
    names = ("BEHIND_PROXY", "TRUSTED_PROXY_COUNT")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    environment |= {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "VAR_DIR": str(tmp_path),
        "DATABASE_URL": "",
        **variables,
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == counted
