"""Simulated participants: link, consent, instructions, plan, answers in the background, code.

They do what the browser's engine does (static/js/engine/sender.js): an answer waits in a queue until the
server acknowledges it, a failure is tried again after a growing while with jitter, the same rows again.
Every now and then they reload the page, which forgets all but the queue.
"""

import http.client
import json
import random
import re
import threading
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

FIRST_S, LONGEST_S = 0.25, 4.0  # the engine waits 1 to 60 s; a soak has less time
WAIT_S = 8.0
KEY = re.compile(r'name="arrival" value="([^"]+)"')
MARK = re.compile(r'name="mark" value="([^"]+)"')
CODE = re.compile(r"<output>([A-Z0-9]+)</output>")
SESSION = re.compile(r"/s/([-\w]+)/")
MOST = 50
FORM = "application/x-www-form-urlencoded"


class Stuck(Exception):
    """A step that did not come to its end in time, or that the server refused for good."""


class GaveUp(Stuck):
    """No answer for as long as this person waits."""


@dataclass
class Answer:
    """What came back."""

    status: int
    text: str
    location: str = ""


class Wire:
    """One kept connection, made anew after each failure."""

    def __init__(self, port: int, wait_s: float) -> None:
        self.port, self.wait_s = port, wait_s
        self.connection: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, body: str = "", kind: str = "") -> Answer:
        """Send one request; raises OSError or HTTPException when no whole answer came."""
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.wait_s)
        try:
            self.connection.request(method, path, body or None, {"Content-Type": kind} if kind else {})
            answer = self.connection.getresponse()
            return Answer(answer.status, answer.read().decode(), answer.getheader("Location") or "")
        except (OSError, http.client.HTTPException):
            self.drop()
            raise

    def drop(self) -> None:
        """Hang up."""
        if self.connection is not None:
            self.connection.close()
        self.connection = None


