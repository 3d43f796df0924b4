# txop: everything a developer does, by name. `make` lists it.
SHELL := /bin/sh
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
RUST := scripts/with-rust.sh
CARGO := $(RUST) cargo
# In continuous integration properties are tried with the same examples every time: what fails there is the change. Elsewhere
# each run draws others.
FIXED_SEED := $(if $(CI),PROPTEST_RNG_SEED=20261122)
PIP_QUIET := --quiet --disable-pip-version-check --no-input

# A stamp says "this step was done after its inputs last changed"; stamps live and die with the environment. Those of builds
# have the time of their beginning: a source that changes during a build is built the next time.
SYSTEM := $(VENV)/.stamp-system
PACKAGES := $(VENV)/.stamp-packages
NATIVE := $(VENV)/.stamp-native
RUN_TOOLS := $(VENV)/.stamp-run-tools
TEST_TOOLS := $(VENV)/.stamp-test-tools
GUEST_TOOLS := $(VENV)/.stamp-guest-tools
LAB_TOOLS := $(VENV)/.stamp-lab-tools
CHIPS := $(VENV)/.stamp-chips
DOCS_TOOLS := $(VENV)/.stamp-docs-tools
DIST_TOOLS := $(VENV)/.stamp-dist-tools
RUST_SOURCES := Cargo.toml $(wildcard Cargo.lock) $(shell find crates -type f \( -name '*.rs' -o -name Cargo.toml \))

.PHONY: help setup guest-tools guest-image guest-locks demo man wheel dist release-check docs pictures test test-all test-rust test-python test-slow test-minimum-rust test-fresh test-bench lint format bench validate dataset truth fuzz requirements clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

setup: $(NATIVE) $(CHIPS) ## build everything into .venv/, so that .venv/bin/txop is the program
	@echo "$(BIN)/txop is ready"

$(SYSTEM): scripts/setup-system.sh scripts/apt.sh scripts/find-rust.sh scripts/find-python.sh
	@scripts/setup-system.sh
	@mkdir -p $(VENV) && touch $@

$(PACKAGES): requirements/development.txt | $(SYSTEM)
	@echo "Making $(VENV)/ with the pinned Python packages"
	@test -x $(BIN)/pip || "$$(scripts/find-python.sh)" -m venv $(VENV)
	@$(BIN)/pip install $(PIP_QUIET) --require-hashes -r requirements/development.txt
	@touch $@

# The package is installed editable: changes to Python files count at once, changes to Rust files at the next `make`.
$(NATIVE): $(RUST_SOURCES) pyproject.toml $(PACKAGES)
	@echo "Building txop (release) and installing it into $(VENV)/: 2 to 4 minutes, the first time"
	@touch $@.begun
	@VIRTUAL_ENV="$(CURDIR)/$(VENV)" PIP_NO_DEPS=1 PIP_QUIET=1 $(RUST) $(BIN)/maturin develop --release --locked --quiet \
		>$@.log 2>&1 || { cat $@.log >&2; exit 1; }
	@mv $@.begun $@

# The virtual chips run inside guests, so they are a program of their own.
$(CHIPS): scripts/build-chips.sh $(RUST_SOURCES) | $(SYSTEM)
	@touch $@.begun
	@$(RUST) scripts/build-chips.sh
	@mv $@.begun $@

$(GUEST_TOOLS): scripts/setup-guest-tools.sh scripts/apt.sh | $(SYSTEM)
	@scripts/setup-guest-tools.sh
	@touch $@

$(RUN_TOOLS): scripts/setup-run-tools.sh scripts/apt.sh | $(SYSTEM)
	@scripts/setup-run-tools.sh
	@touch $@

$(TEST_TOOLS): scripts/setup-test-tools.sh scripts/apt.sh | $(SYSTEM)
	@scripts/setup-test-tools.sh
	@touch $@

$(LAB_TOOLS): scripts/setup-lab-tools.sh scripts/apt.sh $(GUEST_TOOLS)
	@scripts/setup-lab-tools.sh
	@touch $@

$(DOCS_TOOLS): requirements/documentation.txt $(PACKAGES)
	@$(BIN)/pip install $(PIP_QUIET) --require-hashes -r requirements/documentation.txt
	@touch $@

$(DIST_TOOLS): requirements/distribution.txt $(PACKAGES)
	@$(BIN)/pip install $(PIP_QUIET) --require-hashes -r requirements/distribution.txt
	@touch $@

guest-tools: $(GUEST_TOOLS) ## install QEMU and what drivers are built with, for txop guest

# Tests that start a guest report by themselves where there is no image.
guest-image: setup $(GUEST_TOOLS) ## make the guests' image and QEMU: some 220 MB of Debian packages, the first time
	@$(BIN)/txop guest build || echo "Going on without an image: no guest can be started." >&2

demo: $(NATIVE) $(RUN_TOOLS) ## compare driver variants on an emulated link, and show the page
	@$(BIN)/txop demo

