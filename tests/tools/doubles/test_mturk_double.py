"""The MTurk double behaves as the documentation and botocore's model say, through the real client."""

import time

import boto3
import httpx
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, HTTPClientError

from tools.doubles.mturk import running

QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
    'ExternalQuestion.xsd"><ExternalURL>{}</ExternalURL><FrameHeight>0</FrameHeight></ExternalQuestion>'
)
KIND = {"AssignmentDurationInSeconds": 1800, "Reward": "0.50", "Title": "Rate", "Description": "é"}


@pytest.fixture
def double():
    with running() as server:
        yield server


def client_of(server, *, key="DOUBLEKEY", secret="double-secret", region="us-east-1"):
    return boto3.client(
        "mturk",
        region_name=region,
        endpoint_url=server.url,
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        config=Config(retries={"mode": "standard", "total_max_attempts": 1}),
    )


@pytest.fixture
def client(double):
    return client_of(double)


def hit(client, *, n=9, token="", address="https://example.org/?a=1&amp;b=2", **fields):
    kind = client.create_hit_type(**{**KIND, **fields})["HITTypeId"]
    more = {"UniqueRequestToken": token} if token else {}
    made = client.create_hit_with_hit_type(
        HITTypeId=kind, MaxAssignments=n, LifetimeInSeconds=3600, Question=QUESTION.format(address), **more
    )
    return made["HIT"]["HITId"]


def code_of(failure):
    return failure.value.response.get("TurkErrorCode", "").removeprefix("AWS.MechanicalTurk.")


@pytest.mark.parametrize(
    "fields",
    [
        {"Title": "x" * 129},
        {"Reward": "1.234"},
        {"Keywords": "x" * 1001},
        {"AssignmentDurationInSeconds": 29},
        {"AutoApprovalDelayInSeconds": 2_592_001},
        {
            "QualificationRequirements": [
                {
                    "QualificationTypeId": "00000000000000000071",
                    "Comparator": "EqualTo",
                    "LocaleValues": [{"Country": "US"}, {"Country": "GB"}],
                }
            ]
        },
        {
            "QualificationRequirements": [
                {"QualificationTypeId": "3X", "Comparator": "Exists", "IntegerValues": [1]}
            ]
        },
        {"QualificationRequirements": [{"QualificationTypeId": "3X", "Comparator": "Equals"}]},
    ],
)
def test_what_boto3_lets_through_is_refused(client, double, fields):
    with pytest.raises(client.exceptions.RequestError):
        hit(client, **fields)
    assert len(double.service.refusals) == 1


@pytest.mark.parametrize("address", ["http://example.org/", "https://example.org/?a=1&b=2"])
def test_a_question_needs_https_and_escaped_ampersands(client, address):
    with pytest.raises(client.exceptions.RequestError):
        hit(client, address=address)


def test_a_token_used_within_a_day_names_its_hit(client, double):
    first = hit(client, token="t-1")
    with pytest.raises(client.exceptions.RequestError) as failure:
        hit(client, token="t-1")
    assert code_of(failure) == "HitAlreadyExists" and first in failure.value.response["Message"]
    double.service.advance(24 * 3600 + 1)
    assert hit(client, token="t-1") != first


def test_nine_assignments_cannot_become_ten(client):
    small, large = hit(client, n=9), hit(client, n=10)
    with pytest.raises(client.exceptions.RequestError) as failure:
        client.create_additional_assignments_for_hit(HITId=small, NumberOfAdditionalAssignments=1)
    assert code_of(failure) == "InvalidMaximumAssignmentsIncrease"
    client.create_additional_assignments_for_hit(HITId=large, NumberOfAdditionalAssignments=1)
    assert client.get_hit(HITId=large)["HIT"]["MaxAssignments"] == 11


def test_states_and_counters_of_a_hit(client, double):
    hit_id, service = hit(client, n=2), double.service

    def state():
        row = client.get_hit(HITId=hit_id)["HIT"]
        names = ("Available", "Pending", "Completed")
        return row["HITStatus"], *(row[f"NumberOfAssignments{name}"] for name in names)

    assert state() == ("Assignable", 2, 0, 0)
    first, second = service.accept(hit_id, "AW1"), service.accept(hit_id, "AW2")
    assert state() == ("Unassignable", 0, 2, 0)
    service.give_back(second.id)
    assert state() == ("Assignable", 1, 1, 0)
    third = service.accept(hit_id, "AW3")
    assert third.id == second.id, "the next worker gets the id of the returned assignment"
    for row in (first, third):
        service.submit({"assignmentId": row.id, "receipt": "r"})
    assert state() == ("Reviewable", 0, 0, 0), "submitted work does not count as completed"
    with pytest.raises(client.exceptions.RequestError):
        client.delete_hit(HITId=hit_id)
    client.approve_assignment(AssignmentId=first.id)
    client.reject_assignment(AssignmentId=third.id, RequesterFeedback="no answers")
    assert state() == ("Reviewable", 0, 0, 2)
    client.delete_hit(HITId=hit_id)
    assert client.get_hit(HITId=hit_id)["HIT"]["HITStatus"] == "Disposed"
    assert client.list_hits()["HITs"] == []


def test_approved_work_cannot_be_approved_again_and_costs_once(client, double):
    small, large = hit(client, n=9), hit(client, n=10)
    for hit_id in (small, large):
        assignment = double.service.accept(hit_id, "AW1")
        double.service.submit({"assignmentId": assignment.id, "receipt": "r"})
        client.approve_assignment(AssignmentId=assignment.id)
        with pytest.raises(client.exceptions.RequestError) as failure:
            client.approve_assignment(AssignmentId=assignment.id)
        assert "status of: Submitted" in failure.value.response["Message"]
    assert [row.fee_minor for row in double.service.transfers] == [10, 20]
    assert client.get_account_balance()["AvailableBalance"] == "9998.70"


