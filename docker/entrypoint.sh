#!/bin/sh
# web | worker | beat | any manage.py command
set -eu
case "$1" in
  web)
    python manage.py migrate --no-input
    python manage.py collectstatic --no-input --verbosity 0
    exec python -m config.serve --host 0.0.0.0 --workers "${WEB_WORKERS:-2}"
    ;;
  worker) exec celery -A config worker --loglevel info --concurrency "${WORKER_PROCESSES:-2}" ;;
  beat) exec celery -A config beat --loglevel info --pidfile= ;;
  *) exec python manage.py "$@" ;;
esac
