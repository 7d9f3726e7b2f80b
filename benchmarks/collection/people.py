"""Participants for the load test (``bench_people.py``), as Locust's users: link to code with pauses to think.

Each opens the study's link, consents, reads the instructions, asks for the plan, and sends one answer after
the other, as the trial engine does; whoever is through is followed by another person.
"""

import os
import random
import re
from uuid import uuid4

import gevent
from locust import FastHttpUser, constant, task

KEY = re.compile(r'name="arrival" value="([^"]+)"')
MARK = re.compile(r'name="mark" value="([^"]+)"')
THINK_S = tuple(map(float, os.environ.get("THINK_S", "2,4").split(",")))  # at one trial; at instructions, too
ADDRESS = os.environ.get("STUDY_ADDRESS", "/take/people/")


class Person(FastHttpUser):
    """One person after the other."""

    wait_time = constant(0)
    connection_timeout = network_timeout = 30.0

    def think(self) -> None:
        """Read, or judge."""
        gevent.sleep(random.uniform(*THINK_S))

    def on_start(self) -> None:
        """Arrive at any moment of the time that one judgment takes."""
        gevent.sleep(random.uniform(0, THINK_S[1]))

    @task
    def take_part(self) -> None:
        """Take part from the link to the code, as somebody new: in a browser without cookies."""
        self.client.cookiejar.clear()
        link = f"{ADDRESS}?participant={uuid4().hex}"
        page = self.client.get(link, name="1 link").text or ""
        key = KEY.search(page)
        if key is None:
            return
        self.think()
        form = {"arrival": key[1], "consent": "yes"}
        with self.client.post(
            link, data=form, name="2 consent", allow_redirects=False, catch_response=True
        ) as response:
            if response.status_code != 302:
                response.failure(f"no session: {response.status_code}")
                return
            response.success()
            session = response.headers["location"]
        page = self.client.get(session, name="3 instructions").text or ""
        self.think()
        if mark := MARK.search(page):
            self.client.post(
                f"{session}continue/", data={"mark": mark[1]}, name="4 first trial", allow_redirects=False
            )
        token = session.split("/")[2]
        plan = self.client.get(f"/api/v1/sessions/{token}/plan/", name="5 plan").json()
        for trial in plan["trials"]:
            self.think()
            answer = {
                "trial": trial["id"],
                "response": random.choice(trial["options"])["id"],
                "rt_ms": 1200,
                "input_type": "keyboard",
            }
            self.client.post(
                f"/api/v1/sessions/{token}/judgments/", json={"judgments": [answer]}, name="6 answer"
            )
        self.client.get(session, name="7 code")
