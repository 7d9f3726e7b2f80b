#!/bin/sh
# web | worker | scheduler | migrate | any other command of manage.py
set -eu
command="${1:-web}"
case "$command" in
  web) exec python -m config.serve --host "${WEB_HOST:-0.0.0.0}" --port "${WEB_PORT:-8000}" --workers "${WEB_WORKERS:-2}" --threads "${WEB_THREADS:-8}" ;;
  worker) exec celery -A config worker --loglevel info --concurrency "${WORKER_PROCESSES:-2}" --queues "${WORKER_QUEUES:-obelus,cpu}" ;;
  scheduler | beat) exec celery -A config beat --loglevel info --pidfile= ;;
  migrate) exec python manage.py migrate --no-input ;;
  *) exec python manage.py "$@" ;;
esac
