"""A served model, by a double that answers as the completions interface does."""

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from threading import Condition

import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.errors import BadInput
from analysis.scoring import http_server, score_sentences, scorer
from analysis.scoring.base import FLAG_MARKED, FLAG_SAME, FLAGS, flag_counts
from analysis.scoring.conventions import scoring_conventions
from analysis.scoring.judgment_prompts import PromptScorer, prompt_question
from analysis.scoring.words.regions import score_words
from tools.doubles import serving


class Double(BaseHTTPRequestHandler):
    """Echoes prompts of text or of numbers; a token's log probability is minus its length or its number.

    The first token has none. ``forgets``: what was asked before comes back without probabilities, as from a
    cache of prefixes. ``drifts``: every answer differs. ``deaf``: numbers are not understood. ``mark`` is put
    before texts and counted in the offsets, as vLLM does. ``is_echo_ignored``: only the generated token comes
    back, at 0, as from servers that know no echo.
    """

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        server.requests.append((self.path, body, self.headers.get("Authorization")))
        server.times.append(time.monotonic())
        with server.changed:
            server.busy += 1
            server.most_at_once = max(server.most_at_once, server.busy)
            server.changed.notify_all()
            server.changed.wait_for(lambda: server.most_at_once >= server.gathers, timeout=60)
        if server.slow_s:  # the later a request comes, the sooner it is answered
            time.sleep(server.slow_s / len(server.requests))
        with server.changed:  # before the answer, after which the client may send its next request
            server.busy -= 1
        self.answer(server, body)

    def answer(self, server, body):
        status = server.failures.pop(0) if server.failures else 200
        prompts = body.get("prompt", [])
        if server.refuses and any(server.refuses in str(prompt) for prompt in prompts):
            status = 400
        if status != 200:
            payload = json.dumps({"error": {"message": "this text is too long"}}).encode()
            self.send_response(status)
            for name, value in server.headers.items():
                self.send_header(name, value)
        else:
            choices = [self.choice(place, prompt) for place, prompt in enumerate(prompts)]
            payload = json.dumps({"choices": choices[::-1]}).encode()
            self.send_response(200)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def choice(self, place, prompt):
        if self.server.silent:
            return {"index": place, "text": prompt, "logprobs": None}
        if isinstance(prompt, str):
            tokens = [(" " if number else "") + word for number, word in enumerate(prompt.split(" "))]
            logprobs = [-float(len(token)) for token in [*tokens, " more"]]
        else:
            tokens = [f"token_id:{number}" for number in prompt]
            logprobs = [-float(number) for number in [*prompt, 5]]
        tokens, logprobs[0] = [*tokens, " more"], None
        if self.server.deaf:
            tokens, logprobs = tokens[:1], logprobs[:1]
        if self.server.forgets and prompt in self.server.prompts:
            logprobs[1] = None
        self.server.prompts.append(prompt)
        if self.server.drifts:
            logprobs[1] -= len(self.server.prompts)
        if self.server.mark and isinstance(prompt, str):
            tokens, logprobs = [self.server.mark, *tokens], [None, -float(len(tokens[0])), *logprobs[1:]]
        if self.server.is_echo_ignored:
            tokens, logprobs = tokens[-1:], logprobs[-1:]
        document = {"tokens": tokens, "token_logprobs": logprobs, "top_logprobs": [None] * len(tokens)}
        if self.server.offsets and isinstance(prompt, str):
            document["text_offset"] = list(np.cumsum([0, *map(len, tokens[:-1])]).tolist())
        return {"index": place, "text": f"{prompt} more", "logprobs": document}

    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(http_server, "FIRST_WAIT_S", 0.01)
    double = ThreadingHTTPServer(("127.0.0.1", 0), Double)
    double.requests, double.times, double.failures, double.prompts, double.offsets = [], [], [], [], True
    double.silent = double.forgets = double.drifts = double.deaf = double.is_echo_ignored = False
    double.mark = ""
    double.changed, double.gathers = Condition(), 0
    double.refuses, double.headers, double.busy, double.most_at_once, double.slow_s = "", {}, 0, 0, 0.0
    with serving(double):
        yield double


def last_request(server):
    """The bodies of the requests after those that try the server out."""
    return [body for _, body, _ in server.requests][-1]


def address(server, options=""):
    return f"openai:http://127.0.0.1:{server.server_port}/v1#tiny{options}"


