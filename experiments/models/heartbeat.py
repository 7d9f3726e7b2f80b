"""Signs of life of the processes of an installation."""

from django.db import models


class Heartbeat(models.Model):
    """When a process of a host last did its work."""

    process = models.CharField(max_length=100, unique=True, help_text="Kind of process and its host.")
    at = models.DateTimeField()

    class Meta:
        ordering = ["process"]

    def __str__(self) -> str:
        return f"{self.process} at {self.at}"
