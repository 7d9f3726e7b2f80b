"""Collected files survive a power cut right after the command."""

import os

from config.http.static_files import HashedStaticFiles


def test_collected_files_are_written_to_the_disk_once_all_are_there(tmp_path, monkeypatch):
    (tmp_path / "engine.css").write_text(".trial { color: black }\n" * 40)

    def names() -> list[str]:
        return sorted(file.name for file in tmp_path.iterdir())

    at_sync: list[list[str]] = []
    monkeypatch.setattr(os, "sync", lambda: at_sync.append(names()))
    storage = HashedStaticFiles(location=str(tmp_path), base_url="/static/")
    list(storage.post_process({"engine.css": (storage, "engine.css")}))
    assert at_sync == [names()] and {"staticfiles.json", "engine.css.gz"} <= set(names())
