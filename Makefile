# Two commands matter: `make run` tests the device in front of you, `make test` the suite itself.
# Nothing needs root. The environment is .venv/, made again when pyproject.toml changes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The brief profile, since a software driver compiles for half an hour in the ordinary one.
ARGS ?= --profile smoke
WORKERS ?= 2

.PHONY: run test lint bench clean

run: $(VENV)/.installed
	@$(BIN)/coopcts run $(ARGS)

test: lint
	$(BIN)/pytest tests -n $(WORKERS)
	$(BIN)/pytest cases -n $(WORKERS) --cts-device=reference --cts-profile=smoke
	$(BIN)/pytest cases -n $(WORKERS) --cts-device=lavapipe --cts-profile=smoke \
		--cts-known=tests/known/lavapipe.txt

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict cts reference reports

bench: $(VENV)/.installed
	@$(BIN)/coopcts bench
	@$(BIN)/python -m benchmarks.oracle

clean:
	rm -rf $(VENV) build *.egg-info

$(VENV)/.installed: pyproject.toml tools/environment
	@tools/environment $(PYTHON) $(VENV) .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml tools/environment
	@tools/environment $(PYTHON) $(VENV) '.[dev]'
	@touch $(VENV)/.installed $@
