"""The programs of the page *Automate* verify what this server signs."""

import os
import shutil
import subprocess
import time

import pytest

from experiments.webhooks.delivery import signature
from experiments.webhooks.events import EVENTS
from tests.webhook_events import PAGE, block

SECRET, EVENT, BODY = (
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "0b7c",
    '{"type": "release.frozen", "ü": 1}'.encode(),
)


def test_the_python_of_the_page_accepts_deliveries_and_refuses_forged_and_old_ones():
    names = {}
    exec(block("python", "def is_genuine"), names)
    now = str(int(time.time()))
    signed = f"v1,bm9uZQ== {signature(SECRET, EVENT, now, BODY)}"
    headers = {"webhook-id": EVENT, "webhook-timestamp": now, "webhook-signature": signed}
    assert names["is_genuine"](headers, BODY, SECRET)
    assert not names["is_genuine"](headers, BODY + b" ", SECRET)
    assert not names["is_genuine"]({**headers, "webhook-id": "other"}, BODY, SECRET)
    assert not names["is_genuine"](headers, BODY, "whsec_AAAA")
    assert not names["is_genuine"](headers, BODY, SECRET, now=int(now) + 301)


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
def test_the_shell_of_the_page_computes_the_signature(tmp_path):
    (tmp_path / "body.json").write_bytes(BODY)
    variables = {**os.environ, "SECRET": SECRET, "ID": EVENT, "TIMESTAMP": "1614265330"}
    printed = subprocess.run(
        ["bash", "-c", block("bash", "openssl dgst")],
        cwd=tmp_path, env=variables, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert f"v1,{printed.strip()}" == signature(SECRET, EVENT, "1614265330", BODY)


def test_every_event_is_on_the_page():
    assert [event for event in EVENTS if f"| `{event}` |" not in PAGE] == []


@pytest.mark.skipif(not shutil.which("Rscript"), reason="R is not installed")
def test_the_r_of_the_page_accepts_deliveries_and_refuses_forged_ones(tmp_path):
    if subprocess.run(["Rscript", "-e", "library(openssl)"], capture_output=True).returncode:
        pytest.skip("R has no package openssl")
    now = str(int(time.time()))
    signed = signature(SECRET, EVENT, now, BODY)
    (tmp_path / "body.json").write_bytes(BODY)
    calls = f"""
    body <- readBin("body.json", "raw", 1000)
    call <- function(id, timestamp, body) is_genuine(id, timestamp, "v1,AA== {signed}", body, "{SECRET}")
    cat(call("{EVENT}", "{now}", body), call("x", "{now}", body), call("{EVENT}", "1", body))
    """
    program = block("r", "is_genuine").split("#* @post")[0] + calls
    (tmp_path / "check.R").write_text(program, encoding="utf-8")
    printed = subprocess.run(["Rscript", "check.R"], cwd=tmp_path, capture_output=True, text=True).stdout
    assert printed == "TRUE FALSE FALSE"
