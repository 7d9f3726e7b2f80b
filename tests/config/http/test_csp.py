"""Every answer says what a browser may do with it."""

import pytest
from django.test import Client

from tests.cast import study

pytestmark = pytest.mark.django_db


def policy(address):
    return Client().get(address).headers.get("Content-Security-Policy", "")


def test_a_page_may_use_this_host_only_and_no_inline_script():
    study("agreement")
    for address in ("/take/agreement/", "/accounts/login/", "/take/nothing/"):
        said = policy(address)
        assert "default-src 'none'" in said and "script-src 'self'" in said
        assert "frame-ancestors 'none'" in said
        assert "unsafe" not in said and "nonce" not in said


def test_data_may_do_nothing():
    assert policy("/api/v1/sessions/nobody/plan/") == "default-src 'none'; frame-ancestors 'none'"


def test_the_admin_keeps_its_own_scripts():
    assert policy("/admin/login/") == ""
