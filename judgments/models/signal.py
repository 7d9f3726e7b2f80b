"""Quality signals of sessions, as last computed; researchers decide what follows from them."""

from django.db import models

from judgments.models.session import Session


class Signal(models.Model):
    """One signal on one session with its reason; it does not exclude the session."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="signals")
    name = models.CharField(max_length=40)
    version = models.PositiveIntegerField()
    value = models.FloatField()
    reason = models.CharField(max_length=300)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["session", "name"]
        constraints = [models.UniqueConstraint(fields=["session", "name"], name="signal_once_per_session")]

    def __str__(self) -> str:
        return f"{self.name} on session {self.session_id}"
