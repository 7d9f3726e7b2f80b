"""Every command checks what protects the data before it runs."""

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError


@pytest.mark.parametrize(
    ("name", "value", "code"), [("TIME_ZONE", "Europe/Berlin", "E002"), ("SECRET_KEY", "short", "E001")]
)
def test_a_command_stops_where_settings_endanger_the_data(settings, name, value, code):
    setattr(settings, name, value)
    with pytest.raises(SystemCheckError, match=code):
        call_command("lists", "study", skip_checks=False)
