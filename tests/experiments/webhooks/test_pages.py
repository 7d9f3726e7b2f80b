"""Pages and API of webhooks: owners and editors manage, viewers look, others find nothing."""

import pytest

from experiments.models import AuditEntry, Membership, Webhook, WebhookDelivery
from experiments.webhooks import endpoints
from tests import cast

pytestmark = pytest.mark.django_db
PAGE, API = "/studies/agreement/webhooks/", "/api/v1/studies/agreement/webhooks/"


def text_of(response):
    return response.content.decode()


@pytest.fixture
def webhook(study, receiver):
    return endpoints.add(study, receiver.url, events=["release.frozen"], by=cast.ada())


def test_a_webhook_is_added_tested_repeated_and_removed_on_its_page(ada, study, receiver, run_deliveries):
    form = {"address": receiver.url, "events": ["release.frozen", "run.finished"]}
    page = text_of(ada.post(PAGE, form, follow=True))
    webhook = Webhook.objects.get()
    assert webhook.secret in page and "Copy it now" in page
    address = f"{PAGE}{webhook.pk}/"
    assert webhook.secret not in text_of(ada.get(address))
    ada.post(f"{address}test/")
    run_deliveries()
    receiver.response = b"<b>no</b>"
    ada.post(f"{address}deliveries/{WebhookDelivery.objects.get().pk}/send/")
    run_deliveries()
    page = text_of(ada.get(address))
    assert "webhook.test" in page and "thank you" in page and "&lt;b&gt;no&lt;/b&gt;" in page
    assert len(receiver.received) == 2
    assert "is disabled" in text_of(ada.post(f"{address}switch/", follow=True))
    assert "Copy it now" in text_of(ada.post(f"{address}secret/", follow=True))
    ada.post(f"{address}remove/")
    assert Webhook.objects.count() == 0
    actions = set(AuditEntry.objects.values_list("action", flat=True))
    assert {"webhook added", "webhook changed", "webhook secret rotated", "webhook removed"} <= actions


def test_an_address_in_a_private_network_is_refused_beside_its_field(ada, study, settings):
    settings.WEBHOOK_PRIVATE_TARGETS = False
    form = {"address": "https://169.254.169.254/latest/", "events": ["release.frozen"]}
    response = ada.post(PAGE, form)
    assert response.status_code == 422 and "private network" in text_of(response)
    assert ada.post(API, form, content_type="application/json").status_code == 422
    assert Webhook.objects.count() == 0


def test_a_study_has_so_many_webhooks_and_no_more(ada, study, receiver, monkeypatch):
    monkeypatch.setattr(endpoints, "MOST_WEBHOOKS", 1)
    form = {"address": receiver.url, "events": ["release.frozen"]}
    assert ada.post(PAGE, form).status_code == 302
    assert "Remove one that is not used" in text_of(ada.post(PAGE, form))


def test_editors_manage_and_viewers_see_neither_address_nor_responses(
    client, study, webhook, receiver, run_deliveries
):
    endpoints.test(webhook, by=cast.ada())
    run_deliveries()
    address = f"{PAGE}{webhook.pk}/"
    client.force_login(cast.ben())
    page = text_of(client.get(address))
    assert "Webhook to 127.0.0.1" in page and "key=1" not in page and "thank you" not in page
    assert client.get(f"{API}{webhook.pk}/").json()["address"] == ""
    assert "thank you" not in text_of(client.get(f"{API}{webhook.pk}/deliveries/"))
    for path in (PAGE, address, f"{address}test/", f"{address}secret/", f"{address}remove/", API):
        assert client.post(path).status_code == 403, path
    assert client.delete(f"{API}{webhook.pk}/").status_code == 403
    Membership.objects.filter(user=cast.ben()).update(role="editor")
    assert "key=1" in text_of(client.get(address))


def test_strangers_and_other_studies_find_no_webhook(client, study, webhook):
    other = cast.study("islands")
    Membership.objects.create(experiment=other, user=cast.cleo(), role="owner")
    client.force_login(cast.cleo())
    assert client.get(PAGE).status_code == 404 and client.get(API).status_code == 404
    for path in (
        f"/studies/islands/webhooks/{webhook.pk}/",
        f"/api/v1/studies/islands/webhooks/{webhook.pk}/",
    ):
        assert client.get(path).status_code == 404
    assert client.post(f"/studies/islands/webhooks/{webhook.pk}/remove/").status_code == 404
    client.logout()
    assert client.get(PAGE).status_code == 302 and client.get(API).status_code == 401


def test_the_api_shows_a_secret_once_and_needs_the_scope_to_write(client, study, receiver, run_deliveries):
    body = {"address": receiver.url, "events": ["run.finished"]}
    reading = {"HTTP_AUTHORIZATION": f"Token {cast.token(cast.ada(), scopes=('read',))}"}
    writing = {"HTTP_AUTHORIZATION": f"Token {cast.token(cast.ada(), scopes=('read', 'write'))}"}
    assert client.post(API, body, content_type="application/json", **reading).status_code == 403
    created = client.post(API, body, content_type="application/json", **writing)
    assert created.status_code == 201 and created.json()["secret"].startswith("whsec_")
    path = f"{API}{created.json()['id']}/"
    assert "secret" not in client.get(path, **reading).json()
    rotated = client.post(f"{path}secret/", content_type="application/json", **writing).json()["secret"]
    assert rotated not in {created.json()["secret"], ""}
    assert client.post(f"{path}test/", content_type="application/json", **writing).status_code == 202
    run_deliveries()
    row = client.get(f"{path}deliveries/", **reading).json()["results"][0]
    assert (row["event"], row["state"], row["attempts"][0]["status"]) == ("webhook.test", "delivered", 200)
    assert (
        client.post(
            f"{path}deliveries/{row['id']}/send/", content_type="application/json", **writing
        ).status_code
        == 202
    )
    changed = client.patch(path, {"events": ["wrong"]}, content_type="application/json", **writing)
    assert changed.status_code == 400
    changed = client.patch(path, {"is_enabled": False}, content_type="application/json", **writing)
    assert changed.json()["is_enabled"] is False and changed.json()["events"] == ["run.finished"]
    assert client.delete(path, **writing).status_code == 204


def test_tests_and_repetitions_by_hand_are_limited(ada, study, webhook, run_deliveries, monkeypatch):
    monkeypatch.setattr("experiments.limits.time", lambda: 60 * 1000 + 20.0)
    other = endpoints.add(study, webhook.address, events=["release.frozen"], by=cast.ada())
    address = f"{PAGE}{webhook.pk}/"
    for number in range(endpoints.BY_HAND_PER_MINUTE - 1):
        row = other if number % 2 else webhook
        assert ada.post(f"{PAGE}{row.pk}/test/").status_code == 302
    delivery = webhook.deliveries.first()
    assert ada.post(f"{address}deliveries/{delivery.pk}/send/").status_code == 302
    n_stored = WebhookDelivery.objects.count()
    refused = ada.post(f"{address}test/")
    assert (refused.status_code, refused["Retry-After"]) == (429, "40")
    assert "Try again in 40 s." in text_of(refused) and "Deliveries" in text_of(refused)
    assert ada.post(f"{address}deliveries/{delivery.pk}/send/").status_code == 429
    for path in (f"{API}{webhook.pk}/test/", f"{API}{webhook.pk}/deliveries/{delivery.pk}/send/"):
        answer = ada.post(path, content_type="application/json")
        assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (429, "throttled", "40")
    assert WebhookDelivery.objects.count() == n_stored
    Membership.objects.create(experiment=study, user=cast.cleo(), role="editor")
    ada.force_login(cast.cleo())
    assert ada.post(f"{address}test/").status_code == 302  # counts are of one user
    monkeypatch.setattr("experiments.limits.time", lambda: 60 * 1001 + 1.0)
    ada.force_login(cast.ada())
    assert ada.post(f"{address}test/").status_code == 302