def test_the_sum_leaves_out_the_first_and_the_generated_tokens_with_a_flag(server):
    scores = scorer(address(server)).score(["the cat sleeps", "a dog", "the cat sleeps"])
    assert scores.logprob.tolist() == [-11.0, -4.0, -11.0]
    assert scores.n_tokens.tolist() == [3, 2, 3]
    assert (scores.flags & FLAGS["first token not scored"] > 0).all()
    path, body, _ = server.requests[-1]
    assert path == "/v1/completions" and body["prompt"] == ["the cat sleeps", "a dog"]
    assert (body["echo"], body["max_tokens"], body["temperature"]) == (True, 1, 0)


def test_with_a_text_to_start_from_every_token_counts(server):
    scores = scorer(address(server, "?start=%3Cs%3E&space=yes")).score(["the cat"])
    assert scores.logprob.tolist() == [-8.0] and not scores.flags.any()
    assert last_request(server)["prompt"] == ["<s> the cat"]


def test_beginning_mark_of_the_server_moves_no_token_and_is_not_scored(server):
    server.mark = "<|begin_of_text|>"
    for server.offsets in (True, False):
        model = scorer(address(server))
        scores = model.score(["the cat sleeps", "a dog"], tokens=True)
        assert "puts '<|begin_of_text|>' before" in " ".join(model.warnings)
        frame = pd.DataFrame({"sentence_id": ["a"], "sentence": ["the cat sleeps"]})
        record = score_sentences(model, frame).summary
        assert scoring_conventions(record)["beginning"].startswith("the server's mark if it writes one")
        assert scores.logprob.tolist() == [-14.0, -5.0] and scores.n_tokens.tolist() == [3, 2]
        assert not scores.flags.any() and scores.spans[0] == [(0, 3), (3, 7), (7, 14)]


def test_server_that_returns_only_what_it_generates_is_refused(server):
    server.is_echo_ignored = True
    with pytest.raises(BadInput, match="echoes another text"):
        scorer(address(server)).score(["the cat sleeps"])


