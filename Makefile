# Two commands: `make run` and `make test`. Needs Python 3.11 or newer and make; nothing else.
PYTHON ?= python3
PORT ?=
OUT ?= dist
TORCH := 2.13.0
LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --quiet
LOCK_PROJECT := $(LOCK) pyproject.toml --extra server
# The build of torch without CUDA (Linux x86_64, Python 3.11), taken where a folder or index of pip's offers it; PyPI has others.
# Its sum is that of the file at download.pytorch.org. More builds: more sums, then `make lock`.
TORCH_CPU_SHA256 := 6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b
# The validators are installed beside these, so none of their versions may change
SHARED := base dev hub models
# What torch shares with other packages is in lock/models.txt
TORCH_SHARED := filelock fsspec jinja2 markupsafe mpmath networkx numpy setuptools sympy typing-extensions
# torch and the accelerator libraries it draws in
TORCH_FAMILY := cuda-bindings cuda-pathfinder cuda-toolkit nvidia-cublas nvidia-cuda-cccl nvidia-cuda-cupti nvidia-cuda-nvrtc \
  nvidia-cuda-runtime nvidia-cudnn-cu13 nvidia-cufft nvidia-cufile nvidia-curand nvidia-cusolver nvidia-cusparse nvidia-cusparselt-cu13 nvidia-nccl-cu13 \
  nvidia-nvjitlink nvidia-nvshmem-cu13 nvidia-nvtx torch triton
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Bytecode of what is never imported takes 170 MB in the base install alone, and time
INSTALL := $(PIP) install --no-compile --require-hashes

.DEFAULT_GOAL := help
.PHONY: help install upgrade sizes install-models install-hub install-kenlm install-sentry install-validators run test lint format docs docs-version docs-commands tutorial pictures gallery messages bench soak fuzz audit semgrep lint-deployment sbom dist test-wheel doubles lock clean

help: ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /  make \1\t/' | expand -t 24

# The pip that Python brings may be years old and take twice as long; it is kept where the index does not have the locked one.
$(VENV)/.made: lock/pip.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; this is $$($(PYTHON) --version). Say which to use: make run PYTHON=python3.12"; exit 2; }
	@$(PYTHON) -m venv $(VENV) || { echo "Python cannot make environments here. On Debian and Ubuntu: apt install python3-venv"; exit 2; }
	@$(INSTALL) -r lock/pip.txt || echo "The pip of this Python installs the packages."
	@touch $@

$(VENV)/.base: $(VENV)/.made lock/base.txt
	@echo "Installing (once, a minute or two) ..."
	@$(INSTALL) -r lock/base.txt
	@touch $@

$(VENV)/.dev: $(VENV)/.base lock/dev.txt
	@echo "Installing what the tests need (once) ..."
	@$(INSTALL) -r lock/dev.txt
	@touch $@

$(VENV)/.docs: $(VENV)/.base lock/docs.txt
	@$(INSTALL) -r lock/docs.txt
	@touch $@

install: $(VENV)/.base ## Create the environment in .venv

# Without an environment as prerequisite: with VERSION=here that would install packages before the backup.
upgrade: ## Back up, take a version (VERSION=v0.2.0, VERSION=here), install, migrate, restart
	@$(PYTHON) tools/upgrade.py "$(VERSION)"

sizes: $(VENV)/.base ## Print the disk space of the base install by package
	@$(BIN)/python -m tools.sizes

install-models: $(VENV)/.base ## Add torch and transformers for neural scorers
	@$(INSTALL) -r lock/models.txt
	@$(INSTALL) --no-deps -r lock/torch-cpu.txt 2>/dev/null || $(INSTALL) --no-deps -r lock/torch.txt
	@# Only builds with CUDA name its libraries: 3 GB, which the others do without.
	@if $(BIN)/python -c 'from importlib.metadata import requires; raise SystemExit("nvidia" not in str(requires("torch")))'; \
	  then $(INSTALL) --no-deps -r lock/torch-cuda.txt; fi

install-hub: $(VENV)/.base ## Add huggingface_hub, to publish releases on Hugging Face
	@$(INSTALL) -r lock/hub.txt

install-sentry: $(VENV)/.base ## Add sentry-sdk, to send errors to Sentry
	@$(INSTALL) -r lock/sentry.txt

# The index has the source only. pip takes what builds it without hashes, so it is built where lock/kenlm-build.txt is installed.
$(VENV)/kenlm/.made: $(VENV)/.made lock/kenlm.txt lock/kenlm-build.txt
	@$(PYTHON) -m venv --without-pip $(VENV)/kenlm && rm -rf $(VENV)/kenlm/built
	@$(PIP) --python $(VENV)/kenlm/bin/python install --no-compile --require-hashes -r lock/kenlm-build.txt
	@PATH="$(CURDIR)/$(VENV)/kenlm/bin:$$PATH" $(PIP) --python $(VENV)/kenlm/bin/python wheel --require-hashes \
	  --no-deps --no-build-isolation --wheel-dir $(VENV)/kenlm/built -r lock/kenlm.txt
	@touch $@

