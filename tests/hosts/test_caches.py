"""A study is changed on one host and taken on another: no cache of a process shows what it was before.

Each host serves with two processes. All have served the study, and cache it, before each change on the first.
"""

import re
from pathlib import Path

import pytest
from django.test import Client

from experiments.models import Design, Experiment
from judgments.models import Judgment, Session
from tests import cast
from tests.judgments.screens.walk import hidden
from tools.cluster import Host, until

N_PEOPLE = 6


class Researcher:
    """Ada's browser, on a host that is not the one where she logged in."""

    def __init__(self, host: Host, slug: str) -> None:
        login = Client()
        login.force_login(cast.ada())
        self.browser = host.browser(cookies={"sessionid": login.cookies["sessionid"].value})
        self.slug = slug

    def press(self, step: str, **data: str) -> None:
        """Press a button of the study's pages."""
        page = self.browser.get(f"/studies/{self.slug}/").text
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[1]
        response = self.browser.post(
            f"/studies/{self.slug}/{step}", data={"csrfmiddlewaretoken": token, **data}
        )
        assert response.status_code == 302, response.text[:500]


class Participant:
    """A browser that asks one host."""

    def __init__(self, host: Host, slug: str) -> None:
        self.browser, self.address = host.browser(), f"/take/{slug}/"
        self.session = ""

    def door(self) -> str:
        """The page of the study's link."""
        return self.browser.get(self.address).text

    def consents(self, page: str) -> Session | None:
        """Agree on this page; the session, or None where the study takes nobody."""
        form = {"arrival": hidden(page, "arrival"), "consent": "yes"}
        response = self.browser.post(self.address, data=form)
        if response.status_code != 302:
            return None
        self.session = response.headers["location"]
        return Session.objects.select_related("list", "version").get(token=self.session.split("/")[2])

    def page(self) -> str:
        """The page of the session, after the instructions."""
        html = self.browser.get(self.session).text
        if 'name="mark"' in html and "Instructions" in html:
            self.browser.post(self.session, data={"mark": hidden(html, "mark")})
            html = self.browser.get(self.session).text
        return html


def several(host: Host, study: Experiment) -> list[Participant]:
    """Browsers with a connection each, among which the system divides the processes of a host."""
    return [Participant(host, study.slug) for _ in range(N_PEOPLE)]


def web_processes(host: Host) -> list[str]:
    """The ids of the processes of a host's web server that answer requests."""
    [server] = host.processes
    return until(lambda: Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split())


@pytest.fixture
def study(transactional_db) -> Experiment:
    """Paused, with a second round of other items."""
    experiment = cast.draft("two", materials=cast.material_set("two", n_items=4, paradigms=("ba", "bei")))
    second = {"kind": "sample", "items_per_paradigm": 1, "n_lists": 2, "items": "new", "seed": 9}
    Design.objects.create(
        experiment=experiment, kind="sample", items_per_paradigm=2, n_lists=2, seed=3,
        rounds=[{**second, "participants": "new"}],
    )  # fmt: skip
    return experiment


def test_a_study_is_opened_changed_and_closed_on_one_host_and_taken_on_another(cluster, study):
    first, second = (cluster.host(name).start_web(processes=2) for name in ("first", "second"))
    assert all(len(web_processes(host)) == 2 for host in (first, second))
    ada = Researcher(first, study.slug)
    elsewhere = [Participant(host, study.slug) for host in (first, second)]
    for person in elsewhere:
        assert 'name="arrival"' not in person.door()  # a draft takes nobody, and is not cached

    ada.press("move/open/")
    doors = [person.door() for person in elsewhere]
    assert all('name="arrival"' in page for page in doors), doors
    begun = elsewhere[1].consents(doors[1])
    assert begun is not None and begun.list.round == 1

    # 1. A session that begins on one host is taken on the other before its trials are stored there.
    pia = Participant(first, study.slug)
    session = pia.consents(pia.door())
    pia.browser = second.browser()
    plan = pia.browser.get(f"/api/v1/sessions/{session.token}/plan/").json()
    answers = [
        {"trial": trial.public_id, "response": cast.answer_to(trial), "rt_ms": 900.0}
        for trial in session.trials.select_related("session__experiment")
    ]
    assert [trial["trial"] for trial in answers] == [row["id"] for row in plan["trials"]]
    sent = pia.browser.post(f"/api/v1/sessions/{session.token}/judgments/", json={"judgments": answers})
    assert sent.status_code == 200, sent.text
    assert Judgment.objects.filter(trial__session=session).count() == len(answers)

    # 2. A round that starts on one host gives its lists on the other, at once.
    some = several(second, study)
    doors = [person.door() for person in some]
    ada.press("design/rounds/2/start/")
    assert [person.consents(door).list.round for person, door in zip(some, doors, strict=True)] == [
        2
    ] * N_PEOPLE

    # 3. Paused on one host: who has the consent page of the other, still cached there, is turned away.
    late = several(second, study)
    doors = [person.door() for person in late]
    ada.press("move/pause/")
    assert [person.consents(door) for person, door in zip(late, doors, strict=True)] == [None] * N_PEOPLE

    # 4. Texts and settings: the other host shows them once it is open again; who began keeps the former ones.
    Experiment.objects.filter(pk=study.pk).update(
        consent="Consent of the second version.", instructions="Press with care.", lease_minutes=7
    )
    ada.press("move/open/")
    newcomers = several(second, study)
    doors = [person.door() for person in newcomers]
    assert all("Consent of the second version." in door for door in doors)
    newcomer, door = newcomers[0], doors[0]
    new = newcomer.consents(door)
    assert new.version.number == 2 and new.version_id != begun.version_id
    assert (new.lease_expires_at - new.started_at).total_seconds() == pytest.approx(7 * 60, abs=60)
    assert "Press with care." in newcomer.browser.get(newcomer.session).text
    assert "Press with care." not in elsewhere[1].browser.get(elsewhere[1].session).text

    # 5. Lists: those of another seed are used on the other host for the next participants.
    Design.objects.filter(experiment=study).update(seed=4)
    ada.press("move/open/")
    assert study.versions.count() == 3
    person = Participant(second, study.slug)
    last = person.consents(person.door())
    assert last.version.number == 3 and last.list.version_id == last.version_id != new.list.version_id

    # 6. Closed on one host: taken on neither, and the link says so.
    late = several(second, study)
    doors = [person.door() for person in late]
    ada.press("move/close/", sure="yes")
    assert [person.consents(door) for person, door in zip(late, doors, strict=True)] == [None] * N_PEOPLE
    assert not any('name="arrival"' in person.door() for person in several(second, study))