man: setup ## write man pages and shell completions, for a package: build/man, build/completion
	@$(BIN)/txop man build/man
	@mkdir -p build/completion
	@for shell in bash zsh fish; do $(BIN)/txop completion $$shell > build/completion/txop.$$shell; done

wheel: $(DIST_TOOLS) ## build the last commit as a wheel that needs no Rust: dist/txop-*.whl
	@$(BIN)/python scripts/distribution.py --wheel-only

dist: $(DIST_TOOLS) ## build what is published: the sources, the wheel and their sums, the same bytes everywhere
	@rm -rf dist
	@$(BIN)/python scripts/distribution.py

release-check: ## whether the commit is ready to be released: make release-check TAG=v1.2.3
	@scripts/check-release.sh "$(TAG)"

# The archive keeps a package for months; what has gone from it still comes from the dated archive, more slowly.
guest-locks: setup $(GUEST_TOOLS) ## pin what Debian's archive has now, in the shipped locks of guests' images and of QEMU
	@$(BIN)/txop guest build --update-emulator --emulator-lock python/txop/guest_image/locks/qemu-debian-13.lock
	@for lock in python/txop/guest_image/locks/debian-*.lock; do \
		series=$${lock##*-}; $(BIN)/txop guest build --kernel "$${series%.lock}" --update --lock "$$lock" || exit; done

docs: $(DOCS_TOOLS) ## build the documentation as a site: build/site/index.html; links that lead nowhere are errors
	@$(BIN)/python scripts/documentation_site.py
	@echo "build/site/index.html"

pictures: setup ## draw the pictures of the documentation: docs/pictures
	@$(BIN)/python scripts/pictures.py

test: setup guest-image $(RUN_TOOLS) $(TEST_TOOLS) ## set up and run the fast tests
	$(FIXED_SEED) scripts/fast-tests.sh

test-all: test lint test-minimum-rust test-slow fuzz ## the same, lint, the slow tests and a few minutes of fuzzing

test-rust: $(SYSTEM) $(RUN_TOOLS) $(TEST_TOOLS)
	$(FIXED_SEED) $(CARGO) test --workspace --locked

# As scripts/fast-tests.sh has it.
test-python: guest-image $(RUN_TOOLS) $(TEST_TOOLS)
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest -m "not slow" -n $$(($$(nproc) * 2)) --dist loadfile --no-loadscope-reorder

test-slow: guest-image $(DIST_TOOLS) $(RUN_TOOLS) $(TEST_TOOLS)
	TXOP_EVERY_CAPTURE=1 $(CARGO) test --workspace --locked --profile slow-tests -- --include-ignored
	$(BIN)/pytest -m slow

test-minimum-rust: $(SYSTEM) ## compile everything with the minimum Rust (Cargo.toml: rust-version)
	scripts/check-minimum-rust.sh

# Sets nothing up here: it makes systems of its own.
test-fresh: ## try the commands of the README on bare Debian 12 and 13 (hours; needs root and mmdebstrap)
	scripts/fresh_systems.py $(FRESH)

test-bench: setup $(LAB_TOOLS) ## campaigns over SSH on whole Debian machines in QEMU, and what goes wrong with machines (40 minutes)
	$(BIN)/pytest tests/whole_machines -n 2 --dist loadfile --no-loadscope-reorder --durations=0

lint: $(PACKAGES) $(DOCS_TOOLS) ## rustfmt, clippy, rustdoc, ruff, mypy, import-linter, vocabulary and the links of the documents; changes no source
	scripts/lint-rust.sh
	$(BIN)/python scripts/rust_circles.py
	$(BIN)/python scripts/crate_lints.py
	$(BIN)/python scripts/decided_by_text.py
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini
	$(BIN)/lint-imports --no-logo
	$(BIN)/python scripts/vocabulary.py
	$(BIN)/python scripts/documentation_site.py

format: $(PACKAGES) ## put Rust and Python files into their standard form
	scripts/lint-rust.sh --format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: guest-image $(TEST_TOOLS) $(RUN_TOOLS) ## speed and memory, side by side with peers
	$(RUST) bench/run
	$(RUST) bench/bus
	$(RUST) bench/link
	$(RUST) bench/emulate
	bench/guest
	$(RUST) bench/vusb

validate: setup ## the link engine against ns-3, closed forms and measurements: writes docs/validation.md
	$(BIN)/python bench/validate.py

dataset: setup ## captures of faults with their labels, to be published: target/dataset
	$(RUST) $(BIN)/python bench/evidence.py --dataset target/dataset

truth: guest-image ## the virtual RTL8188CUS beside public figures of a real one: writes docs/truth-rtl8188cus.md
	$(BIN)/python bench/truth.py

fuzz: $(SYSTEM) ## fuzz every parser for a few minutes in all (FUZZ_SECONDS each)
	$(RUST) fuzz/run

requirements: ## resolve requirements/*.in into new pinned, hashed requirements/*.txt
	scripts/lock-requirements.sh

clean: ## remove what was built (not the captures)
	rm -rf $(VENV) target build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -rf python/txop/_native*.so python/txop/guest/bin
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} +
