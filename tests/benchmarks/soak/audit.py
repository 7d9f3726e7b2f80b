"""What people were told against what is stored."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tests.benchmarks.soak.people import Person


def balance(sessions: Iterable[dict[str, Any]]) -> dict[int, int]:
    """Completed sessions of each list."""
    sessions = list(sessions)
    complete = Counter(one["list"] for one in sessions if one["status"] == "complete")
    return {one: complete[one] for one in {session["list"] for session in sessions}}


def audit(people: list[Person], facts: dict[str, Any]) -> dict[str, int]:
    """Every promise that was broken, by kind; all 0 is what a soak is for."""
    stored: dict[tuple[str, str], list[str]] = {}
    for token, trial, response in facts["judgments"]:
        stored.setdefault((token, trial), []).append(response)
    promised = [(one, (one.token, trial)) for one in people for trial in one.acknowledged]
    sessions = {one["token"]: one for one in facts["sessions"]}
    per_person = Counter(one["participant"] for one in facts["sessions"])
    held = Counter(one["token"] for one in sessions.values())
    finished = [one for one in people if one.code]
    counts = balance(sessions.values())
    return {
        "acknowledged but missing": sum(key not in stored for _, key in promised),
        "stored with another answer": sum(
            one.answers[key[1]] not in stored[key] for one, key in promised if key in stored
        ),
        "doubled": sum(len(rows) - 1 for rows in stored.values())
        + sum(n - 1 for n in per_person.values())
        + sum(n - 1 for n in held.values())
        + facts["conflicts"],
        "people with two sessions": facts["participants"] - len({one.token for one in people if one.token}),
        "could not resume": sum(bool(one.problem) for one in people),
        "turned away after consent": sum(one.turned_away == "after consent" for one in people),
        "codes without every row": sum(
            one["n_answered"] < one["n_trials"] for one in sessions.values() if one["code"]
        ),
        "codes unlike the stored ones": sum(sessions[one.token]["code"] != one.code for one in finished),
        "lists further apart than one": max(0, max(counts.values()) - min(counts.values()) - 1),
    }
