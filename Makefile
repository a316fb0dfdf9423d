# make run    everything on this machine, until Ctrl-C
# make test   everything that decides whether a change may land
# Both make .venv first, from the pinned locks, where it is missing or a lock has changed.

SHELL := /bin/sh
PYTHON ?=
WORDS ?=
VENV_PYTHON := .venv/bin/python
PIP := $(VENV_PYTHON) -m pip install -qq --disable-pip-version-check --no-input --no-deps --require-hashes
LOCKS := requirements.txt requirements-dev.txt

.PHONY: help setup run test bench clean

help:
	@echo "make run     run Consilium on this machine, with a demo study (PORT=8001 make run: at another port)"
	@echo "make test    everything that decides whether a change may land"
	@echo "make bench   measure, and print ratios"
	@echo "make setup   make .venv (the others do it where it is needed)"
	@echo "make clean   remove .venv and what tools left; the data in var stays"

setup: .venv/installed .venv/installed-local-grader
	@:

# requirements-dev.txt holds all of requirements.txt too. The locks are whole, so that pip resolves nothing.
.venv/installed: $(LOCKS)
	@python=""; \
	for each in $(PYTHON) python3.11 python3.12 python3.13 python3.14 python3 python; do \
		if "$$each" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python="$$each"; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
		echo "Consilium needs Python 3.11 or newer, and none was found (PYTHON=/path/to/python make setup names one)." >&2; \
		exit 1; \
	fi; \
	if ! $(VENV_PYTHON) -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		echo "Making .venv with $$("$$python" --version) ..."; \
		"$$python" -m venv --clear .venv || { \
			rm -rf .venv; \
			echo "This Python can't make virtual environments; on Debian and Ubuntu: apt-get install python3-venv" >&2; \
			exit 1; \
		}; \
	fi; \
	echo "Installing what the locks name (about a minute the first time) ..."; \
	$(PIP) -r requirements-dev.txt || { echo "What the locks name can't be installed; see above." >&2; exit 1; }; \
	touch .venv/installed

# Its own stamp, written on success only: a start without it works, and the next one tries again.
.venv/installed-local-grader: .venv/installed requirements-local-grader.txt
	@if $(PIP) -r requirements-local-grader.txt; then touch $@; else \
		echo "The local grader could not be installed now (see above); all else works without it." >&2; \
	fi

run: setup
	@exec $(VENV_PYTHON) -m consilium.running --ends-with-parent

test: setup
	@exec $(VENV_PYTHON) -m tests $(WORDS)

bench: setup
	@exec $(VENV_PYTHON) -m tests.benchmarks $(WORDS)

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
