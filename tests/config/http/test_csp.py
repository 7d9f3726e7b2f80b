"""Every answer says what a browser may do with it."""

import pytest
from django.test import Client

from tests.cast import study

pytestmark = pytest.mark.django_db


def policy(address):
    return Client().get(address).headers.get("Content-Security-Policy", "")


def test_a_page_may_use_this_host_only_and_no_inline_script():
    study("agreement")
    for address in ("/take/agreement/", "/accounts/login/", "/take/nothing/", "/admin/login/"):
        policy_text = policy(address)
        assert "default-src 'none'" in policy_text and "script-src 'self'" in policy_text
        assert "frame-ancestors 'none'" in policy_text
        assert "unsafe" not in policy_text and "nonce" not in policy_text


def test_data_may_do_nothing():
    assert policy("/api/v1/sessions/nobody/plan/") == "default-src 'none'; frame-ancestors 'none'"
