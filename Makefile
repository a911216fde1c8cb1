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
.PHONY: help demo test check lint types imports warm library wheel fuzz bench docs clean

help:  ## Say what there is.
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(VENV)/.product  ## Publish the embedded hospital table and verify it.
	rm -rf sfumato-demo
	$(BIN)/sfumato demo

test: check warm wheel  ## Everything that must hold.
	$(BIN)/python -m pytest -n auto --dist worksteal

check: lint types imports  ## Style, types and layers.

lint: $(VENV)/.tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.tests
	$(BIN)/mypy

imports: $(VENV)/.tests
	$(BIN)/lint-imports

warm: $(VENV)/.tests  ## Compile the kernels once, before tests run side by side.
	$(BIN)/python tests/warm.py

library: $(VENV)/.tests  ## Compile all kernels ahead of time; runs then need no compiler.
	$(BIN)/python -m tools.library.build

wheel: $(VENV)/.tests  ## Try the wheel with the lowest and the newest versions allowed.
	$(BIN)/python tools/try_wheel.py

MINUTES := 30

fuzz: $(VENV)/.tests  ## Random cases for MINUTES=30, then all combinations; SEED=, CASE= repeat.
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) \
		$(if $(SEED),--seed $(SEED)) $(if $(CASE),--case $(CASE))
	$(if $(CASE),,$(BIN)/python -m tests.fuzz.combinations --minutes $(MINUTES) \
		$(if $(SEED),--seed $(SEED)))

bench: $(VENV)/.benchmarks  ## Measure time, memory and utility beside the peers.
	$(BIN)/python -m benchmarks $(ARGS)

docs: $(VENV)/.product  ## Write the pages of the catalogue from the code.
	$(BIN)/python tools/catalogue.py docs/catalogue

clean:  ## Remove whatever the other targets made.
	rm -rf $(VENV) build sfumato-demo .pytest_cache .mypy_cache .ruff_cache
	rm -rf .hypothesis .import_linter_cache src/*.egg-info
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	tools/environment $(VENV)

$(VENV)/.product: $(SETTINGS) | $(BIN)/python
	$(PIP) -c constraints.txt -e .
	touch $@

$(VENV)/.tests: $(SETTINGS) | $(BIN)/python
	$(PIP) -c constraints.txt -e '.[test,check,bench]'
	touch $(VENV)/.product $(VENV)/.benchmarks $@

$(VENV)/.benchmarks: $(SETTINGS) | $(BIN)/python
	$(PIP) -c constraints.txt -e '.[bench]'
	touch $(VENV)/.product $@