install-kenlm: $(VENV)/.base $(VENV)/kenlm/.made ## Add kenlm, a faster reader of n-gram models (needs a C++ compiler)
	@$(PIP) install --no-compile --no-index --no-deps $(VENV)/kenlm/built/kenlm-*.whl

# Without dependencies: cffconvert asks for an older jsonschema than the others, and works with this one.
install-validators: $(VENV)/.dev ## Add the tools of others that open releases (frictionless, datasets, lm-eval …), for their tests
	@$(INSTALL) --no-deps -r lock/validators.txt

run: $(VENV)/.base ## Start web server, worker and scheduler; print the URL and the login (PORT=8001)
	@PORT="$(PORT)" $(BIN)/python -m config.run

# One thread for each numerical library: with a process on every core, more threads wait for each other.
# ARGS come last, so that -n 0 (one process, for --pdb), paths and -m replace the defaults: `-m slow` runs the slow ones alone, `-m ""` all.
test: $(VENV)/.dev ## Run all tests but the slow ones in parallel (ARGS="tests/judgments -n 0"; browser tests need a Chromium)
	@export OPENBLAS_NUM_THREADS=$${OPENBLAS_NUM_THREADS:-1} OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1}; \
	  $(BIN)/python -m pytest -n logical --dist worksteal -m "not slow" $(ARGS)

lint: $(VENV)/.dev ## Check format, types, templates, migrations and the API document
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/mypy
	@git ls-files '*.html' | xargs $(BIN)/djade --target-version 5.2 --check
	@$(BIN)/python manage.py makemigrations --check --dry-run
	@$(BIN)/python manage.py spectacular --validate --fail-on-warn --file /dev/null

format: $(VENV)/.dev ## Format code and templates
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format .
	@git ls-files '*.html' | xargs $(BIN)/djade --target-version 5.2

docs: $(VENV)/.docs ## Build the documentation into site/, check its links (ARGS="--check-links": external ones, too)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet && echo "Open site/index.html"
	@$(BIN)/python -m tools.manual.links $(ARGS)

# mike commits to a branch and leaves the working tree as it is; --push is the caller's choice.
docs-version: $(VENV)/.docs ## Add the manual of this version, with a switch between versions, to the branch gh-pages (VERSION=0.2)
	@test -n "$(VERSION)" || { echo "Say which: make docs-version VERSION=0.2"; exit 2; }
	@PATH="$(CURDIR)/$(BIN):$$PATH" NO_MKDOCS_2_WARNING=1 $(BIN)/mike --quiet deploy --alias-type copy --update-aliases "$(VERSION)" latest
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/mike --quiet set-default latest && $(BIN)/mike list

docs-commands: $(VENV)/.dev ## Run the documentation's commands marked `.run` on a demo in a temporary data folder
	@DJANGO_SETTINGS_MODULE=config.settings $(BIN)/python -m tools.manual.commands

tutorial: $(VENV)/.dev ## Run the tutorials and write their output into their pages
	@$(BIN)/python -m tools.manual.long_tutorial
	@$(BIN)/python -m tools.manual.tutorials

pictures: $(VENV)/.dev ## Take the manual's screenshots again (needs a Chromium; ARGS="--only live")
	@$(BIN)/python -m tools.pictures $(ARGS)

gallery: $(VENV)/.dev ## Run the code of the gallery of figures and draw its pictures again
	@$(BIN)/python -m tools.manual.gallery

messages: $(VENV)/.base ## Extract and compile the participants' texts (needs gettext)
	@$(BIN)/python -m tools.messages

