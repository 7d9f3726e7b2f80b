"""The embedded broker's folder, after processes were killed at bad moments."""

import pytest
from kombu import Connection, Exchange, Queue
from kombu.simple import SimpleQueue

from config.job_queue.folder_broker import Transport


@pytest.fixture
def mail(tmp_path):
    """Open the folder's queue; each test has its own, because kombu keeps in mind what it declared."""
    name = f"jobs-{tmp_path.name}"
    options = {
        "data_folder_in": str(tmp_path / "messages"),
        "data_folder_out": str(tmp_path / "messages"),
        "control_folder": str(tmp_path / "control"),
    }

    def connect() -> SimpleQueue:
        connection = Connection(transport=Transport, transport_options=options)
        return SimpleQueue(connection.channel(), Queue(name, Exchange(name), routing_key=name), no_ack=True)

    return connect


def test_messages_arrive_in_their_order_at_another_process(mail):
    sender, receiver = mail(), mail()
    for number in range(3):
        sender.put({"number": number})
    got = [receiver.get(timeout=60) for _ in range(3)]
    assert [message.payload["number"] for message in got] == [0, 1, 2]
    with pytest.raises(receiver.Empty):
        receiver.get_nowait()


def test_a_table_of_queues_left_empty_by_a_killed_process_is_made_anew(mail, tmp_path):
    (tmp_path / "control").mkdir()
    (tmp_path / "control" / f"jobs-{tmp_path.name}.exchange").touch()
    mail().put({"number": 1})
    assert mail().get(timeout=60).payload == {"number": 1}


def test_no_reader_sees_a_message_before_it_is_whole(mail, monkeypatch):
    """A writer that dies in the middle leaves nothing that a worker would take for a message."""
    sender = mail()
    monkeypatch.setattr("pathlib.Path.rename", lambda *paths: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        sender.put({"number": 1})
    monkeypatch.undo()
    with pytest.raises(sender.Empty):
        mail().get_nowait()
    sender.put({"number": 2})
    assert mail().get(timeout=60).payload == {"number": 2}