def test_a_server_that_is_busy_is_asked_again_and_a_key_is_sent(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    server.failures = [429, 503]
    assert scorer(address(server)).score(["a dog"]).logprob.tolist() == [-4.0]
    assert len(server.requests) == 2 + 3 and server.requests[0][2] == "Bearer secret"


def test_a_client_error_is_reported_at_once_with_the_address(server):
    server.failures = [404]
    with pytest.raises(BadInput, match="answers 404") as problem:
        scorer(address(server)).score(["a dog"])
    assert len(server.requests) == 1 and "127.0.0.1" in str(problem.value)


def test_a_chat_server_without_log_probabilities_is_no_scorer(server):
    server.silent = True
    with pytest.raises(BadInput, match="no log probabilities of the prompt"):
        scorer(address(server)).score(["a dog"])


def test_an_empty_sentence_is_not_sent(server):
    scores = scorer(address(server)).score(["", "a dog"])
    assert np.isnan(scores.logprob).tolist() == [True, False]
    assert all(body["prompt"] == ["a dog"] for _, body, _ in server.requests)


def test_a_malformed_address_is_refused_with_its_syntax():
    with pytest.raises(BadInput, match="http://host/v1#model"):
        scorer("openai:gpt-x")


def test_a_few_sentences_are_asked_for_twice_once(server):
    model = scorer(address(server))
    model.score(["the cat sleeps", "a dog"])
    assert "asked twice" in model.why
    n = len(server.requests)
    model.score(["one more"])
    assert len(server.requests) == n + 1


@pytest.mark.parametrize(
    ("fault", "message"), [("forgets", "no probability"), ("drifts", "other probabilities")]
)
def test_a_cache_of_prefixes_that_changes_probabilities_is_found_out(server, fault, message):
    setattr(server, fault, True)
    with pytest.raises(BadInput, match=message) as problem:
        scorer(address(server)).score(["the cat sleeps", "a dog"])
    assert "prefix" in str(problem.value)


def test_a_server_without_offsets_has_to_echo_what_was_sent(server, monkeypatch):
    server.offsets = False
    assert scorer(address(server)).score(["the cat"]).logprob.tolist() == [-4.0]
    honest = Double.choice

    def another(self, place, prompt):
        choice = honest(self, place, prompt)
        choice["logprobs"]["tokens"][0] = "A"
        return choice

    monkeypatch.setattr(Double, "choice", another)
    with pytest.raises(BadInput, match="echoes another text"):
        scorer(address(server)).score(["the cat"])


@pytest.fixture
def tokenizer(tmp_path):
    """A tokenizer of words in a folder, with a beginning mark 0."""
    tokenizers = pytest.importorskip("tokenizers", reason="an extra: make install-models")
    transformers = pytest.importorskip("transformers", reason="an extra: make install-models")
    words = {"<s>": 0, "<unk>": 1, "the": 2, "cat": 3, "sleeps": 4}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    marks = {"bos_token": "<s>", "unk_token": "<unk>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks).save_pretrained(tmp_path)
    return tmp_path


def test_numbers_of_tokens_are_sent_after_the_beginning_mark(server, tokenizer):
    model = scorer(address(server, f"?tokenizer={tokenizer}"))
    scores = model.score(["the cat sleeps"], tokens=True)
    assert last_request(server)["prompt"] == [[0, 2, 3, 4]]
    assert scores.logprob.tolist() == [-9.0] and not scores.flags.any()
    assert scores.spans == [[(0, 3), (4, 7), (8, 14)]]
    assert model.spec.bos and model.spec.options["mark"] == "bos:0"
    bare = scorer(address(server, f"?tokenizer={tokenizer}&bos=none"))
    scores = bare.score(["the cat sleeps"])
    assert last_request(server)["prompt"] == [[2, 3, 4]] and scores.logprob.tolist() == [-7.0]
    assert (scores.flags & FLAGS["first token not scored"] > 0).all()
    assert bare.spec.spec_id != model.spec.spec_id


def test_a_server_that_accepts_no_token_ids_is_detected(server, tokenizer):
    server.deaf = True
    with pytest.raises(BadInput, match="4 tokens were sent, the server returns 1 probabilities"):
        scorer(address(server, f"?tokenizer={tokenizer}")).score(["the cat sleeps"])


def test_text_and_numbers_do_not_mix(server, tokenizer):
    with pytest.raises(BadInput, match="tokenizer sends token ids"):
        scorer(address(server, f"?tokenizer={tokenizer}&start=x"))
    with pytest.raises(BadInput, match="bos needs the tokenizer"):
        scorer(address(server, "?bos=eos"))


def test_a_word_after_a_prefix_is_scored_from_the_echo(server):
    scores = score_words(scorer(address(server)), ["the cat", "a"], ["sleeps", "dog"])
    assert scores.logprob.tolist() == [-7.0, -4.0]


def test_single_tokens_give_slor_over_the_tokens_that_have_a_probability(server, tokenizer, tmp_path):
    corpus, single = tmp_path / "corpus.txt", tmp_path / "single.txt"
    corpus.write_text("the cat\nthe cat sleeps\n")
    out = StringIO()
    call_command(
        "train_unigram", address(server, f"?tokenizer={tokenizer}"), corpus, "--out", single, stdout=out
    )
    assert "5 tokens" in out.getvalue() and not server.requests
    alone = np.log(np.array([1, 1, 3, 3, 2]) / 10)
    frame = pd.DataFrame({"sentence_id": ["s"], "sentence": ["the cat sleeps"]})
    for mark, logprob, unigrams in (("auto", -9.0, alone[[2, 3, 4]]), ("none", -7.0, alone[[3, 4]])):
        model = scorer(address(server, f"?tokenizer={tokenizer}&bos={mark}&unigram={single}"))
        assert "unigram" in model.capabilities and model.spec.options["unigram"].startswith("sha256:")
        row = score_sentences(model, frame, methods=["slor", "normlp"], name="m").frame.iloc[0]
        assert row["m:slor"] == pytest.approx((logprob - unigrams.sum()) / 3)
        assert row["m:normlp"] == pytest.approx(-logprob / unigrams.sum())


def test_single_tokens_need_the_tokenizer_here(server, tmp_path):
    with pytest.raises(BadInput, match="unigram needs the tokenizer here"):
        scorer(address(server, "?unigram=x.txt"))
    (tmp_path / "corpus.txt").write_text("the cat\n")
    with pytest.raises(CommandError, match="tokenizes sentences on its server"):
        call_command("train_unigram", address(server), tmp_path / "corpus.txt", "--out", tmp_path / "x.txt")
    assert not (tmp_path / "x.txt").exists()


def test_unknown_words_and_indistinguishable_sentences_are_flagged(server, tokenizer):
    scores = scorer(address(server, f"?tokenizer={tokenizer}")).score(["the dog", "the bird", "the cat"])
    assert scores.n_unk.tolist() == [1, 1, 0]
    assert flag_counts(scores.flags) == {"unknown tokens": 2, "indistinguishable from another sentence": 2}


def test_sentences_with_the_same_echo_are_flagged(server, monkeypatch):
    honest = Double.choice
    monkeypatch.setattr(Double, "choice", lambda self, place, prompt: honest(self, place, prompt.lower()))
    scores = scorer(address(server)).score(["the Cat", "the cat", "a dog "])
    assert (scores.flags & FLAG_SAME > 0).tolist() == [True, True, False]
    assert (scores.flags & FLAG_MARKED > 0).tolist() == [False, False, True]


def test_score_after_a_context_is_the_difference_of_two_sums(server):
    """Each token is worth minus its length: the sentence's tokens, and those of the context not."""
    frame = pd.DataFrame({
        "sentence_id": ["a", "b"],
        "sentence": ["the cat", "the cat"],
        "context": ["Dogs slept all day.", ""],
    })  # fmt: skip
    model = scorer(address(server))
    scored = score_sentences(model, frame)
    joint, before = model.score(["Dogs slept all day. the cat", "Dogs slept all day."]).logprob
    assert scored.frame.iloc[:, 1].tolist() == [joint - before, -4.0]
    assert scored.summary["flags"] == {"first token not scored": 1}


def test_sixteen_requests_are_under_way_at_once_and_the_order_is_kept(server):
    sentences = [f"the {'x' * length}" for length in range(1, 41)]
    model = scorer(address(server, "?batch=1"))
    model.score(["a dog"])  # the requests that try the server out come one by one
    server.gathers, server.slow_s = 16, 2.0
    progress = []
    scores = model.score(sentences, progress=progress.append)
    assert scores.logprob.tolist() == [-(length + 1.0) for length in range(1, 41)]
    assert server.most_at_once == 16 and progress == [1] * 40
    assert scorer(address(server, "?requests=2")).server.n_requests == 2


def test_one_request_at_a_time_where_the_server_takes_no_more(server):
    server.slow_s = 0.05
    scorer(address(server, "?batch=1&requests=1")).score([f"the {n}" for n in range(6)])
    assert server.most_at_once == 1


def test_waits_double_are_shortened_at_random_and_never_shorter_than_the_server_asks(server, monkeypatch):
    waits = []
    monkeypatch.setattr(http_server, "FIRST_WAIT_S", 1.0)
    monkeypatch.setattr(http_server.time, "sleep", waits.append)
    server.failures = [503] * http_server.ATTEMPTS
    with pytest.raises(BadInput, match=r"answers 503 \(this text is too long\)"):
        scorer(address(server, "?requests=1")).score(["a dog"])
    assert len(waits) == http_server.ATTEMPTS - 1 and len(server.requests) == http_server.ATTEMPTS
    for number, wait in enumerate(waits):
        assert 0.5 * 2**number <= wait <= 2**number
    waits.clear()
    server.failures, server.headers = [429], {"Retry-After": "7"}
    scorer(address(server, "?requests=1")).score(["a dog"])
    assert waits and waits[0] == 7.0


def test_retry_after_is_kept_by_every_request(server):
    server.failures, server.headers = [429], {"Retry-After": "0.4"}
    scorer(address(server)).score(["a dog"])
    assert server.times[1] - server.times[0] >= 0.4


def test_a_server_that_asks_to_wait_for_an_hour_is_not_waited_for(server):
    server.failures, server.headers = [429], {"Retry-After": "3600"}
    with pytest.raises(BadInput, match="asks to wait 3600 s"):
        scorer(address(server)).score(["a dog"])


def test_a_sentence_that_the_server_refuses_is_named_and_the_others_are_scored(server):
    server.refuses = "endless"
    model = scorer(address(server))
    scores = model.score(["a dog", "an endless cat", "the cat sleeps", "the cat", "one more"], tokens=True)
    assert np.isnan(scores.logprob).tolist() == [False, True, False, False, False]
    assert scores.logprob[[0, 2]].tolist() == [-4.0, -11.0]
    assert flag_counts(scores.flags)["score not finite"] == 1
    (warning,) = model.warnings
    assert "'an endless cat'" in warning and "too long" in warning


def test_a_server_that_refuses_every_sentence_is_reported_with_the_reason(server):
    server.refuses = "a"
    with pytest.raises(BadInput, match=r"refuses every sentence.*too long"):
        scorer(address(server)).score(["a dog", "a cat"])


def test_a_server_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(http_server, "FIRST_WAIT_S", 0.001)
    with pytest.raises(BadInput, match="http://127.0.0.1:9/v1.*does not answer"):
        scorer("openai:http://127.0.0.1:9/v1#m").score(["a dog"])


class Chatty(Double):
    """The chat interface: "Yes" has −1, " Yes" −2, "No" −3 whatever is asked; 1 and 2 are listed too."""

    def do_POST(self):
        if not self.path.endswith("/chat/completions"):
            return super().do_POST()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, body, None))
        listed = {"Yes": -1.0, " Yes": -2.0, "No": -3.0, "1": -4.0, "2": -4.0}
        alternatives = [{"token": token, "logprob": value} for token, value in listed.items()]
        content = (
            [] if self.server.silent else [{"token": "Yes", "logprob": -1.0, "top_logprobs": alternatives}]
        )
        payload = json.dumps({"choices": [{"logprobs": {"content": content}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)


@pytest.fixture
def chat_server(server):
    server.RequestHandlerClass = Chatty
    return server


def test_served_chat_model_is_asked_and_its_alternatives_are_read(chat_server):
    model = PromptScorer(scorer(address(chat_server)), "yes_no")
    scores = model.score([prompt_question("the cat sleeps"), prompt_question("a dog")])
    assert scores.logprob.tolist() == pytest.approx([np.logaddexp(-1, -2) + 3.0] * 2)
    path, body, _ = chat_server.requests[0]
    assert path == "/v1/chat/completions" and body["top_logprobs"] == 20 and body["max_tokens"] == 1
    texts = {body["messages"][0]["content"] for _, body, _ in chat_server.requests}
    assert len(texts) == 4 and sum("Yes or No" in text for text in texts) == 2
    assert model.spec.options["read"].startswith("first token among 20") and not model.warnings


def test_answers_missing_from_the_alternatives_are_reported(chat_server):
    model = PromptScorer(scorer(address(chat_server)), "rating")
    assert model.score([prompt_question("a dog")]).logprob.tolist() == pytest.approx([1.5])
    assert "10 of 14 answers are not among the 20 alternatives" in model.warnings[0]
    choice = PromptScorer(scorer(address(chat_server)), "forced_choice")
    assert np.isnan(choice.score([prompt_question("a dog", others=["a cat"])]).logprob).all()


def test_chat_server_without_alternatives_is_refused_with_its_requirements(chat_server):
    chat_server.silent = True
    with pytest.raises(BadInput, match="no log probabilities of answers.*top_logprobs"):
        PromptScorer(scorer(address(chat_server)), "yes_no").score([prompt_question("a dog")])


def test_with_a_tokenizer_here_the_template_and_the_answer_are_sent_as_numbers(server, tokenizer):
    transformers = pytest.importorskip("transformers", reason="an extra: make install-models")
    chat_tokenizer = transformers.AutoTokenizer.from_pretrained(tokenizer)
    chat_tokenizer.chat_template = "{{ messages[0]['content'] }} <s>"
    chat_tokenizer.save_pretrained(tokenizer)
    uri = address(server, f"?tokenizer={tokenizer}&question=%7Bsentence%7D&answers=cat,sleeps")
    model = PromptScorer(scorer(uri), "yes_no")
    assert model.score([prompt_question("the the")]).logprob.tolist() == [-3.0 + 4.0]
    assert [2, 2, 0, 3] in last_request(server)["prompt"] and [2, 2, 0, 4] in last_request(server)["prompt"]
    assert model.spec.options["read"] == "log probability of the answer's tokens"


def test_command_asks_a_chat_server_only_what_is_requested(chat_server, tmp_path):
    (tmp_path / "sentences.csv").write_text("sentence_id,sentence\na,the cat\n")
    call_command(
        "score", address(chat_server), "--sentences", str(tmp_path / "sentences.csv"), "--method", "yes_no",
        "--to", str(tmp_path / "out.csv"), stdout=StringIO(), stderr=StringIO(),
    )  # fmt: skip
    assert pd.read_csv(tmp_path / "out.csv").iloc[0, 1] == pytest.approx(np.logaddexp(-1, -2) + 3)
    assert {path for path, _, _ in chat_server.requests} == {"/v1/chat/completions"}
