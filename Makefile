# `make demo` and `make test` set up everything they need; `make help` lists the rest.
# Another interpreter or place: make demo PYTHON=python3.12 VENV=/tmp/venv

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Three on two cores: tests of clusters, timeouts and browsers wait more than they compute.
WORKERS ?= 3
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --no-loadscope-reorder
# Without it every worker translates every test again, which takes longer than to import what they test.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

.DEFAULT_GOAL := help
.PHONY: help demo exports test tests quick times kernels lint types docs study bench bench-scale validity unusual fuzz reliability lock sbom install-locked clean

help:
	@echo "make demo    set up, run auditkit on the sample data, and say where to look"
	@echo "make test    set up with everything the tests need, then lint, types and all tests"
	@echo "make quick   the quick tests: under 90 s      make times   measure again which tests are slow"
	@echo "make lint    ruff: rules and formatting      make types   mypy"
	@echo "make docs    the documentation as pages to read in build/docs, and the parts of it that the program writes"
	@echo "make study   the paper's numerical study (35 minutes of processor time, most of it for the budget table), and docs/study.md from it"
	@echo "make bench   one table of the benchmarks, as ratios within one run, into docs/scale.md (LARGE=1: up to a million rows)"
	@echo "make bench-scale   up to a million candidates: processor time, memory and growth"
	@echo "make validity   simulations with known truth, and docs/validity.md from them (FULL=1: all of them)"
	@echo "make exports  read every export with a known truth, and the table in docs/data.md"
	@echo "make unusual  360 unusual problems against an independent linear program, and the table in docs/method.md"
	@echo "make fuzz    attack it for some minutes: fresh random examples, mutated files, kills, many audits at once"
	@echo "make reliability   the same, and docs/reliability.md from it; finished attacks are kept in build/reliability"
	@echo "make sbom    the SBOM (CycloneDX) and the licences of all dependencies"
	@echo "make install-locked   install exactly what the lock holds, every file checked by its hash"
	@echo "make lock    resolve requirements.lock again within the ranges of pyproject.toml"
	@echo "make clean   remove caches and build results (not $(VENV))"

demo: $(VENV)/.installed
	@mkdir -p demo
	@echo "Auditing sample_data/hiring.csv. The first run compiles the solver's kernels: some seconds, once."
	@echo
	@$(BIN)/auditkit report sample_data/hiring.csv -o demo --format html,pdf,json
	@echo
	@echo "Open demo/hiring.audit.html in a browser. The same numbers for programs: demo/hiring.audit.json"

# mypy and the kernels have a core each; a test that types other packages then finds the cache of mypy.
test: $(VENV)/.installed-test
	@bash .ci/system-packages $(BIN)/python
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory -j 2 types kernels
	@$(MAKE) --no-print-directory tests

# The kernels first: then no worker compiles what another is compiling.
tests: kernels
	$(PYTEST) $(PYTEST_ARGS)

quick: kernels
	$(PYTEST) -m 'not slow' $(PYTEST_ARGS)

times: kernels
	$(PYTEST) --record-times

kernels: build/.kernels

# numba keeps what is compiled beside the source until that changes.
build/.kernels: $(shell grep -rl '^@njit' auditkit --include='*.py') tests/support/compile_kernels.py $(VENV)/.installed-test
	$(BIN)/python -P tests/support/compile_kernels.py
	@mkdir -p build && touch $@

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# mypy cannot follow the mapping of plugins/ and sample_data/ in pyproject.toml: it needs folders of those names.
types: $(VENV)/.installed-test
	@mkdir -p build/types/auditkit && touch build/types/auditkit/__init__.py
	@ln -sfn ../../../plugins ../../../sample_data build/types/auditkit/
	$(BIN)/mypy

docs: $(VENV)/.installed-test
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/draw_concepts.py
	$(BIN)/python docs/run_notebooks.py
	$(BIN)/sphinx-build -n -W --keep-going -q -b html docs build/docs
	$(BIN)/sphinx-build -q -b man docs build/man
	@echo "Open build/docs/README.html in a browser, or: man build/man/auditkit.1"

# The budget table needs 10,000 instances: with few of them its verdicts say "within error" of almost anything.
# Finished instances are kept in build/study; for more of them: .venv/bin/auditkit study all --instances 200 -o build/study
study: $(VENV)/.installed-test
	$(BIN)/auditkit study all -o build/study
	$(BIN)/auditkit study budget-table --instances 500 -o build/study
	$(BIN)/python docs/generate.py --study build/study

bench: $(VENV)/.installed-test
	$(BIN)/python benchmarks/bench_table.py --write $(if $(LARGE),--large)

bench-scale: $(VENV)/.installed-test
	$(BIN)/python benchmarks/bench_scale.py

validity: $(VENV)/.installed-test
	$(BIN)/python benchmarks/validity $(if $(FULL),--full)

lock:
	rm -rf build/lock
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install -q --upgrade pip setuptools
	build/lock/bin/python -m pip install -q --no-build-isolation -e '.[test,scale]'
	build/lock/bin/python -m pip freeze --all --exclude-editable --exclude pip > requirements.lock
	build/lock/bin/python tools/supply_chain.py hashes sbom licences
	rm -rf build/lock
	@echo "Now: make test, read the difference, and commit requirements.lock."

exports: $(VENV)/.installed-test
	$(BIN)/python tools/read_exports.py --write

unusual: $(VENV)/.installed-test
	$(BIN)/python tools/unusual.py --write

fuzz: $(VENV)/.installed-test
	$(PYTEST) -m 'hypothesis or sampled' --hypothesis-profile fresh $(PYTEST_ARGS)
	$(BIN)/python tools/campaign.py --seconds 20

reliability: $(VENV)/.installed-test
	$(BIN)/python tools/campaign.py --seconds 20 --parts build/reliability --write docs/reliability.md

sbom: $(VENV)/.installed-test
	$(BIN)/python tools/supply_chain.py sbom licences

install-locked: | $(BIN)/python
	$(PIP) install --require-hashes --no-deps -r requirements.lock
	$(PIP) install --no-deps --no-build-isolation -e .

clean:
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage* htmlcov
	find . \( -path ./.git -o -path ./.venv -o -path './$(VENV)' \) -prune -o -name __pycache__ -type d -exec rm -rf {} +

# pip takes no hashes together with a folder to install: the versions alone constrain it (see install-locked).
$(VENV)/constraints.txt: requirements.lock | $(BIN)/python
	@sed -n 's/^\([A-Za-z0-9._-]*==[^ ]*\).*/\1/p' requirements.lock > $@

# The stamps make a second run quick; a change of pyproject.toml or of the lock installs again.
$(VENV)/.installed: pyproject.toml $(VENV)/constraints.txt | $(BIN)/python
	@echo "Installing auditkit and what it needs into $(VENV) (a minute or two, once)"
	@$(PIP) install -c $(VENV)/constraints.txt setuptools
	@$(PIP) install -c $(VENV)/constraints.txt --no-build-isolation -e .
	@touch $@

$(VENV)/.installed-test: pyproject.toml $(VENV)/constraints.txt | $(BIN)/python
	@echo "Installing auditkit, what it needs and the test tools into $(VENV) (a minute or two, once)"
	@$(PIP) install -c $(VENV)/constraints.txt setuptools
	@$(PIP) install -c $(VENV)/constraints.txt --no-build-isolation -e '.[test,scale]'
	@touch $(VENV)/.installed $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "auditkit needs Python 3.11 or newer, and '$(PYTHON)' is not. Name one that is: make demo PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || { \
	  echo "'$(PYTHON)' cannot make environments. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