@dataclass(eq=False)  # two people are never the same
class Person:
    """One participant and everything they were told."""

    name: str
    slug: str
    port: int
    seed: int
    stops_after: int | None = None
    patience_s: float = 120.0
    wait_s: float = WAIT_S
    think_s: tuple[float, float] = (0.05, 0.4)
    reloads: float = 0.33
    place: Any = None  # on a platform: a link of its own, and where the code is entered
    token: str = ""
    code: str = ""
    consented: bool = False
    turned_away: str = ""
    problem: str = ""
    waited: tuple[float, float] | None = None  # who gave up: from when to when nothing was answered
    planned: list[str] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)
    n_tries: int = 0
    n_failures: int = 0
    n_broken: int = 0

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.wire = Wire(self.port, self.wait_s)

    def live(self) -> None:
        """Take part, to the end or as far as this person goes."""
        try:
            if not self.arrive():
                return
            self.sit()
            if self.stops_after is None:
                self.code = self.read_code()
                if self.place:
                    self.place.submit(self.code)
        except Stuck as stuck:
            self.problem = str(stuck)
            if isinstance(stuck, GaveUp):
                self.waited = (time.monotonic() - self.patience_s, time.monotonic())
        finally:
            self.wire.drop()

    def arrive(self) -> bool:
        """Consent; False when the study had no place before consent was asked."""
        link = self.place.link if self.place else f"/take/{self.slug}/?participant={quote(self.name)}"
        door = self.patiently("GET", link, until={200, 302})
        if door.location.startswith("/take/"):  # the address without the platform's ids
            link = door.location
            door = self.patiently("GET", link, until={200, 302})
        if door.status == 200:
            key = KEY.search(door.text)
            if key is None:
                self.turned_away = "before consent"
                return False
            self.consented = True
            form = f"arrival={quote(key[1])}&consent=yes"
            door = self.patiently(
                "POST", link, form, until={200, 302}, kind="application/x-www-form-urlencoded"
            )
        match = SESSION.search(door.location)
        if match is None:
            self.turned_away = "after consent"
            raise Stuck("turned away after consent")
        self.token = match[1]
        return True

    def sit(self) -> None:
        """Instructions and trials, for some with a reload in the middle."""
        self.load()
        n_mine = len(self.planned) if self.stops_after is None else min(self.stops_after, len(self.planned))
        reload_at = self.rng.randrange(1, n_mine) if n_mine > 1 and self.rng.random() < self.reloads else None
        failures, think_until, wait_until = 0, 0.0, 0.0
        end = time.monotonic() + self.patience_s
        while len(self.acknowledged) < n_mine:
            now = time.monotonic()
            if now > end:
                raise GaveUp(
                    f"{len(self.acknowledged)} of {n_mine} answers acknowledged in {self.patience_s} s"
                )
            if len(self.answers) < n_mine and now >= think_until:
                if len(self.answers) == reload_at:
                    reload_at = None
                    self.load()
                self.answer_next()
                think_until = now + self.rng.uniform(*self.think_s)
            waiting = [trial_id for trial_id in self.answers if trial_id not in self.acknowledged]
            if waiting and now >= wait_until:
                if self.send(waiting[:MOST]):
                    failures = 0
                    end = time.monotonic() + self.patience_s
                else:
                    wait_until = time.monotonic() + self.pause(failures)
                    failures += 1
            soonest = think_until if len(self.answers) < n_mine else wait_until
            time.sleep(max(0.01, min(soonest, wait_until or soonest) - time.monotonic()))

    def load(self) -> None:
        """Open the session's page and take its plan; what was acknowledged has to be in it."""
        page = f"/s/{self.token}/"
        mark = MARK.search(self.patiently("GET", page, until={200}).text)
        if mark and not self.acknowledged:
            form = f"mark={quote(mark[1])}"
            self.patiently("POST", f"{page}continue/", form, until={302}, kind=FORM)
        plan = json.loads(self.patiently("GET", f"/api/v1/sessions/{self.token}/plan/", until={200}).text)
        ids = [trial["id"] for trial in plan["trials"]]
        if self.planned and ids != self.planned:
            raise Stuck("another plan came back")
        stored_ids = {trial["id"] for trial in plan["trials"] if trial["is_answered"]}
        if lost := self.acknowledged - stored_ids:
            raise Stuck(f"{len(lost)} acknowledged answers are not in the plan")
        self.planned = ids
        self.options = {
            trial["id"]: [option["id"] for option in trial["options"]] for trial in plan["trials"]
        }

    def answer_next(self) -> None:
        """Choose in the first trial that has no answer."""
        trial = next(trial_id for trial_id in self.planned if trial_id not in self.answers)
        self.answers[trial] = self.rng.choice(self.options[trial])

    def send(self, trials: list[str]) -> bool:
        """Send these rows, once; whether all were acknowledged."""
        rows = [
            {"trial": trial_id, "response": self.answers[trial_id], "rt_ms": 700, "input_type": "keyboard"}
            for trial_id in trials
        ]
        answer = self.once("POST", self.answers_address, json.dumps({"judgments": rows}), "application/json")
        if answer is None:
            return False
        if answer.status in {404, 409}:
            raise Stuck(f"answers refused with {answer.status}: {answer.text[:120]}")
        if answer.status != 200:
            return False
        receipt: dict[str, Any] = json.loads(answer.text)
        if receipt["refused"] or receipt["kept_first"]:
            raise Stuck(f"refused {receipt['refused']}, kept first {receipt['kept_first']}")
        self.acknowledged.update(receipt["acknowledged"])
        return set(trials) <= self.acknowledged

    @property
    def answers_address(self) -> str:
        """Where answers go."""
        return f"/api/v1/sessions/{self.token}/judgments/"

    def read_code(self) -> str:
        """The completion code, or what the platform takes in its place, from the last page."""
        pattern = self.place.code_on_page if self.place else CODE
        match = pattern.search(self.patiently("GET", f"/s/{self.token}/", until={200}).text)
        if match is None:
            raise Stuck("every answer is acknowledged, but the last page has no code")
        return match[1]

    def patiently(self, method: str, path: str, body: str = "", *, until: set[int], kind: str = "") -> Answer:
        """Send the same until it is answered; a refusal for good, no answer in time :class:`GaveUp`."""
        end, failures = time.monotonic() + self.patience_s, 0
        while time.monotonic() < end:
            answer = self.once(method, path, body, kind)
            if answer is not None and answer.status in until:
                return answer
            if answer is not None and answer.status < 500:
                raise Stuck(f"{method} {path} answered {answer.status}")
            time.sleep(self.pause(failures))
            failures += 1
        what = SESSION.sub("/s/…/", path).partition("?")[0]
        raise GaveUp(f"{method} {what} was not answered in {self.patience_s:.0f} s")

    def once(self, method: str, path: str, body: str = "", kind: str = "") -> Answer | None:
        """One try; None when no whole answer came."""
        self.n_tries += 1
        try:
            answer = self.wire.ask(method, path, body, kind)
        except (OSError, http.client.HTTPException):
            self.n_failures += 1
            return None
        self.n_failures += answer.status >= 500
        self.n_broken += answer.status == 500
        return answer

    def pause(self, failures: int) -> float:
        """How long to wait after so many failures, with jitter."""
        return min(LONGEST_S, FIRST_S * 2**failures) * self.rng.uniform(0.5, 1)


class Crowd:
    """People who take part at once: whoever ends is followed by another until the crowd is told to stop."""

    def __init__(
        self, slug: str, port: int, *, at_once: int, seed: int, drop_outs: float, label: str, **how: Any
    ) -> None:
        self.slug, self.port, self.label, self.drop_outs = slug, port, label, drop_outs
        self.share_paid, self.take_place = how.pop("share_paid", 0.0), how.pop("take_place", None)
        self.spread_s, self.how = how.pop("spread_s", 0.0), how
        self.rng, self.people, self.lock = random.Random(seed), [], threading.Lock()
        self.is_open = threading.Event()
        self.is_open.set()
        self.threads = [threading.Thread(target=self._follow, daemon=True) for _ in range(at_once)]
        for thread in self.threads:
            thread.start()

    def _follow(self) -> None:
        with self.lock:
            delay = self.rng.uniform(0, self.spread_s)
        time.sleep(delay)
        while self.is_open.is_set():
            self._next().live()

    def _next(self) -> Person:
        with self.lock:
            stops = self.rng.randrange(0, 8) if self.rng.random() < self.drop_outs else None
            name = f"{self.label} {len(self.people) + 1}"
            how = dict(self.how)
            if self.take_place and self.rng.random() < self.share_paid:
                how["place"] = self.take_place()
            seed = self.rng.randrange(2**32)
            person = Person(name, self.slug, self.port, seed=seed, stops_after=stops, **how)
            self.people.append(person)
            return person

    def finish(self) -> list[Person]:
        """Let nobody else begin; wait until those who are in it are through."""
        self.is_open.clear()
        for thread in self.threads:
            thread.join()
        return self.people
