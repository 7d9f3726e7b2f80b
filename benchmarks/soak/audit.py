"""What people were told against what is stored."""

from collections import Counter
from collections.abc import Container, Iterable
from typing import Any

from benchmarks.soak.people import Person
from benchmarks.soak.pulse import Pulse


def balance(sessions: Iterable[dict[str, Any]]) -> dict[int, int]:
    """Completed sessions of each list."""
    sessions = list(sessions)
    complete = Counter(session["list"] for session in sessions if session["status"] == "complete")
    return {list_id: complete[list_id] for list_id in {session["list"] for session in sessions}}


SERVES_S = 60.0  # a platform that is ready for so long has answered whoever asks again every few seconds


def gave_up_in_outage(people: Iterable[Person], pulse: Pulse) -> list[Person]:
    """Who gave up while the platform was away, but for stretches too short to count on."""
    return [person for person in people if person.waited and pulse.longest_service(*person.waited) < SERVES_S]


def audit(
    people: list[Person], facts: dict[str, Any], excused: Container[Person] = frozenset()
) -> dict[str, int]:
    """Every promise that was broken, by kind; all 0 is what a soak is for.

    Whoever is excused gave up while the platform was away; their answers count as everybody's.
    """
    stored: dict[tuple[str, str], list[str]] = {}
    for token, trial, response in facts["judgments"]:
        stored.setdefault((token, trial), []).append(response)
    promised = [(person, (person.token, trial)) for person in people for trial in person.acknowledged]
    sessions = {session["token"]: session for session in facts["sessions"]}
    per_person = Counter(session["participant"] for session in facts["sessions"])
    n_sessions = Counter(session["token"] for session in sessions.values())
    finished = [person for person in people if person.code]
    counts = balance(sessions.values())
    # Whoever gave up after consent may have a session whose address never came back.
    n_unexpected = facts["participants"] - len({person.token for person in people if person.token})
    n_unexpected -= sum(person.consented and not person.token for person in people)
    return {
        "acknowledged but missing": sum(key not in stored for _, key in promised),
        "stored with another answer": sum(
            person.answers[key[1]] not in stored[key] for person, key in promised if key in stored
        ),
        "doubled": sum(len(rows) - 1 for rows in stored.values())
        + sum(n - 1 for n in per_person.values())
        + sum(n - 1 for n in n_sessions.values())
        + facts["conflicts"],
        "people with two sessions": max(0, n_unexpected),
        "gave up though the platform served": sum(
            bool(person.waited) and person not in excused for person in people
        ),
        "could not resume": sum(bool(person.problem) and not person.waited for person in people),
        "turned away after consent": sum(person.turned_away == "after consent" for person in people),
        "codes without every row": sum(
            session["n_answered"] < session["n_trials"] for session in sessions.values() if session["code"]
        ),
        "codes unlike the stored ones": sum(
            sessions[person.token]["shown_code"] != person.code for person in finished
        ),
        "lists further apart than one": max(0, max(counts.values()) - min(counts.values()) - 1),
    }