bench: $(VENV)/.dev ## Run the benchmarks; print ratios of one run on this machine
	@for bench in benchmarks/*/bench_*.py; do echo "== $$bench"; $(BIN)/python $$bench || exit 1; done

soak: $(VENV)/.dev ## Break processes, disks and clocks under load (ARGS="--minutes 60"); nothing acknowledged may be lost
	@$(BIN)/python -m benchmarks.soak $(ARGS)

fuzz: $(VENV)/.dev ## Send 10,000 generated calls and as many mutated requests and hostile files to a platform
	@$(BIN)/python -m tools.fuzz $(ARGS)

audit: $(VENV)/.dev ## Look the locked packages up in a copy of OSV's database (OSV_DATABASE=FOLDER/all.zip)
	@$(BIN)/python -m tools.audit "$(OSV_DATABASE)"

# In an environment of its own: see the group semgrep in pyproject.toml. Nothing is sent or asked for.
$(VENV)/semgrep/.made: $(VENV)/.made lock/semgrep.txt
	@$(PYTHON) -m venv --without-pip $(VENV)/semgrep
	@$(PIP) --python $(VENV)/semgrep/bin/python install --no-compile --require-hashes -r lock/semgrep.txt
	@touch $@

semgrep: $(VENV)/semgrep/.made ## Look for what requests reach (SQL, HTML, files, addresses) by the rules in tools/semgrep.yml
	@PATH="$(CURDIR)/$(VENV)/semgrep/bin:$$PATH" SEMGREP_ENABLE_VERSION_CHECK=0 semgrep scan --config tools/semgrep.yml --metrics off --error --quiet \
	  analysis config experiments judgments releases static manage.py setup.py && echo "No rule is broken."

# In an environment of its own: see the group deployment in pyproject.toml. Schemas of Compose and Kubernetes are part of the packages.
$(VENV)/deployment/.made: $(VENV)/.made lock/deployment.txt
	@$(PYTHON) -m venv --without-pip $(VENV)/deployment
	@$(PIP) --python $(VENV)/deployment/bin/python install --no-compile --require-hashes -r lock/deployment.txt
	@touch $@

lint-deployment: $(VENV)/deployment/.made ## Lint docker/Dockerfile, validate compose.yml and the Kubernetes manifests against their schemas
	@$(VENV)/deployment/bin/hadolint docker/Dockerfile && echo "docker/Dockerfile: no rule is broken"
	@$(VENV)/deployment/bin/check-jsonschema --builtin-schema vendor.compose-spec docker/compose.yml
	@$(VENV)/deployment/bin/kubernetes-validate --strict docker/kubernetes/*.yaml

# In an environment of its own: see the group sbom in pyproject.toml.
$(VENV)/sbom/.made: $(VENV)/.made lock/sbom.txt
	@$(PYTHON) -m venv --without-pip $(VENV)/sbom
	@$(PIP) --python $(VENV)/sbom/bin/python install --no-compile --require-hashes -r lock/sbom.txt
	@touch $@

SBOM_LOCKS ?= base
sbom: $(VENV)/.base $(VENV)/sbom/.made ## List locked packages with hashes as CycloneDX, in var/obelus.cdx.json (SBOM_LOCKS="base models torch-cpu")
	@mkdir -p var
	@$(BIN)/python -m tools.sbom $(VENV)/sbom/bin/cyclonedx-py var/obelus.cdx.json $(SBOM_LOCKS)

# The wheel is built from the source distribution, in a folder of its own: no file of an earlier build can enter it.
dist: $(VENV)/.dev ## Build the library as wheel and source distribution, in dist/ (OUT=FOLDER for another)
	@$(BIN)/python -c "from setuptools import build_meta; build_meta.build_sdist('$(OUT)')" >/dev/null
	@$(PIP) wheel --no-deps --no-build-isolation --wheel-dir "$(OUT)" "$(OUT)"/obelus_judgments-*.tar.gz && ls -l "$(OUT)"

# An empty environment of each Python: make test-wheel PYTHONS="python3.12 python3.13"; without an index ARGS=--here.
PYTHONS ?= $(BIN)/python
test-wheel: $(VENV)/.dev ## Run examples and tests of the library against the installed wheel (PYTHONS="…", ARGS="--here")
	@$(BIN)/python -m tools.installed_wheel $(ARGS) --python $(PYTHONS)

doubles: $(VENV)/.dev ## Start local doubles of the recruitment platforms; print addresses and settings
	@$(BIN)/python -m tools.doubles

lock: ## Resolve the lock files again (needs uv)
	$(LOCK_PROJECT) -o lock/base.txt
	$(LOCK_PROJECT) --group dev -c lock/base.txt -o lock/dev.txt
	$(LOCK_PROJECT) --group docs -c lock/base.txt -o lock/docs.txt
	$(LOCK) --group sbom -o lock/sbom.txt
	$(LOCK) --group semgrep -o lock/semgrep.txt
	$(LOCK_PROJECT) --extra models -c lock/base.txt -c lock/dev.txt $(TORCH_FAMILY:%=--no-emit-package %) -o lock/models.txt
	$(LOCK_PROJECT) --extra hub -c lock/base.txt -c lock/models.txt -o lock/hub.txt
	$(LOCK) --group validators --override lock/validators-overrides.in $(SHARED:%=-c lock/%.txt) $(TORCH_FAMILY:%=--no-emit-package %) -o lock/validators.txt
	$(LOCK) --group deployment -o lock/deployment.txt
	echo pip | $(LOCK) - -o lock/pip.txt
	echo sentry-sdk | $(LOCK) - -c lock/base.txt -o lock/sentry.txt
	echo kenlm | $(LOCK) - -c lock/base.txt -o lock/kenlm.txt
	printf 'cmake\nsetuptools\nwheel\n' | $(LOCK) - -c lock/dev.txt -o lock/kenlm-build.txt
	echo torch==$(TORCH) | $(LOCK) - --no-deps -o lock/torch.txt
	printf 'torch==$(TORCH)+cpu%s\n' "$(TORCH_CPU_SHA256:%= --hash=sha256:%)" > lock/torch-cpu.txt
	echo torch==$(TORCH) | $(LOCK) - -c lock/models.txt $(TORCH_SHARED:%=--no-emit-package %) --no-emit-package torch -o lock/torch-cuda.txt
	$(LOCK) lock/replication.in -c lock/base.txt -o lock/replication.txt

clean: ## Remove the environment and built files (keeps var/, where the data are)
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache
