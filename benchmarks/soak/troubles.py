"""What happens to the services: each kind of trouble by its name, and what it did to those who waited."""

import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.soak.machine import Clock, Disk
from benchmarks.soak.pulse import REST_S, Pulse
from benchmarks.soak.services import Service

FULL_S, SLOW_S, READ_ONLY_S, JUMP_S = 12.0, 12.0, 6.0, 8.0
STALL_S, FLOW_S = (0.5, 2.0), 0.3  # of a slow disk: writes wait, then go through
JUMPS_S = (-3600, -90, 90, 3600)
SERVED = 0.75  # of the troubles; the others come while the platform is still coming back
KILLED = {  # name: service, whether one of its children
    "web worker killed": ("web", True),
    "web master killed": ("web", False),
    "task worker killed": ("worker", False),
    "task process killed": ("worker", True),
    "broker killed": ("broker", False),
    "database killed": ("database", False),
    "database backend killed": ("database", True),
}
STARTS = ("database", "broker", "web", "worker")
Happen = Callable[[], str]


@dataclass
class Troubles:
    """Lets one kind after another happen, each once before any comes again, in an order of the seed."""

    services: dict[str, Service]
    disk: Disk
    clock: Clock
    pulse: Pulse
    rng: random.Random
    say: Callable[[str], None]
    n: Counter[str] = field(default_factory=Counter)
    away_s: defaultdict[str, float] = field(
        default_factory=lambda: defaultdict(float)
    )  # the longest time without service
    impossible: list[str] = field(default_factory=list)

    def kinds(self) -> dict[str, Happen]:
        """Every kind that this machine permits."""
        kinds: dict[str, Happen] = {
            name: lambda name=name: self._kill(name)  # type: ignore[misc]
            for name, (service, _) in KILLED.items()
            if service in self.services
        }
        if "database" in self.services:
            kinds["database restarted"] = self._restart_database
        if self.disk.is_mounted:
            kinds |= {
                "disk full": self._fill_disk,
                "disk slow": self._slow_disk,
                "disk read-only": self._fail_disk,
            }
        else:
            self.impossible.append("full, slow and read-only disk: mounting is not permitted")
        if self.clock.environment:
            kinds["clock set forward"] = lambda: self._jump(max)
            kinds["clock set back"] = lambda: self._jump(min)
        else:
            self.impossible.append("clock jumps: no C compiler")
        return kinds

    def go_on(self, seconds: float) -> None:
        """One trouble after another for so long."""
        end, kinds, order = time.monotonic() + seconds, self.kinds(), list[str]()
        while time.monotonic() < end:
            if not order:
                order = self.rng.sample(list(kinds), len(kinds))
            time.sleep(self.rng.uniform(0.5, 5))
            name = order.pop()
            self.pulse.begin()
            self.say(f"{name}: {kinds[name]()}")
            self.n[name] += 1
            if self.rng.random() < SERVED:
                self.pulse.wait()
                time.sleep(2 * REST_S)  # until the pulse has seen it, too
                self.away_s[name] = max(self.away_s[name], self.pulse.longest_since_begin)

    def _kill(self, name: str) -> str:
        service, child = KILLED[name]
        while (pid := self.services[service].kill(self.rng, child=child)) is None:
            time.sleep(0.1)
        return f"kill -9 {pid}"

    def _restart_database(self) -> str:
        self.services["database"].restart()
        return "fast shutdown, started again"

    def _fill_disk(self) -> str:
        try:
            self.disk.fill()
            time.sleep(FULL_S)
        finally:
            self.disk.empty()
        return f"no byte free for {FULL_S:.0f} s"

    def _slow_disk(self) -> str:
        end, n = time.monotonic() + SLOW_S, 0
        while time.monotonic() < end:
            self.disk.stall(self.rng.uniform(*STALL_S))
            time.sleep(FLOW_S)
            n += 1
        return f"{n} stalls in {SLOW_S:.0f} s"

    def _fail_disk(self) -> str:
        self.disk.fail()
        time.sleep(READ_ONLY_S)
        for name in reversed(STARTS):
            if name in self.services:
                self.services[name].halt()
        self.disk.repair()
        for name in STARTS:
            if name in self.services:
                self.services[name].resume()
        return f"read-only for {READ_ONLY_S:.0f} s, then unmounted, checked, mounted, services started"

    def _jump(self, furthest: Callable[[list[int]], int]) -> str:
        there = [jump for jump in JUMPS_S if (jump > 0) == (furthest([-1, 1]) > 0)]
        seconds = self.rng.choice(there)
        self.clock.shift(seconds)
        try:
            time.sleep(JUMP_S)
        finally:
            self.clock.shift(0)
        return f"by {seconds} s for {JUMP_S:.0f} s"
