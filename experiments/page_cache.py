"""Cache of what pages compute: in the memory of each process, or in Redis with ``CACHE_URL``.

Django's default cache is for limits: all processes share it, and each access is a query.
"""

from django.core.cache import caches
from django.utils.connection import ConnectionProxy

cache = ConnectionProxy(caches, "pages")
