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
.PHONY: help run test lint format docs lock bench soak dist install install-bayes install-hub install-kenlm install-mcp install-models install-sentry install-validators upgrade clean

help: ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /  make \1\t/' | expand -t 28
	@echo "Programs for developers are modules of tools/: .venv/bin/python -m tools.doubles"

# The pip that Python brings may be years old and take twice as long; it is kept where the index does not have the locked one.
$(VENV)/.made: lock/pip.txt
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; this is $$("$(PYTHON)" --version). Say which to use: make run PYTHON=python3.12"; exit 2; }
	@"$(PYTHON)" -m venv $(VENV) || { echo "Python cannot make environments here. On Debian and Ubuntu: apt install python3-venv"; exit 2; }
	@$(INSTALL) -r lock/pip.txt || echo "The pip of this Python installs the packages."
	@touch $@

$(VENV)/.base: $(VENV)/.made lock/base.txt
	@echo "Installing (once, a minute or two) ..."
	@$(INSTALL) -r lock/base.txt
	@$(BIN)/python -m compileall -q analysis config experiments judgments releases
	@touch $@

$(VENV)/.dev: $(VENV)/.base lock/dev.txt
	@echo "Installing what the tests need (once) ..."
	@$(INSTALL) -r lock/dev.txt
	@touch $@

$(VENV)/.docs: $(VENV)/.base lock/docs.txt
	@$(INSTALL) -r lock/docs.txt
	@touch $@

install: $(VENV)/.base ## Create the environment in .venv

install-models: $(VENV)/.base ## Add torch and transformers for neural scorers
	@$(INSTALL) -r lock/models.txt
	@$(INSTALL) --no-deps -r lock/torch-cpu.txt 2>/dev/null || $(INSTALL) --no-deps -r lock/torch.txt
	@# Only builds with CUDA name its libraries: 3 GB, which the others do without.
	@if $(BIN)/python -c 'from importlib.metadata import requires; raise SystemExit("nvidia" not in str(requires("torch")))'; \
	  then $(INSTALL) --no-deps -r lock/torch-cuda.txt; fi

install-bayes: $(VENV)/.base ## Add PyMC, for the Bayesian ordinal model
install-hub: $(VENV)/.base ## Add huggingface_hub, to publish releases on Hugging Face
install-sentry: $(VENV)/.base ## Add sentry-sdk, to send errors to Sentry
install-mcp: $(VENV)/.base ## Add the SDK of the Model Context Protocol, for python -m analysis.client.mcp_server
install-bayes install-hub install-mcp install-sentry: install-%:
	@$(INSTALL) -r lock/$*.txt

# The index has the source only. pip takes what builds it without hashes, so it is built where lock/kenlm-build.txt is installed.
$(VENV)/kenlm/.made: $(VENV)/.made lock/kenlm.txt lock/kenlm-build.txt
	@"$(PYTHON)" -m venv --without-pip $(VENV)/kenlm && rm -rf $(VENV)/kenlm/built
	@$(PIP) --python $(VENV)/kenlm/bin/python install --no-compile --require-hashes -r lock/kenlm-build.txt
	@PATH="$(CURDIR)/$(VENV)/kenlm/bin:$$PATH" $(PIP) --python $(VENV)/kenlm/bin/python wheel --require-hashes \
	  --no-deps --no-build-isolation --wheel-dir $(VENV)/kenlm/built -r lock/kenlm.txt
	@touch $@

install-kenlm: $(VENV)/.base $(VENV)/kenlm/.made ## Add kenlm, a faster reader of n-gram models (needs a C++ compiler)
	@$(PIP) install --no-compile --no-index --no-deps $(VENV)/kenlm/built/kenlm-*.whl

# Without dependencies: cffconvert asks for an older jsonschema than the others, and works with this one.
install-validators: $(VENV)/.dev ## Add the tools of others that open releases (frictionless, datasets, lm-eval …), for their tests
	@$(INSTALL) --no-deps -r lock/validators.txt

# Without an environment as prerequisite: with VERSION=here that would install packages before the backup.
upgrade: ## Back up, take a version (VERSION=v0.2.0, VERSION=here), install, migrate, restart
	@"$(PYTHON)" tools/upgrade.py "$(VERSION)"

