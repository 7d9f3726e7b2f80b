"""Start every double, each in a process of its own, until interrupted: ``python -m tools.doubles``."""

import signal
import subprocess
import sys

PORTS = {"mturk": 8601, "prolific": 8602}


def main() -> None:
    """Run the doubles; when one of them ends, end all."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that the processes below end too
    processes = [
        subprocess.Popen([sys.executable, "-m", f"tools.doubles.{name}", "--port", str(port)])
        for name, port in PORTS.items()
    ]
    try:
        for process in processes:
            process.wait()
    except KeyboardInterrupt:
        pass
    finally:
        for process in processes:
            process.terminate()


if __name__ == "__main__":
    main()
