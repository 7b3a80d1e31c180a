# `make` alone prints this help.
.DEFAULT_GOAL := help
.PHONY: help setup train check test test-slow test-apps test-vllm test-verified test-interop test-trackers test-oldest fuzz crash lint fmt docs docs-pictures docs-site clean

BIN := .venv/bin

help:  ## show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:  ## create .venv, install the package, find or install a Chromium
	@PYTHON="$(PYTHON)" bash scripts/setup.sh

train: setup  ## train the quickstart agent; run again to resume it, or to start the next run
	@$(BIN)/webdojo train quickstart --auto $(ARGS) || { code=$$?; [ $$code -ne 130 ] || echo "or: make train" >&2; exit $$code; }

check: lint  ## lint, types and the tests without a browser or training: for every edit
	@OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile -m "not integration and not slow" $(ARGS)

test: lint  ## lint, types and all tests but the slow ones, in three processes, as tests wait: what CI runs
	@OMP_NUM_THREADS=1 $(BIN)/pytest -n 3 --dist loadfile -m "not slow" --durations=30 $(ARGS)

test-slow: setup  ## the tests that take long: recipes, kills, README and guides, JupyterLab (240 MB), applications
	@OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile -m slow $(ARGS)

test-apps: setup  ## all tests of real applications, which it installs from the package registry
	@OMP_NUM_THREADS=1 $(BIN)/pytest tests/envs/apps tests/cli/test_apps.py tests/benchmarks/test_apps.py $(ARGS)

fuzz: setup  ## 25,000 odd responses for every parser of a harness
	@$(BIN)/pytest tests/agent/test_parsing.py -k any_text_gives --hypothesis-profile=fuzz $(ARGS)

crash: setup  ## hundreds of kills in training runs; some ten minutes
	@CRASH_POINTS=400 OMP_NUM_THREADS=1 $(BIN)/pytest tests/loops/test_crash.py $(ARGS)
	@CRASH_POINTS=20 OMP_NUM_THREADS=1 $(BIN)/pytest tests/loops/test_kills.py $(ARGS)

test-vllm: setup  ## tests against a real vLLM on the CPU, in an environment of its own (3.5 GB)
	@bash scripts/setup_vllm.sh
	@OMP_NUM_THREADS=1 $(BIN)/pytest tests/vllm $(ARGS)

test-verified: setup  ## tests with the library webarena-verified, in an environment of its own
	@bash scripts/setup_verified.sh
	@OMP_NUM_THREADS=1 .venv-verified/bin/python -m pytest tests/verified $(ARGS)

test-interop: setup  ## tests of the adapters against the packages of others, each in an environment of its own
	@for name in openenv verifiers nemo_gym browsergym; do \
		bash scripts/setup_interop.sh $$name || exit 1; \
		[ ! -x .venv-$$name/bin/python ] || \
		OMP_NUM_THREADS=1 .venv-$$name/bin/python -m pytest tests/interop/$$name $(ARGS) || exit 1; done
	@OMP_NUM_THREADS=1 $(BIN)/pytest tests/interop/test_host.py tests/interop/trl tests/interop/browsergym/test_tasks.py $(ARGS)

test-trackers: setup  ## tests with W&B, MLflow and trackio without a network, in an environment of its own
	@bash scripts/setup_interop.sh trackers
	@OMP_NUM_THREADS=1 .venv-trackers/bin/python -m pytest tests/trackers $(ARGS)

test-oldest: setup  ## tests of models, engine and learner with the oldest transformers that we support
	@bash scripts/setup_interop.sh oldest
	@OMP_NUM_THREADS=1 .venv-oldest/bin/python -m pytest -n 2 --dist loadfile -m "not slow" \
		tests/policy tests/trainer tests/dry_run tests/gpu $(ARGS)

lint: setup  ## ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/mypy

fmt: setup  ## format the code and fix what ruff can fix
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

docs: setup  ## write docs/recipes.md and docs/papers.md again from the code
	@new=$$(mktemp); $(BIN)/python scripts/recipe_reference.py > $$new && cp $$new docs/recipes.md
	@new=$$(mktemp); $(BIN)/python scripts/paper_index.py > $$new && cp $$new docs/papers.md

docs-pictures: setup  ## draw the pictures of the documentation and take its screenshots again, in a browser
	@$(BIN)/python -m scripts.pictures --record
	@$(BIN)/python -m scripts.screenshots
	@$(BIN)/python scripts/gallery.py

docs-site: setup  ## build the documentation as a site, into site/
	@bash scripts/setup_interop.sh docs
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build

clean:  ## remove environments and caches; runs/ stays
	rm -rf .venv .venv-vllm .venv-verified .venv-openenv .venv-verifiers .venv-nemo_gym .venv-browsergym .venv-oldest .venv-trackers .venv-docs site .mypy_cache .ruff_cache .pytest_cache dist build
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
