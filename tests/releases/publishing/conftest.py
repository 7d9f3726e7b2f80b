"""A frozen release, and a double of the repositories to which the settings lead."""

import pytest
from django.contrib.auth.models import User

from judgments.recruitment.credentials import add_account
from tests import cast
from tests.releases.study import judged_study, ready_release
from tools.doubles import repositories

LICENCE = "CC-BY-4.0"


@pytest.fixture
def double(settings, monkeypatch):
    with repositories.running() as server:
        for name in ("HUGGINGFACE_URL", "ZENODO_URL", "ZENODO_SANDBOX_URL", "OSF_URL", "OSF_SANDBOX_URL"):
            setattr(settings, name, server.url)
        try:
            from huggingface_hub import constants
        except ImportError:
            pass
        else:
            # The protocol of Xet has a compiled client that no double answers; the hub takes LFS, too.
            monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        yield server


@pytest.fixture
def study(db):
    User.objects.filter(pk=cast.ada().pk).update(first_name="Ada", last_name="Lovelace")
    experiment = judged_study(people=3)
    experiment.materials.licence = LICENCE
    experiment.materials.save(update_fields=["licence"])
    return experiment


@pytest.fixture
def release(study):
    return ready_release(study)


@pytest.fixture
def connect(study, double):
    """Connect an account: ``connect("zenodo")``."""

    def add(place: str, **fields):
        secrets = {"token": fields.pop("token", repositories.TOKEN)}
        return add_account(study, platform=place, label=place, secrets=secrets, by=cast.ada(), **fields)

    return add
