"""The files by which an administrator installs: they agree with the settings, the server and each other."""

import configparser
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.urls import URLResolver, get_resolver, resolve

from config.http.body_limit import MAX_BODY_BYTES, is_marked
from config.serve import FINISH_S
from config.settings import MAX_UPLOAD_BYTES
from releases.study_report.replication import PINS
from tests.deployment.compose import DOCKER, FILLED_IN, ROOT, compose, example_settings, seconds

OURS = ("migrate", "web", "worker", "scheduler")
UNITS = ("web", "worker", "scheduler", "backup")
EXAMPLE = (DOCKER / ".env.example").read_text()


def documented_settings() -> set[str]:
    """Names in the first column of the page of settings."""
    page = (ROOT / "docs" / "reference" / "settings.md").read_text()
    cells = re.findall(r"^\| (`[A-Z].*?) \|", page, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([A-Z_0-9]+)`", cell)}


def test_the_example_names_every_setting_and_holds_no_secret():
    named = set(re.findall(r"^#?([A-Z][A-Z_0-9]+)=", EXAMPLE, re.MULTILINE))
    assert documented_settings() - named == set()
    assert example_settings() == dict.fromkeys(FILLED_IN, "")
    for name in ("PASSWORD", "SECRET", "TOKEN", "_KEY"):
        assert re.findall(rf"^#?\w*{name}\w*=(?!\s*$).+", EXAMPLE, re.MULTILINE) == []


@pytest.mark.parametrize("name", sorted(FILLED_IN))
def test_compose_refuses_to_start_without_what_must_be_filled_in(name):
    with pytest.raises(AssertionError, match=name):
        compose({**FILLED_IN, name: ""})


def test_containers_may_do_no_more_than_they_need():
    services = compose()["services"]
    for name, service in services.items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
    for name in OURS:
        assert services[name]["read_only"] and "cap_add" not in services[name], name
        assert {volume.partition(":")[2] for volume in services[name]["volumes"]} == {
            "/var/obelus",
            "/backups",
        }
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    assert [name for name, service in services.items() if service["networks"] == ["inside"]] == [
        "database",
        "broker",
    ]


def test_services_start_after_the_migrations_and_say_when_they_work():
    services = compose()["services"]
    for name in ("web", "worker", "scheduler"):
        waits_for = {other: how["condition"] for other, how in services[name]["depends_on"].items()}
        assert waits_for == {
            "migrate": "service_completed_successfully",
            "database": "service_healthy",
            "broker": "service_healthy",
        }
        assert services[name]["healthcheck"]["test"][-1] == name
    assert services["migrate"]["restart"] == "no"
    assert services["proxy"]["depends_on"] == {"web": {"condition": "service_healthy"}}
    assert seconds(services["web"]["stop_grace_period"]) > FINISH_S + 2
    volumes = {
        volume.partition(":")[0] for service in services.values() for volume in service.get("volumes", [])
    }
    assert {name for name in volumes if not name.startswith(".")} == set(compose()["volumes"])


def test_every_command_of_compose_and_kubernetes_is_one_of_the_entry_point():
    entry = (DOCKER / "entrypoint.sh").read_text()
    commands = {
        name for line in re.findall(r"^  ([\w| ]+)\) ", entry, re.MULTILINE) for name in line.split(" | ")
    }
    used = {compose()["services"][name]["command"][0] for name in OURS}
    used |= {container["args"][0] for _, container in containers()}
    assert used == {"web", "worker", "scheduler", "migrate"} and used <= commands


def test_no_secret_of_the_checkout_reaches_the_image():
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    patterns = [line for line in ignored if line and not line.startswith("#")]
    assert patterns[0] == "*"  # what no later line takes in stays out
    taken_in = [line[1:] for line in patterns if line.startswith("!")]
    last = max(patterns.index(f"!{name}") for name in taken_in)
    for pattern in ("**/.env", "**/.env.*", "**/secrets", "**/secret_key", "**/*.key", "**/*.pem", "**/var"):
        assert patterns.index(pattern) > last  # the last line that fits decides
    dockerfile = (DOCKER / "Dockerfile").read_text()
    sources = [
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", dockerfile, re.MULTILINE)
        for source in line.split()[:-1]
    ]
    in_folders = {source for source in sources if any(source.startswith(f"{name}/") for name in taken_in)}
    assert set(sources) - in_folders == set(taken_in)
    assert {name for name in sources if not (ROOT / name).exists()} == set()


def test_the_image_has_what_replication_packages_quote():
    """Pinned versions and the licence, which are beside the code, not in it."""
    dockerfile, ignored = (DOCKER / "Dockerfile").read_text(), (ROOT / ".dockerignore").read_text()
    assert f"COPY {PINS} " in dockerfile and "COPY LICENSE " in dockerfile
    assert {f"!{PINS}", "!LICENSE"} <= set(ignored.splitlines())


def test_the_image_lets_its_user_read_what_was_built_as_root():
    """The platform's umask lets nobody else read what it writes: collected files and bytecode."""
    build = (DOCKER / "Dockerfile").read_text().rpartition("\nFROM ")[0]
    assert build.rindex("chmod -R a+rX /app /usr/local /venv") > build.rindex("collectstatic")


def test_languages_of_participants_keep_the_messages_of_packages():
    kept = set(re.findall(r"! -path '\*/(\w+)/\*'", (DOCKER / "slim.sh").read_text()))
    ours = {folder.name for folder in (ROOT / "judgments" / "locale").iterdir() if folder.is_dir()}
    assert kept == ours | {"en"}


def test_the_image_runs_as_nobody_else_and_without_tools_to_build():
    final = (DOCKER / "Dockerfile").read_text().rpartition("\nFROM ")[2]
    assert "USER 10001:10001" in final and "HEALTHCHECK" in final
    assert not re.search(r"apt-get|pip install|gcc", final)


def caddy_limits() -> tuple[int, int, set[str]]:
    """Largest bodies elsewhere and of uploads, in MB, and the addresses of uploads, of the Caddyfile."""
    text = (DOCKER / "proxy" / "Caddyfile").read_text()
    sizes = dict(re.findall(r"request_body @(\w+) \{\s+max_size (\d+)MB", text))
    paths = dict(re.findall(r"@(\w+) (?:not )?path (.+)", text))
    assert paths["uploads"] == paths["forms"] and f"request_buffers {sizes['forms']}MB" in text
    addresses = {path.removesuffix("*") for path in paths["uploads"].split()}
    return int(sizes["forms"]), int(sizes["uploads"]), addresses


def nginx_limits() -> tuple[int, int, set[str]]:
    """The same of nginx.conf."""
    text = (DOCKER / "proxy" / "nginx.conf").read_text()
    small, large = map(int, re.findall(r"client_max_body_size (\d+)m", text))
    assert "proxy_request_buffering on" in text
    beginnings = re.search(r"location ~ \^/\((.+)\) \{", text)[1]
    return small, large, {f"/{path.removesuffix('$')}" for path in beginnings.split("|")}


def ingress_limits() -> tuple[int, int, set[str]]:
    """The same of the Kubernetes manifests."""
    entries = {entry["metadata"]["name"]: entry for entry in manifests() if entry["kind"] == "Ingress"}
    prefix = "nginx.ingress.kubernetes.io/proxy-"
    sizes = {}
    for name, entry in entries.items():
        notes = entry["metadata"]["annotations"]
        assert notes[f"{prefix}request-buffering"] == "on"
        sizes[name] = int(notes[f"{prefix}body-size"].removesuffix("m"))
    paths = entries["uploads"]["spec"]["rules"][0]["http"]["paths"]
    assert {path["pathType"] for path in paths} == {"Prefix"}
    return sizes["web"], sizes["uploads"], {f"{path['path']}/" for path in paths}


def addresses(resolver: Any = None, begin: str = "/") -> Iterator[tuple[str, Any]]:
    """Every address of the site, as a pattern, with its view."""
    for pattern in (resolver or get_resolver()).url_patterns:
        where = begin + str(pattern.pattern).removeprefix("^")
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern, where)
        else:
            yield where, pattern.callback


@pytest.mark.parametrize("limits", [caddy_limits, nginx_limits, ingress_limits])
def test_proxies_take_large_bodies_where_researchers_send_files_and_nowhere_else(limits):
    small, large, beginnings = limits()
    assert small * 1_000_000 == MAX_BODY_BYTES and large * 1_000_000 > MAX_UPLOAD_BYTES
    large_files = [where for where, view in addresses() if is_marked(view)]
    assert len(large_files) == 9
    assert [where for where in large_files if not where.startswith(tuple(beginnings))] == []
    anonymous = ("/s/", "/take/", "/api/v1/sessions/", "/accounts/", "/hooks/", "/shared/", "/health/")
    for begin in anonymous:
        some = [where for where, _ in addresses() if where.startswith(begin)]
        assert some and not [where for where in some if where.startswith(tuple(beginnings))]


def unit(name: str) -> configparser.ConfigParser:
    """A unit of systemd; of settings given twice the last."""
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read(DOCKER / "systemd" / f"obelus-{name}.service")
    return parser


@pytest.mark.parametrize("name", UNITS)
def test_units_run_the_same_programs_with_few_rights(name):
    service = unit(name)["Service"]
    entry = (DOCKER / "entrypoint.sh").read_text()
    program = {
        "web": "python -m config.serve",
        "worker": "celery -A config worker",
        "scheduler": "celery -A config beat",
        "backup": "python manage.py",
    }[name]
    assert program in service["ExecStart"] and f"exec {program}" in entry
    assert service["User"] == "obelus" and service["ProtectSystem"] == "strict"
    assert service["NoNewPrivileges"] == "yes" and service["CapabilityBoundingSet"] == ""
    assert service["Environment"].startswith("VAR_DIR=/var/lib/obelus")
    if name != "backup":
        assert service["Restart"] == "always"
        assert int(service["TimeoutStopSec"]) > FINISH_S + 2


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_systemd_accepts_the_units(tmp_path):
    files = []
    for source in sorted((DOCKER / "systemd").glob("obelus-*")):
        files.append(tmp_path / source.name)
        # Not installed here: the program must exist, and so must the page of documentation.
        files[-1].write_text(re.sub(r"/opt/obelus/\.venv/bin/\w+", shutil.which("env"), source.read_text()))
    process = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *files], capture_output=True, text=True, check=False
    )
    complaints = [line for line in process.stderr.splitlines() if "obelus" in line]
    assert (process.returncode, complaints) == (0, [])


def manifests() -> list[dict]:
    """All Kubernetes manifests."""
    files = sorted((DOCKER / "kubernetes").glob("*.yaml"))
    return [document for file in files for document in yaml.safe_load_all(file.read_text())]


def containers() -> list[tuple[dict, dict]]:
    """Pods and their container."""
    pods = [entry["spec"]["template"]["spec"] for entry in manifests() if "template" in entry.get("spec", {})]
    return [(pod, pod["containers"][0]) for pod in pods]


def test_pods_have_no_rights_and_write_into_their_volumes_only():
    assert len(containers()) == 4
    for pod, container in containers():
        assert pod["securityContext"]["runAsNonRoot"] and pod["automountServiceAccountToken"] is False
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert "memory" in container["resources"]["limits"]


def test_web_pods_are_probed_where_answers_are_and_drained_before_they_end():
    [(pod, web)] = [(pod, container) for pod, container in containers() if container["name"] == "web"]
    for probe, path in (
        ("startupProbe", "/health/live"),
        ("livenessProbe", "/health/live"),
        ("readinessProbe", "/health/ready"),
    ):
        assert web[probe]["httpGet"]["path"] == path and resolve(path)
        headers = {header["name"]: header["value"] for header in web[probe]["httpGet"]["httpHeaders"]}
        assert headers == {"Host": "judgments.example.org", "X-Forwarded-Proto": "https"}
    pause = int(web["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] > pause + FINISH_S + 2


def test_web_pods_serve_their_own_address_beside_that_of_the_site():
    [web] = [container for _, container in containers() if container["name"] == "web"]
    [settings] = [entry["data"] for entry in manifests() if entry["kind"] == "ConfigMap"]
    address, hosts = web["env"]  # what a value refers to has to stand before it
    assert address == {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    assert hosts == {"name": "ALLOWED_HOSTS", "value": f"{settings['ALLOWED_HOSTS']},$(POD_IP)"}


def test_one_scheduler_at_a_time():
    [scheduler] = [
        entry
        for entry in manifests()
        if entry["kind"] == "Deployment" and entry["metadata"]["name"] == "scheduler"
    ]
    assert (scheduler["spec"]["replicas"], scheduler["spec"]["strategy"]) == (1, {"type": "Recreate"})
    assert all(
        Path(word).exists()
        for _, container in containers()
        for word in container.get("livenessProbe", {}).get("exec", {}).get("command", [])
        if word.endswith(".py")
    )


def test_actions_of_workflows_are_pinned_by_their_commit():
    for path in (ROOT / ".github").rglob("*.y*ml"):
        for action in re.findall(r"^\s*(?:- )?uses:\s*(\S+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert action.startswith("./") or re.search(r"@[0-9a-f]{40}$", action), f"{path.name}: {action}"
