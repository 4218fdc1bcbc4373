# Two commands, each enough on a fresh machine with Python 3.11+, make and git:
#
#   make demo    repairs a failing script and shows the diff that was run
#   make test    lint, types, import contracts and tests
#
# The first run of each fills $(VENV); later ones need no network until pyproject.toml changes.

VENV ?= .venv
# What goes into an environment that has no torch yet; one that has it (VENV=~/envs/torch) keeps its own.
# A CPU build, not gigabytes of CUDA: make demo TORCH_INDEX=https://download.pytorch.org/whl/cpu
TORCH ?= torch==2.13.0
TORCH_INDEX ?=
# The interpreter that creates $(VENV); not asked where that exists.
PYTHON ?= $(firstword $(foreach p,python3 python3.14 python3.13 python3.12 python3.11 python,$(call recent,$p)))
# One more than the two cores that the whole run is measured on: a worker often waits for the end of a run.
JOBS ?= 3
PYTEST_ARGS ?=

recent = $(shell $1 -c 'import sys; sys.version_info >= (3, 11) and print("$1")' 2>/dev/null)

# Each of the many processes of a test would compile the whole program anew where no compiled file may be kept.
unexport PYTHONDONTWRITEBYTECODE

# make leaves ~ alone in VENV=~/envs/torch where the shell did; recipes and rules need one spelling.
override VENV := $(abspath $(patsubst ~/%,$(HOME)/%,$(VENV)))
override BIN := $(VENV)/bin
# An environment may serve several checkouts; the last to install itself is the one that counts.
override CHECKOUT := $(shell pwd -P | cksum | cut -d ' ' -f 1)
override PACKAGE := $(VENV)/.autofix-$(CHECKOUT)-package
override TOOLS := $(VENV)/.autofix-$(CHECKOUT)-tools

.DELETE_ON_ERROR:
.SUFFIXES:

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:[^#]*## /\t/' | expand -t 12

DEMO := fixtures/first/gan_two_step/broken.py

# An interpreter that crashes also ends with status 1, so the patch itself is asked for and tried.
.PHONY: demo
demo: $(PACKAGE) ## repair a failing script and show the verified diff
	@export VIRTUAL_ENV=$(VENV) PATH="$(BIN):$$PATH"; \
	echo '$$ autofix fix $(DEMO)'; \
	autofix fix $(DEMO); status=$$?; \
	test $$status -eq 1 || { echo "expected a verified fix (status 1), got status $$status" >&2; exit 1; }; \
	echo '$$ autofix fix --diff $(DEMO) | git apply --check'; \
	autofix fix --diff $(DEMO) | git apply --check && echo 'The patch applies; nothing on disk was changed.'

.PHONY: test
test: lint types tests ## everything that must hold: lint, types, contracts, tests

.PHONY: lint
lint: $(TOOLS) ## ruff and the import contracts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-logo

.PHONY: types
types: $(TOOLS) ## mypy, strict
	$(BIN)/mypy

.PHONY: tests
tests: $(TOOLS) ## pytest alone; PYTEST_ARGS='-k detach -x' narrows it
	$(BIN)/pytest -n $(JOBS) --dist worksteal --randomly-seed=1 --inline-snapshot=disable $(PYTEST_ARGS)

.PHONY: long
long: $(TOOLS) ## the tests that `make test` has no time for: every right edit of every fixture, and further pinned programs
	$(BIN)/pytest -n $(JOBS) --dist worksteal --with long -m apart $(PYTEST_ARGS)

.PHONY: fuzz
fuzz: $(TOOLS) ## the random tests alone, twenty times as long and with new examples each time
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m hypothesis --hypothesis-profile=fuzz --inline-snapshot=disable $(PYTEST_ARGS)

.PHONY: versions
versions: $(TOOLS) ## the tests that need torch, under other versions of torch and Python; VERSIONS='--torch 2.15.0 --python 3.12'
	$(BIN)/python benchmarks/versions.py $(VERSIONS)

.PHONY: dist
dist: $(TOOLS) ## build wheel and sdist into build/dist, check them, install them into fresh environments
	$(BIN)/python -m pip install --quiet --group release
	rm -rf build/dist
	$(BIN)/python -m build --no-isolation --outdir build/dist
	$(BIN)/twine check --strict build/dist/*
	$(BIN)/pytest -n 0 --with release tests/test_release.py $(PYTEST_ARGS)

# VS Code itself, in a browser: code-server from the npm registry (node 20), Debian's chromium and its driver.
CODE_SERVER ?= $(CURDIR)/build/code-server

.PHONY: vsix
vsix: ## build the extension for VS Code into build/
	mkdir -p build
	cd editors/vscode && npm ci --no-audit --no-fund && npm run package

.PHONY: vscode
vscode: $(TOOLS) vsix $(CODE_SERVER)/.installed ## try the extension in VS Code, in a headless browser
	CODE_SERVER=$(CODE_SERVER) $(BIN)/pytest -n 0 --with vscode tests/test_vscode.py $(PYTEST_ARGS)

$(CODE_SERVER)/.installed: editors/vscode/code-server.sh
	sh editors/vscode/code-server.sh $(CODE_SERVER)
	@touch $@

.PHONY: format
format: $(TOOLS) ## let ruff write
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: docs
docs: $(PACKAGE) ## write the pages that are generated: rules, properties, options
	$(BIN)/python -m autofix.docs

# benchmarks/farm.py is left out: it runs a batch over two hundred repositories that it builds.
BENCH ?= performance check cases deceits
BENCH_ARGS ?=

.PHONY: site
site: $(TOOLS) ## build the documentation into build/site, strictly
	$(BIN)/python -m sphinx -E -W --keep-going -q -d build/doctrees docs build/site
	@echo 'build/site/index.html'

.PHONY: bench
bench: $(PACKAGE) ## measure everything, write docs/performance.md; BENCH=performance BENCH_ARGS='--only words' narrows it
	@status=0; for name in $(BENCH); do \
	echo "benchmarks/$$name.py $(BENCH_ARGS)"; $(BIN)/python "benchmarks/$$name.py" $(BENCH_ARGS) || status=1; done; exit $$status

.PHONY: clean
clean: ## remove the caches and .venv, never an environment named by VENV
	rm -rf .venv build *.egg-info .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

# The environment. Each file below is a stamp: newer than pyproject.toml means nothing to install.

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "autofix needs Python 3.11 or newer; name one: make PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(PACKAGE): pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip
	@rm -f $(VENV)/.autofix-*
	@$(BIN)/python -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("torch"))' \
	|| $(BIN)/python -m pip install $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) $(TORCH)
	$(BIN)/python -m pip install --editable . numpy
	@touch $@

$(TOOLS): $(PACKAGE)
	$(BIN)/python -m pip install 'pip>=25.1'
	$(BIN)/python -m pip install --editable '.[lsp,mcp,ray]' --group dev
	@touch $@
