"""Counts of limits that all processes share."""

from django.db import models


class CacheEntry(models.Model):
    """An entry of Django's default cache; read and written by :mod:`experiments.operation.database_cache`."""

    key = models.CharField(max_length=250, primary_key=True)
    value = models.TextField(help_text="JSON.")
    expires_epoch_s = models.FloatField(db_index=True, help_text="Seconds since 1970.")

    class Meta:
        verbose_name_plural = "cache entries"

    def __str__(self) -> str:
        return self.key
