# make demo   set everything up and run the main job on bundled example data
# make test   set everything up and run the tests
# More: make help

SHELL := /bin/sh
# Hundreds of processes start while the tests run: each would compile karat anew where bytecode may not be kept.
export PYTHONDONTWRITEBYTECODE =
ENV := .venv/bin/python
FIND_PYTHON = for p in $(PYTHON) python3 python3.13 python3.12 python3.11 python; do \
	if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$p; break; fi; done
PIP := $(ENV) -m pip --disable-pip-version-check -q install --constraint constraints.txt

.PHONY: help setup setup-dev browser demo test tests checks test-slow lint style types docs benchmarks benchmarks-long datasets replication screenshots constraints wheels build licences sbom audit coverage mutation clean

help:
	@echo "make demo         set up, run the main job on example data, say where the result is"
	@echo "make test         set up, run the tests and check style, types and documentation"
	@echo "make tests        the tests alone; make checks the rest alone"
	@echo "make test-slow    the tests that take longer"
	@echo "make lint         style and types only"
	@echo "make style        ruff only"
	@echo "make types        mypy only"
	@echo "make docs         build the documentation into site/"
	@echo "make benchmarks   measure the ratios in docs/performance.md and other pages, and write them there (BENCHMARKS=benchmarks/read.py for one)"
	@echo "make benchmarks-long  measure the figures that take hours, and write them"
	@echo "make datasets     make the example data again"
	@echo "make replication  make the pages on published studies again (needs ../shared/reference)"
	@echo "make screenshots  take the pictures of the documentation again, in the browser tests"
	@echo "make constraints  resolve the pinned versions again"
	@echo "make wheels       which pinned versions have no wheel for Windows and macOS, where the registries can be reached"
	@echo "make build        wheel and sdist into dist/, built twice and compared, with their checksums"
	@echo "make licences     every dependency at run time with its licence; fails on one that must not be there"
	@echo "make sbom         the software bill of materials into dist/"
	@echo "make audit        known vulnerabilities of the dependencies, where the registries can be reached"
	@echo "make coverage     the lines of models, screen and study that tests run; fails under 95 %"
	@echo "make mutation     change MODULES one thing at a time and print the changes that no test notices"
	@echo "make clean        remove what make made"

.venv/made:
	@python="$$($(FIND_PYTHON))"; \
	if [ -z "$$python" ]; then echo "karat needs Python 3.11 or newer; none was found. Say make PYTHON=/path/to/python3.11"; exit 1; fi; \
	echo "setting up .venv with $$($$python --version)"; \
	$$python -m venv --clear .venv || { echo "Python's venv module is missing: on Debian and Ubuntu, apt-get install python3-venv"; exit 1; }
	@$(ENV) -m pip --disable-pip-version-check -q install "pip>=25.1"
	@touch $@

.venv/base: .venv/made pyproject.toml constraints.txt
	@$(PIP) --editable .
	@touch $@

.venv/dev: .venv/base
	@echo "installing what the tests need"
	@$(PIP) --group dev
	@touch $@

ASSETS := src/karat/field/web/vendor/made
$(ASSETS): src/karat/field/web/package-lock.json tools/get_assets.py | .venv/base
	@$(ENV) tools/get_assets.py

setup: .venv/base $(ASSETS)

setup-dev: .venv/dev $(ASSETS)

browser: setup-dev
	@$(ENV) tools/install_chromium.py

demo: setup
	@$(ENV) -m karat demo

# Several tests run at a time, as many as the machine has room for. Each then has one thread.
ALONE := POLARS_MAX_THREADS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
WORKERS = $$($(ENV) -m tools.workers)

# Style, types and documentation are checked beside them.
test: setup-dev browser
	@$(MAKE) --no-print-directory -j 2 tests checks

tests: setup-dev browser
	$(ALONE) $(ENV) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -rs --durations=30 -m "not slow"

checks: style types docs

test-slow: setup-dev browser
	@$(PIP) --editable ".[bayes]"
	$(ENV) -m pytest -n auto --dist worksteal -rs -m slow

lint: style types

style: setup-dev
	$(ENV) -m ruff check .
	$(ENV) -m ruff format --check .

types: setup-dev
	$(ENV) -m mypy

docs: setup-dev
	NO_MKDOCS_2_WARNING=1 $(ENV) -m mkdocs build --strict --quiet

# All are run, even if one misses its targets; the last line names those that did.
define measure
	@missed=; for call in $(1); do echo "== $$call"; $(ENV) $$call --write || missed="$$missed, $$call"; done; \
	if [ -n "$$missed" ]; then echo "missed a target:$${missed#,}"; exit 1; fi
endef

BENCHMARKS ?= $(filter-out benchmarks/credence.py,$(wildcard benchmarks/*.py)) "benchmarks/credence.py --time"
benchmarks: setup-dev browser
	$(call measure,$(BENCHMARKS))

# Figures that take hours: large sizes, hundreds of scenarios, thousands of studies.
benchmarks-long: setup-dev browser
	$(call measure,"benchmarks/scale_out.py 1e6 1e7 1e8" benchmarks/credence.py "benchmarks/credence.py --families 500" \
	"benchmarks/coverage.py --processes 2 --anew")

datasets: setup-dev
	$(ENV) tools/make_datasets.py

replication: setup-dev
	$(ENV) -m tools.make_replication

screenshots: setup-dev browser
	KARAT_SCREENSHOTS=docs/assets $(ENV) -m pytest -n 1 tests/field/web/test_visit.py tests/field/web/test_look.py tests/demo/test_dashboard.py \
		tests/studio/test_browser.py tests/studio/test_studio_browser.py tests/report/test_report_browser.py

constraints: setup-dev
	$(ENV) tools/pin_versions.py

wheels: setup-dev
	@$(ENV) -m tools.pin_versions wheels

build: setup-dev
	@$(ENV) -m tools.build

licences: setup-dev
	@$(PIP) --editable ".[bayes,cluster,postgres]"
	@$(ENV) -m tools.licences

sbom: setup-dev
	@$(PIP) --editable ".[bayes,cluster,postgres]"
	@$(ENV) -m tools.sbom

audit: setup-dev
	@$(ENV) -m pip --disable-pip-version-check -q install pip-audit || echo "pip-audit cannot be installed here"
	@$(ENV) -m tools.audit

coverage: setup-dev
	@$(PIP) --group coverage
	$(ENV) -m tools.tested_lines

MODULES ?= screen/remfod study/chance
mutation: setup-dev
	@$(PIP) --group mutation
	$(ENV) -m tools.mutation $(MODULES)

clean:
	rm -rf src/karat/field/web/vendor src/karat/field/web/node_modules
	rm -rf .venv dist site karat-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
