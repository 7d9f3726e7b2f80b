"""The double of Prolific keeps the platform's rules: money, states, pages, shapes and faults."""

import httpx
import pytest

from tools.doubles.prolific_platform import PlayError

STUDY = {
    "name": "Sentences",
    "description": "<p>Judge sentences.</p>",
    "external_study_url": "https://example.org/?PROLIFIC_PID={{%PROLIFIC_PID%}}&SESSION_ID={{%SESSION_ID%}}",
    "prolific_id_option": "url_parameters",
    "completion_codes": [
        {"code": "DONE1", "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]},
        {
            "code": "OUT1",
            "code_type": "FIXED_SCREENOUT",
            "actions": [{"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 10, "slots": 1}],
        },
    ],
    "total_available_places": 2,
    "estimated_completion_time": 10,
    "reward": 150,
    "filters": [],
}


def draft(api, **changes):
    response = api.post("/studies/", json={**STUDY, **changes})
    assert response.status_code == 201, response.text
    return response.json()["id"]


def running_study(api, **changes):
    number = draft(api, **changes)
    assert api.post(f"/studies/{number}/transition/", json={"action": "PUBLISH"}).json()["status"] == "ACTIVE"
    return number


def test_paying_a_set_up_twice_pays_twice(api, prolific):
    study = running_study(api)
    submission = prolific.platform.take_place(study)["submission"]
    set_up = api.post(
        "/submissions/bonus-payments/", json={"study_id": study, "csv_bonuses": f"{submission},1.25"}
    ).json()
    assert (set_up["amount"], set_up["total_amount"]) == (125, 125 + 42 + 9)
    assert prolific.platform.paid() == {}
    for _ in range(2):
        assert api.post(f"/bulk-bonus-payments/{set_up['id']}/pay/").status_code == 202
    assert api.get(f"/submissions/{submission}/").json()["bonus_payments"] == [125, 125]
    assert prolific.platform.paid("bonus") == {submission: 250}


def test_publishing_reserves_the_cost_and_stopping_returns_it(api, prolific):
    before = prolific.platform.balance
    study = running_study(api)
    assert prolific.platform.balance == before - (300 + 100 + 20)
    api.post(f"/studies/{study}/transition/", json={"action": "STOP"})
    assert prolific.platform.balance == before


def test_a_full_study_awaits_review_and_a_return_opens_its_place(api, prolific):
    study = running_study(api, total_available_places=1)
    submission = prolific.platform.take_place(study)["submission"]
    assert api.get(f"/studies/{study}/").json()["status"] == "AWAITING REVIEW"
    with pytest.raises(PlayError):
        prolific.platform.take_place(study)
    prolific.platform.return_submission(submission)
    assert api.get(f"/studies/{study}/").json()["status"] == "ACTIVE"


def test_a_page_past_the_end_is_not_found(api, prolific):
    study = running_study(api, total_available_places=30)
    for _ in range(25):
        prolific.platform.take_place(study)
    first = api.get("/submissions/", params={"study": study}).json()
    second = api.get(first["_links"]["next"]["href"]).json()
    assert [len(page["results"]) for page in (first, second)] == [20, 5]
    assert second["_links"]["next"]["href"] is None
    assert api.get("/submissions/", params={"study": study, "page": 3}).status_code == 404


def test_a_paid_screen_out_uses_its_slot_and_pauses_the_study(api, prolific):
    study = running_study(api)
    submission = prolific.platform.take_place(study)["submission"]
    prolific.platform.enter_code(submission, "OUT1")
    assert api.get(f"/submissions/{submission}/").json()["status"] == "SCREENED OUT"
    assert api.get(f"/studies/{study}/").json()["status"] == "PAUSED"
    assert prolific.platform.paid() == {submission: 10}


@pytest.mark.parametrize(
    ("changes", "member"),
    [
        ({"completion_option": "url"}, "body"),
        ({"reward": 1.5}, "reward"),
        ({"maximum_allowed_time": 12}, "maximum_allowed_time"),
        ({"description": "<script>x</script>"}, "description"),
        ({"filters": [{"filter_id": "no-such", "selected_values": ["1"]}]}, "filters"),
        ({"filters": [{"filter_id": "age", "selected_values": ["1"]}]}, "filters"),
        ({"completion_codes": [STUDY["completion_codes"][0]] * 2}, "completion_codes"),
    ],
)
def test_a_study_outside_the_rules_is_refused_by_its_member(api, changes, member):
    response = api.post("/studies/", json={**STUDY, **changes})
    assert response.status_code == 400
    assert member in response.json()["error"]["detail"]


def test_what_is_published_is_frozen(api):
    study = running_study(api)
    assert api.patch(f"/studies/{study}/", json={"reward": 200}).status_code == 400
    assert api.patch(f"/studies/{study}/", json={"total_available_places": 1}).status_code == 400
    assert api.patch(f"/studies/{study}/", json={"total_available_places": 5}).status_code == 200


def test_a_rejection_needs_a_hundred_characters(api, prolific):
    study = running_study(api)
    submission = prolific.platform.take_place(study)["submission"]
    prolific.platform.enter_code(submission, "DONE1")
    path, values = (
        f"/submissions/{submission}/transition/",
        {"action": "REJECT", "rejection_category": "NO_DATA"},
    )
    assert api.post(path, json={**values, "message": "x" * 99}).status_code == 400
    assert api.post(path, json={**values, "message": "x" * 100}).json()["status"] == "REJECTED"
    assert api.post(path, json={"action": "APPROVE"}).status_code == 400


def test_a_group_keeps_its_members_out(api, prolific):
    group = api.post(
        "/participant-groups/", json={"name": "took part", "workspace_id": prolific.platform.workspace_id}
    ).json()["id"]
    block = {"filter_id": "participant_group_blocklist", "selected_values": [group]}
    study = running_study(api, filters=[block])
    person = prolific.platform.take_place(study)["participant"]
    api.post(f"/participant-groups/{group}/participants/", json={"participant_ids": [person]})
    again = running_study(api, filters=[block])
    with pytest.raises(PlayError):
        prolific.platform.take_place(again, person)


@pytest.mark.parametrize(
    ("kind", "acts"), [("before", False), ("after", True), ("malformed", True), ("502-after", True)]
)
def test_a_fault_acts_or_does_not(api, prolific, kind, acts):
    prolific.fail_next(kind, method="POST", path="/studies/")
    try:
        response = api.post("/studies/", json=STUDY)
    except httpx.TransportError:
        pass
    else:
        assert response.status_code == 502 or not response.text.endswith("}")
    assert len(prolific.platform.studies) == acts
    assert draft(api) in prolific.platform.studies


def test_another_token_is_refused(api):
    assert api.get("/users/me/", headers={"Authorization": "Token other"}).status_code == 401


def test_an_address_without_its_slash_does_not_exist(api):
    assert api.get("/filters").status_code == 404
