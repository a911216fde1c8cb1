# Each target makes its own environment in .venv, with the versions of constraints.txt.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input install -q
SETTINGS := pyproject.toml constraints.txt

# Nothing of the machine's own Python gets in.
export PYTHONNOUSERSITE := 1
unexport PYTHONPATH
unexport PYTHONHOME
unexport PYTHONDONTWRITEBYTECODE
unexport VIRTUAL_ENV

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types imports compiler browser java library entries wheel trial fuzz bench bench-scale experiments catalogue chooser docs pictures clean

help:  ## Say what there is.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(VENV)/.demo compiler  ## Publish the embedded hospital table and verify it.
	$(BIN)/python -m tools.library.build --demo
	rm -rf sfumato-demo
	$(BIN)/sfumato demo
	@echo && echo "The command sfumato is in $(BIN): . $(BIN)/activate"

test: check library trial browser java  ## Everything that must hold.
	$(BIN)/python -m pytest -n auto --dist worksteal --ignore=tests/spark
	$(BIN)/python -m pytest tests/spark

check: lint types imports  ## Style, types and layers.

lint: $(VENV)/.tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.tests
	$(BIN)/mypy

imports: $(VENV)/.tests
	$(BIN)/lint-imports

compiler: | $(BIN)/python
	@command -v cc >/dev/null || $(PIP) -c constraints.txt ziglang

browser:  ## Install what tests of pages need: Chromium and axe-core.
	tools/browser

java:  ## Install what tests of Spark need: Java 17 or later.
	tools/java

library: $(VENV)/.tests compiler  ## Compile all kernels ahead of time; nothing where that is done.
	$(BIN)/python -m tools.library.build

entries: library  ## List again the entry points of the kernels that the catalogue reaches.
	$(BIN)/python -m tools.library.reach

FOR :=

wheel: $(VENV)/.tests compiler  ## Build the wheel; FOR=all or FOR="linux-arm64 …" for others (needs ziglang).
	$(BIN)/python -m tools.wheel $(foreach platform,$(FOR),--for $(platform))

trial: $(VENV)/.tests library  ## Try the wheel with the lowest and the newest versions, and the Dockerfile.
	$(BIN)/python -m tools.try_wheel
	$(BIN)/python -m tools.try_container

MINUTES := 30

PARTS := combinations csv_files damaged_files figure_bounds

fuzz: $(VENV)/.tests  ## Random cases for MINUTES=30, each of PARTS as long, killed runs; SEED=, CASE= repeat.
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) \
		$(if $(SEED),--seed $(SEED)) $(if $(CASE),--case $(CASE))
	$(if $(CASE),,set -e; for part in $(PARTS); do $(BIN)/python -m tests.fuzz.$$part \
		--minutes $(MINUTES) $(if $(SEED),--seed $(SEED)); done)
	$(if $(CASE),,$(BIN)/python -m tests.fuzz.killed_runs --kills 300 --pairs 50 \
		$(if $(SEED),--seed $(SEED)))

bench: $(VENV)/.benchmarks  ## Measure time, memory and utility beside the peers.
	$(BIN)/python -m benchmarks $(ARGS)

bench-scale: $(VENV)/.benchmarks  ## Release 10 million rows with each engine; ARGS="--rows N --engine spark".
	$(BIN)/python -m benchmarks.scale $(ARGS)

QUICK :=
JOBS := 2

experiments: $(VENV)/.tests library  ## Repeat the papers' tables and figures; NAME=, QUICK=1, JOBS=2.
	$(BIN)/python -m experiments $(or $(NAME),all) --jobs $(JOBS) $(if $(QUICK),--quick)

catalogue: $(VENV)/.product  ## Write the parts of the documentation that come from the code.
	$(BIN)/python -m tools.catalogue docs

chooser: $(VENV)/.tests library  ## Measure the choices of docs/choose.md again, and write them there.
	$(BIN)/python -m experiments.chooser
	$(BIN)/python -m tools.catalogue docs

docs: $(VENV)/.tests catalogue  ## Build the documentation site into build/site.
	$(BIN)/python -m sphinx -q -W --keep-going -d build/site-cache -c docs/site . build/site
	@echo "Open build/site/index.html"

pictures: $(VENV)/.tests browser  ## Run the tutorial, renew what it prints, and draw the pictures.
	rm -rf build/tutorial
	$(BIN)/python -m tools.run_page docs/tutorial.md build/tutorial
	$(BIN)/python -m tools.pictures build/tutorial docs/pictures

clean:  ## Remove whatever the other targets made.
	rm -rf $(VENV) build sfumato-demo .pytest_cache .mypy_cache .ruff_cache
	rm -rf .hypothesis .import_linter_cache src/*.egg-info
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	tools/environment $(VENV)

$(VENV)/.product: $(SETTINGS) | $(BIN)/python
	$(PIP) -c constraints.txt -e .
	touch $@

$(VENV)/.demo: $(SETTINGS) | $(BIN)/python
	$(PIP) -c constraints.txt -e '.[jit]'
	touch $(VENV)/.product $@

$(VENV)/.tests: $(SETTINGS) | $(BIN)/python
	$(PIP) -c constraints.txt -e '.[test,check,bench,site]'
	touch $(VENV)/.product $(VENV)/.demo $(VENV)/.benchmarks $@

$(VENV)/.benchmarks: $(SETTINGS) | $(BIN)/python
	$(PIP) -c constraints.txt -e '.[jit,bench]'
	touch $(VENV)/.product $@
