"""A stand-in for the pool's server: what it knows, behind httpx's mock transport."""

import json
from collections import Counter

import httpx


class Pool:
    """Campaigns, submissions and bonuses of the pool."""

    def __init__(self) -> None:
        self.campaigns: dict[str, dict] = {}
        self.submissions: dict[str, dict] = {}
        self.bonuses: dict[str, dict] = {}
        self.paid: Counter = Counter()
        self.hosts: set[str] = set()
        self.loses_next_answer = False
        self.transport = httpx.MockTransport(self.answer)

    def arrive(self, campaign: str, person: str) -> str:
        """Somebody takes a place and submits."""
        number = f"s{len(self.submissions) + 1}"
        self.submissions[number] = {
            "id": number,
            "campaign": campaign,
            "person": person,
            "status": "submitted",
            "bonus_minor": 0,
        }
        return number

    def answer(self, request: httpx.Request) -> httpx.Response:
        """The response to a request."""
        self.hosts.add(request.url.host)
        if request.headers["Authorization"] != "Token secret-token":
            return httpx.Response(401, text="unknown token")
        body = json.loads(request.content or b"{}")
        parts = request.url.path.removeprefix("/api/").split("/")
        status, row = self._act(request, parts, body)
        if self.loses_next_answer:
            self.loses_next_answer = False
            raise httpx.ReadTimeout("the answer was lost")
        return httpx.Response(status, json=row)

    def _act(self, request: httpx.Request, parts: list[str], body: dict) -> tuple[int, dict]:
        name, number = parts[0], parts[1] if len(parts) > 1 else ""
        if name == "balance":
            return 200, {"amount_minor": 100_000, "currency": "EUR"}
        if request.method == "POST":
            number = request.headers["Idempotency-Key"]
            return 201, self.campaigns.setdefault(
                number, {"id": number, "state": "draft", "taken": 0, **body}
            )
        if name == "bonuses" and request.method == "PUT" and number not in self.bonuses:
            self.bonuses[number] = body
            self.paid["bonus", body["submission"]] += 1
            self.submissions[body["submission"]]["bonus_minor"] += body["amount_minor"]
        rows = {"campaigns": self.campaigns, "submissions": self.submissions, "bonuses": self.bonuses}[name]
        if number not in rows:
            return 404, {"error": "not found"}
        if len(parts) == 3:
            return 200, {
                "submissions": [row for row in self.submissions.values() if row["campaign"] == number]
            }
        if request.method == "PUT" and name != "bonuses":
            if body.get("status") == "approved" and rows[number]["status"] != "approved":
                self.paid["reward", number] += 1
            rows[number].update(body)
        return 200, rows[number]
