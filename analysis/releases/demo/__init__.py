"""The demo: every page of the platform with something true to show, made once on a fresh machine."""

from analysis.releases.demo.login import login_line
from analysis.releases.demo.make import Made, make_demo

__all__ = ["Made", "login_line", "make_demo"]
