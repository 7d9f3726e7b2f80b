"""Nobody takes part twice: who left after seeing materials is in the participant group as well."""

import pytest

from judgments.models import PlatformIdentity
from judgments.recruitment import reconcile
from judgments.recruitment.prolific.groups import add_missing_members
from tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def come(prolific, published):
    """Let somebody come: a confirmed person with so many answers, or one whose id is only a claim."""

    def come(n: int, *, is_verified: bool = True) -> tuple[str, str]:
        number = prolific.arrive(published.external_id)
        person = prolific.platform.submissions[number]["participant"]
        cast.sit(
            published.experiment,
            number,
            n=n,
            recruiter="prolific",
            campaign=published,
            external_id=person,
            is_verified=is_verified,
            personal={"SESSION_ID": number},
        )
        return number, person

    return come


def members(prolific):
    return {person for group in prolific.platform.members.values() for person in group}


def test_people_who_returned_or_ran_out_of_time_after_materials_are_added_once(prolific, published, come):
    (returned, seen), (late, also_seen) = come(1), come(2)
    early, unseen = come(0)
    claimed, victim = come(1, is_verified=False)
    _, still_here = come(1)
    for number in (returned, early, claimed):
        prolific.return_(number)
    prolific.time_out(late)
    assert add_missing_members() == 0, "before the platform's list was read, nobody has left"
    reconcile.reconcile(published)
    assert add_missing_members() == 2
    assert members(prolific) == {seen, also_seen}
    assert add_missing_members() == 0
    assert {unseen, victim, still_here}.isdisjoint(members(prolific))
    group = next(iter(prolific.platform.groups))
    stored = {
        row.external_id: row.parameters.get("participant_group") for row in PlatformIdentity.objects.all()
    }
    assert {person for person, number in stored.items() if number == group} == {seen, also_seen}
    assert reconcile.reconcile(published).n_mismatches == 0


def test_a_platform_that_does_not_answer_is_asked_again(prolific, published, come):
    number, person = come(1)
    prolific.return_(number)
    reconcile.reconcile(published)
    prolific.fail_next("503", n=9, method="POST", path="/participants/")
    assert add_missing_members() == 0 and members(prolific) == set()
    prolific.faults.clear()
    assert add_missing_members() == 1 and members(prolific) == {person}