run: $(VENV)/.base ## Start web server and worker; print the URL and the login (PORT=8001)
	@PORT="$(PORT)" $(BIN)/python -m config.run

# One thread for each numerical library: with a process on every core, more threads wait for each other.
# ARGS come last, so that -n 0 (one process, for --pdb), paths and -m replace the defaults.
test: $(VENV)/.dev ## Run all tests but the browser's, in parallel (ARGS="tests/judgments -n 0"; ARGS="-m browser" needs a Chromium)
	@export OPENBLAS_NUM_THREADS=$${OPENBLAS_NUM_THREADS:-1} OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1}; \
	  $(BIN)/python -m pytest -n logical --dist worksteal -m "not browser" $(ARGS)

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

bench: $(VENV)/.dev ## Run the benchmarks; print ratios of one run on this machine
	@for bench in benchmarks/*/bench_*.py; do echo "== $$bench"; $(BIN)/python $$bench || exit 1; done

soak: $(VENV)/.dev ## Break processes, disks and clocks under load (ARGS="--minutes 60"); nothing acknowledged may be lost
	@$(BIN)/python -m benchmarks.soak $(ARGS)

# Tools that ask for other versions than the tests', in environments of their own: tools/environments.py.
$(VENV)/deployment/.made $(VENV)/sbom/.made $(VENV)/semgrep/.made: $(VENV)/%/.made: $(VENV)/.made lock/%.txt
	@"$(PYTHON)" -m venv --without-pip $(VENV)/$*
	@$(PIP) --python $(VENV)/$*/bin/python install --no-compile --require-hashes -r lock/$*.txt
	@touch $@

dist: $(VENV)/.dev ## Build the library as wheel and source distribution, in dist/ (OUT=FOLDER for another)
	@$(BIN)/python -m tools.distribution "$(OUT)"

lock: ## Resolve the lock files again (needs uv)
	$(LOCK_PROJECT) -o lock/base.txt
	$(LOCK_PROJECT) --group dev -c lock/base.txt -o lock/dev.txt
	$(LOCK_PROJECT) --group docs -c lock/base.txt -o lock/docs.txt
	$(LOCK) --group sbom -o lock/sbom.txt
	$(LOCK) --group semgrep -o lock/semgrep.txt
	$(LOCK_PROJECT) --extra models -c lock/base.txt -c lock/dev.txt $(TORCH_FAMILY:%=--no-emit-package %) -o lock/models.txt
	$(LOCK_PROJECT) --extra hub -c lock/base.txt -c lock/models.txt -o lock/hub.txt
	$(LOCK_PROJECT) --extra bayes -c lock/base.txt -c lock/dev.txt -c lock/models.txt -o lock/bayes.txt
	$(LOCK) --group validators --override lock/validators-overrides.in $(SHARED:%=-c lock/%.txt) $(TORCH_FAMILY:%=--no-emit-package %) -o lock/validators.txt
	$(LOCK) --group deployment -o lock/deployment.txt
	echo pip | $(LOCK) - -o lock/pip.txt
	echo sentry-sdk | $(LOCK) - -c lock/base.txt -o lock/sentry.txt
	echo 'mcp>=2.3,<3' | $(LOCK) - -c lock/base.txt -o lock/mcp.txt
	echo kenlm | $(LOCK) - -c lock/base.txt -o lock/kenlm.txt
	printf 'cmake\nsetuptools\nwheel\n' | $(LOCK) - -c lock/dev.txt -o lock/kenlm-build.txt
	echo torch==$(TORCH) | $(LOCK) - --no-deps -o lock/torch.txt
	printf 'torch==$(TORCH)+cpu%s\n' "$(TORCH_CPU_SHA256:%= --hash=sha256:%)" > lock/torch-cpu.txt
	echo torch==$(TORCH) | $(LOCK) - -c lock/models.txt $(TORCH_SHARED:%=--no-emit-package %) --no-emit-package torch -o lock/torch-cuda.txt
	$(LOCK) lock/replication.in -c lock/base.txt -o lock/replication.txt

clean: ## Remove the environment and built files (keeps var/, where the data are)
	rm -rf $(VENV) site .pytest_cache .mypy_cache .ruff_cache
