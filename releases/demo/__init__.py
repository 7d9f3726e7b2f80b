"""Demo data for every page of the platform, created once on a fresh machine."""

from releases.demo.make import Demo, login_line, make_demo

__all__ = ["Demo", "login_line", "make_demo"]