def test_a_bonus_token_pays_once(client, double):
    assignment = double.service.accept(hit(client), "AW1")
    double.service.submit({"assignmentId": assignment.id, "receipt": "r"})
    bonus = {
        "WorkerId": "AW1",
        "AssignmentId": assignment.id,
        "BonusAmount": "1.25",
        "Reason": "thanks",
        "UniqueRequestToken": "b-1",
    }
    double.service.fail_next("after", operation="SendBonus")
    with pytest.raises(HTTPClientError):
        client.send_bonus(**bonus)
    with pytest.raises(client.exceptions.RequestError):
        client.send_bonus(**bonus)
    with pytest.raises(client.exceptions.RequestError):
        client.send_bonus(**{**bonus, "WorkerId": "AW2", "UniqueRequestToken": "b-2"})
    assert double.service.paid_minor("AW1") == 125
    paid = client.list_bonus_payments(AssignmentId=assignment.id)["BonusPayments"]
    assert [(row["WorkerId"], row["BonusAmount"]) for row in paid] == [("AW1", "1.25")]


@pytest.mark.parametrize("ends_with_empty_page", [True, False])
def test_pages_end_in_both_ways(client, double, ends_with_empty_page):
    double.service.ends_with_empty_page = ends_with_empty_page
    hits = {hit(client, token=f"t-{n}") for n in range(5)}
    pages = list(client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 2}))
    assert [len(page["HITs"]) for page in pages] == [2, 2, 1, *([0] if ends_with_empty_page else [])]
    assert {row["HITId"] for page in pages for row in page["HITs"]} == hits
    with pytest.raises(client.exceptions.RequestError):
        client.list_hits(NextToken="p99")


def test_work_is_approved_by_time_and_abandoned_by_time(client, double):
    hit_id, service = hit(client, n=2, AutoApprovalDelayInSeconds=3600), double.service
    service.submit({"assignmentId": service.accept(hit_id, "AW1").id, "receipt": "r"})
    service.accept(hit_id, "AW2")
    service.advance(3601)
    rows = client.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    assert [row["AssignmentStatus"] for row in rows] == ["Approved"]
    assert client.get_hit(HITId=hit_id)["HIT"]["NumberOfAssignmentsPending"] == 0


def test_a_qualification_keeps_workers_from_a_second_hit(client, double):
    kind = {"Name": "took part", "Description": "d", "QualificationTypeStatus": "Active"}
    took_part = client.create_qualification_type(**kind)["QualificationType"]["QualificationTypeId"]
    with pytest.raises(client.exceptions.RequestError) as failure:
        client.create_qualification_type(**kind)
    assert failure.value.response["Message"].startswith("You have already created")
    hit_id = hit(
        client, QualificationRequirements=[{"QualificationTypeId": took_part, "Comparator": "DoesNotExist"}]
    )
    client.associate_qualification_with_worker(
        QualificationTypeId=took_part, WorkerId="AW1", IntegerValue=1, SendNotification=False
    )
    assert double.service.notified == []
    assert not double.service.may_accept(double.service.hits[hit_id], "AW1")
    assert double.service.accept(hit_id, "AW2").worker == "AW2"


def test_a_worker_is_not_told_of_work_that_was_not_reviewed(client):
    answer = client.notify_workers(Subject="s", MessageText="m", WorkerIds=["AW1"])
    assert answer["NotifyWorkersFailureStatuses"][0]["NotifyWorkersFailureCode"] == "HardFailure"


@pytest.mark.parametrize(
    ("access", "code"),
    [
        ({"key": "OTHER"}, "UnrecognizedClientException"),
        ({"secret": "other"}, "InvalidSignatureException"),
        ({"region": "eu-west-1"}, "InvalidSignatureException"),
    ],
)
def test_wrong_keys_and_regions_are_refused(double, access, code):
    with pytest.raises(ClientError) as failure:
        client_of(double, **access).get_account_balance()
    assert failure.value.response["Error"]["Code"] == code


@pytest.mark.parametrize(
    ("kind", "takes_effect"),
    [
        ("before", False),
        ("after", True),
        ("throttled", False),
        ("unavailable", False),
        ("service_fault", False),
        ("service_fault_after", True),
    ],
)
def test_faults_before_and_after_the_service_acts(client, double, kind, takes_effect):
    double.service.fail_next(kind, operation="CreateQualificationType")
    with pytest.raises((ClientError, HTTPClientError)):
        client.create_qualification_type(Name="n", Description="d", QualificationTypeStatus="Active")
    assert bool(double.service.qualifications) == takes_effect
    assert double.service.counts["CreateQualificationType"] == 1


def test_a_slow_answer_is_late_but_whole(client, double):
    double.service.fail_next("slow", seconds=0.2)
    started = time.monotonic()
    assert client.get_account_balance()["AvailableBalance"] == "10000.00"
    assert time.monotonic() - started >= 0.2


def test_the_worker_site_refuses_a_form_with_an_assignment_alone(client, double):
    assignment = double.service.accept(hit(client), "AW1")
    address = f"{double.url}/mturk/externalSubmit"
    assert httpx.post(address, data={"assignmentId": assignment.id}).status_code == 400
    assert httpx.post(address, data={"receipt": "r"}).status_code == 400
    assert assignment.status == "Accepted"
    assert httpx.post(address, data={"assignmentId": assignment.id, "receipt": "r"}).status_code == 200
    rows = client.list_assignments_for_hit(HITId=assignment.hit.id)["Assignments"]
    assert "<QuestionIdentifier>receipt</QuestionIdentifier>" in rows[0]["Answer"]
