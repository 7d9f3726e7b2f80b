"""A download that breaks off, from a double of the hub: told, never used half, and gone on with."""

import hashlib
import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from analysis.scoring import scorer
from tests.analysis.scoring.neural.conftest import SENTENCES
from tools.doubles import serving

pytest.importorskip("torch", reason="neural models are an extra: make install-models")
pytest.importorskip("transformers", reason="neural models are an extra: make install-models")

ROOT = Path(__file__).resolve().parents[4]
COMMIT, WEIGHTS = "c" * 40, "model.safetensors"
PROGRAM = """
import json, sys
from analysis.errors import BadInput
from analysis.scoring import scorer
try:
    model = scorer("hf-causal:owner/tiny")
except BadInput as error:
    print(json.dumps({"error": str(error)}))
else:
    found = model.score(json.loads(sys.argv[1]))
    print(json.dumps({"revision": model.spec.revision, "logprob": found.logprob.tolist()}))
"""


class Hub(BaseHTTPRequestHandler):
    """Serves a folder as the model owner/tiny; while ``breaks``, weights end in the middle."""

    protocol_version = "HTTP/1.1"
    folder: Path
    breaks = True

    def do_GET(self) -> None:
        """Answer with a file, or with what the hub says of one that is not there."""
        name = self.path.partition("?")[0].removeprefix("/owner/tiny/resolve/").partition("/")[2]
        file = self.folder / name
        if not self.path.startswith("/owner/tiny/resolve/") or not file.is_file():
            self.send_response(404)
            for key, value in (("X-Error-Code", "EntryNotFound"), ("Content-Length", "0")):
                self.send_header(key, value)
            self.end_headers()
            return
        content = file.read_bytes()
        begin = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").partition("-")[0])
        self.send_response(206 if begin else 200)
        for key, value in (
            ("Content-Length", str(len(content) - begin)),
            ("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}"),
            ("Accept-Ranges", "bytes"),
            ("ETag", f'"{hashlib.sha256(content).hexdigest()}"'),
            ("X-Repo-Commit", COMMIT),
        ):
            self.send_header(key, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if self.breaks and name == WEIGHTS:
            middle = begin + (len(content) - begin) // 2
            self.wfile.write(content[begin:middle])
            self.close_connection = True
            self.connection.close()
            return
        self.wfile.write(content[begin:])

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *args) -> None:
        """Say nothing."""


@pytest.fixture
def hub(causal):
    """The double, with a tiny model behind it."""
    handler = type("TinyHub", (Hub,), {"folder": causal("gpt2").folder})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.handler = handler
    with serving(server):
        yield server


def download_and_score(hub, cache: Path) -> dict:
    """What a fresh process says that opens the model of the hub."""
    offline = {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_TOKEN"}
    env = {name: value for name, value in os.environ.items() if name not in offline} | {
        "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}", "HF_HOME": str(cache),
        "HF_HUB_CACHE": str(cache / "hub"), "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1",
        "NO_PROXY": "127.0.0.1",
    }  # fmt: skip
    words = [sys.executable, "-c", PROGRAM, json.dumps(SENTENCES)]
    process = subprocess.run(words, env=env, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert process.returncode == 0, process.stderr
    assert "resume" not in process.stderr and "Retrying" not in process.stderr  # the one line tells it
    return json.loads(process.stdout.strip().splitlines()[-1])


def test_an_interrupted_download_is_reported_never_used_and_continued(hub, causal, tmp_path):
    failure = download_and_score(hub, tmp_path)
    assert "the model 'owner/tiny' cannot be opened: the download stopped (peer closed" in failure["error"]
    assert "continues when the command is run again" in failure["error"]
    assert not list(tmp_path.rglob(WEIGHTS))  # nothing half-written is taken for a model
    hub.handler.breaks = False
    report = download_and_score(hub, tmp_path)
    assert report["revision"] == f"commit:{COMMIT}"
    right = scorer(causal("gpt2").address("hf-causal")).score(SENTENCES).logprob
    np.testing.assert_allclose(report["logprob"], right, atol=1e-5)
