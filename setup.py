"""Build the library ``obelus``, which is the folder ``analysis`` of a checkout."""

from setuptools import find_namespace_packages, setup

setup(
    packages=[
        "obelus",
        *(f"obelus.{name}" for name in find_namespace_packages("analysis", exclude=["*__pycache__"])),
    ],
    package_dir={"obelus": "analysis"},
)
