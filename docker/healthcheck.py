"""Whether this container's process works: `healthcheck.py web|worker|scheduler`; exit status 0 if it does."""

import os
import subprocess
import sys
import urllib.request

TIMEOUT_S = 8


def web() -> bool:
    """Ask as the proxy asks: by the name that is served, over HTTPS."""
    name = os.environ.get("ALLOWED_HOSTS", "localhost").split(",")[0].strip()
    request = urllib.request.Request(
        f"http://127.0.0.1:{os.environ.get('WEB_PORT', '8000')}/health/ready",
        headers={"Host": name, "X-Forwarded-Proto": "https"},
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310 - our own address
            return bool(answer.status == 200)
    except OSError as error:
        print(error, file=sys.stderr)
        return False


def main() -> int:
    """Check the process that is named."""
    process = sys.argv[1] if len(sys.argv) > 1 else "web"
    if process == "web":
        return int(not web())
    return subprocess.run([sys.executable, "manage.py", "heartbeat", process], check=False).returncode  # noqa: S603 - our own command


if __name__ == "__main__":
    sys.exit(main())
