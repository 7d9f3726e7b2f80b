"""Demo data for every page of the platform, created once on a fresh machine."""

from releases.demo.login import login_line
from releases.demo.make import Demo, make_demo

__all__ = ["Demo", "login_line", "make_demo"]
