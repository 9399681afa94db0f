# What the targets do: make help
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OUT := build/demo
PYTEST_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench docs models clean

help: ## print this text
	@echo "g10c: plan and predict deep-learning training before it runs"
	@echo
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16
	@echo
	@echo "variables: PYTHON=$(PYTHON) VENV=$(VENV) PYTEST_ARGS=..."

$(VENV)/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "g10c needs Python 3.11 or newer; set PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/developing: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

demo: $(VENV)/installed ## set up, then plan and simulate a bundled model
	@mkdir -p $(OUT)
	$(BIN)/g10c compile bert-base --pass vitality,migrate --emit $(OUT)/plan.json
	$(BIN)/g10c sim $(OUT)/plan.json

test: $(VENV)/developing ## set up, then run the tests (PYTEST_ARGS=--slow: also the long sweeps)
	$(BIN)/python -P -m pytest $(PYTEST_ARGS)

# The type checker wants folders named as they are imported: links make g10c.ir of ir/.
lint: $(VENV)/developing ## check style, types and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@mkdir -p build/types/g10c && for part in ir compiler passes backends models; do ln -sfn ../../../$$part build/types/g10c/$$part; done
	cd build/types && MYPYPATH=. ../../$(BIN)/mypy --config-file ../../pyproject.toml --cache-dir ../mypy -p g10c

bench: $(VENV)/developing ## measure speed and memory
	$(BIN)/python -P tests/bench/bench.py

docs: $(VENV)/installed ## write the generated sections of docs/ again
	$(BIN)/python -P -c 'from g10c.compiler.reference import renew_documents; renew_documents("docs")'

models: $(VENV)/installed ## write the bundled models again from their builders
	$(BIN)/python -P -c 'from g10c.models.library import MODELS; print(*(m.command for m in MODELS.values()), sep="\n")' | PATH="$(BIN):$$PATH" sh -ex

clean: ## remove what the targets made
	rm -rf $(VENV) build *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
