"""A webhook of a study whose receiver verifies deliveries by the program of the page *Automate*."""

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.test import override_settings

from experiments.models import Experiment, Job, Webhook
from experiments.operation import job_runner
from experiments.webhooks import endpoints
from experiments.webhooks.events import DELIVER
from tests import cast
from tools.doubles import receiver

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "automate.md").read_text(encoding="utf-8")


def block(language: str, mark: str) -> str:
    """The program of the page in this language that has the mark."""
    return next(text for text in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if mark in text)


def documented_data(event: str) -> set[str]:
    """Names in ``data`` of an event, as its row of the page lists them."""
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{event}` |"))
    return set(re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", row.rsplit("|", 2)[1])))


def run_deliveries() -> None:
    """Run every delivery that waits, as a worker would, without the delay of a repetition."""
    waiting = Job.objects.filter(kind=DELIVER, state="queued")
    waiting.update(retry_at=None)
    for job_id in list(waiting.values_list("pk", flat=True)):
        job_runner.run(job_id)


class Subscription:
    """What the receiver of a webhook gets."""

    def __init__(self, server: receiver.Receiver, webhook: Webhook) -> None:
        self.server, self.webhook, self.study = server, webhook, webhook.experiment.slug
        names: dict[str, Any] = {}
        exec(block("python", "def is_genuine"), names)
        self.is_genuine = names["is_genuine"]

    def data(self, event: str) -> list[dict[str, Any]]:
        """The ``data`` of the events of this type, each of them genuine and with what the page lists."""
        run_deliveries()
        all_data = []
        for request in self.server.received:
            assert self.is_genuine(request.headers, request.body, self.webhook.secret)
            assert not self.is_genuine(request.headers, request.body + b" ", self.webhook.secret)
            body = json.loads(request.body)
            assert set(body) == {"type", "timestamp", "data"}
            assert body["data"].pop("study") == self.study
            assert body["data"].pop("study_url").endswith(f"/api/v1/studies/{self.study}/")
            if body["type"] == event:
                assert set(body["data"]) == documented_data(event)
                all_data.append(body["data"])
        return all_data


@contextlib.contextmanager
def subscribed(study: Experiment, event: str) -> Iterator[Subscription]:
    """A webhook of Ada's for one event, with a receiver on this machine."""
    with override_settings(WEBHOOK_PRIVATE_TARGETS=True), receiver.running() as server:
        webhook = endpoints.add(study, server.url, events=[event], by=cast.ada())
        yield Subscription(server, webhook)
