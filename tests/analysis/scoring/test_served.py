"""A served model, by a double that answers as the completions interface does."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest

from analysis.errors import BadInput
from analysis.scoring import scorer, served
from analysis.scoring.base import FLAGS


class Double(BaseHTTPRequestHandler):
    """Echoes prompts; a token's log probability is minus its length, the first has none."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        server.seen.append((self.path, body, self.headers.get("Authorization")))
        if server.failures:
            self.send_response(server.failures.pop(0))
            self.end_headers()
            return
        choices = [self.choice(place, prompt) for place, prompt in enumerate(body["prompt"])]
        said = json.dumps({"choices": choices[::-1]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def choice(self, place, prompt):
        if self.server.silent:
            return {"index": place, "text": prompt, "logprobs": None}
        pieces = [(" " if number else "") + word for number, word in enumerate(prompt.split(" "))]
        tokens = [*pieces, " more"]
        offsets = list(np.cumsum([0, *map(len, tokens[:-1])]).tolist())
        logprobs = [None, *(-float(len(token)) for token in tokens[1:])]
        words = {"tokens": tokens, "token_logprobs": logprobs, "text_offset": offsets}
        return {"index": place, "text": prompt + " more", "logprobs": words}

    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(served, "FIRST_WAIT_S", 0.01)
    made = ThreadingHTTPServer(("127.0.0.1", 0), Double)
    made.seen, made.failures, made.silent = [], [], False
    Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def address(server, options=""):
    return f"openai:http://127.0.0.1:{server.server_port}/v1#tiny{options}"


def test_the_sum_leaves_out_the_first_token_and_what_was_generated_and_says_so(server):
    found = scorer(address(server)).score(["the cat sleeps", "a dog", "the cat sleeps"])
    assert found.logprob.tolist() == [-11.0, -4.0, -11.0]
    assert found.n_tokens.tolist() == [3, 2, 3]
    assert (found.flags & FLAGS["first token not scored"] > 0).all()
    path, body, _ = server.seen[0]
    assert path == "/v1/completions" and body["prompt"] == ["the cat sleeps", "a dog"]
    assert (body["echo"], body["max_tokens"], body["temperature"]) == (True, 1, 0)


def test_with_a_text_to_start_from_every_token_counts(server):
    found = scorer(address(server, "?start=%3Cs%3E&space=yes")).score(["the cat"])
    assert found.logprob.tolist() == [-8.0] and not found.flags.any()
    assert server.seen[0][1]["prompt"] == ["<s> the cat"]


def test_a_server_that_is_busy_is_asked_again_and_a_key_is_sent(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    server.failures = [429, 503]
    assert scorer(address(server)).score(["a dog"]).logprob.tolist() == [-4.0]
    assert len(server.seen) == 3 and server.seen[0][2] == "Bearer secret"


def test_a_refusal_is_said_at_once_with_the_address(server):
    server.failures = [404]
    with pytest.raises(BadInput, match="answers 404") as problem:
        scorer(address(server)).score(["a dog"])
    assert len(server.seen) == 1 and "127.0.0.1" in str(problem.value)


def test_a_chat_server_without_log_probabilities_is_no_scorer(server):
    server.silent = True
    with pytest.raises(BadInput, match="no log probabilities of the prompt"):
        scorer(address(server)).score(["a dog"])


def test_an_empty_sentence_is_not_sent(server):
    found = scorer(address(server)).score(["", "a dog"])
    assert np.isnan(found.logprob).tolist() == [True, False]
    assert server.seen[0][1]["prompt"] == ["a dog"]


def test_what_is_no_address_says_how_to_write_one():
    with pytest.raises(BadInput, match="http://host/v1#model"):
        scorer("openai:gpt-x")
