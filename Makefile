# Everything a checkout can do. Each target first sets up what it needs: a virtual environment in
# `.venv`, the extension built into it, tools in `.tools`. Needs Python 3.11+, Rust and make.

PYTHON ?= python3
PROMPT = Give me a tour of this project
ARGS =
PYTEST_ARGS =
PYTEST_PROCESSES = auto
BENCH_ARGS =
FUZZ_INPUTS = 1000000
MUTANTS_ARGS =

VERSION_cargo-deny = 0.20.2
VERSION_cargo-mutants = 27.1.0
VERSION_pysqlite3 = 0.6.1
VERSION_node = 22.23.3
VERSION_mcp-conformance = 0.2.0-alpha.12
VERSION_mcp-servers = 2026.8.31
REFERENCE_VERSION = 2.0.2

# Prompts may hold quotes and dollar signs: they reach the shell as a variable, never as text.
override PROMPT := $(value PROMPT)
export PROMPT

# Recorded streams of real providers, where they lie beside the checkout: more to test with.
ifneq ($(wildcard ../shared/data/streams/index.tsv),)
export RECORDED_STREAMS ?= $(CURDIR)/../shared/data/streams
endif

# In a folder of its own: other flags for the compiler would have everything else built again.
PROVE_RUST = CARGO_TARGET_DIR="$${CARGO_TARGET_DIR:-target/prove}" CARGO_PROFILE_DEV_OPT_LEVEL=1 \
	cargo test --quiet --locked --package amplifier-core --features tokio
PROVE_RUST_ARGS = --nocapture --test-threads=1

VENV_PYTHON = .venv/bin/python
INSTALL = $(VENV_PYTHON) -m pip install --quiet --disable-pip-version-check

# One set of flags for the wheel and the extension in `.venv`: the second only packs what the first has
# compiled. Zig links against glibc 2.17, whatever the machine has.
ifeq ($(shell uname -s),Linux)
MATURIN_FLAGS = --locked --zig --compatibility manylinux_2_17
else
MATURIN_FLAGS = --locked --compatibility pypi
endif
# What the tests install.
BUILT = AMPLIFIER_WHEEL="$$(ls dist/*.whl)" AMPLIFIER_SDIST="$$(ls dist/*.tar.gz)"
BUILD_PATH = PATH="$(CURDIR)/.venv/bin:$$PATH"
# The folders of the builder, which rustc would write into the extension.
BUILD_RUSTFLAGS = RUSTFLAGS="$$RUSTFLAGS --remap-path-prefix=$(CURDIR)=. \
	--remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}/registry/src=crates"
BUILD = $(BUILD_PATH) $(BUILD_RUSTFLAGS)

# Folders too, so that a file that goes away is noticed.
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -type d -o -name '*.rs' -o -name Cargo.toml -o -name '*.txt' -o -path '*/programs/*')
PYTHON_SOURCES := $(shell find python \( -type d -o -name '*.py' -o -name '*.pyi' -o -name 'py.typed' \) \
	-not -name __pycache__)
BENCHES := agent loop cancel emit hook_answers kernel_calls turn history session messages import_time text_deltas first_request request_encoding prompt_prefix \
	tool_arguments path_decision retry_decision processor start display false_marks call_cost store search launch undo mcp_calls one_call service ratios redaction shell
# Compared with other libraries, not with the reference.
PEER_BENCHES := agent loop text_deltas request_encoding tool_arguments service
# Compared with what our own Python has beside it.
OWN_BENCHES := cancel first_request path_decision retry_decision processor start display false_marks call_cost store search launch undo mcp_calls
# Compared with a walk over memory, in Rust.
RUST_BENCHES := ratios redaction shell

empty :=
space := $(empty) $(empty)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# Checked with the types of Windows, too: what starts commands and writes files there.
ON_WINDOWS := python/amplifier_guard/windows_files.py $(addprefix python/amplifier_modules/,tools/bash tools/filesystem $(addprefix sandbox/, \
	command.py environment.py git_bash.py job_command.py job_object.py network_setting.py runner.py \
	session_folder.py shell.py shell_folder.py tiers.py unconfined.py \
	watched_command.py))

.PHONY: help run test test-rust test-python differential prove prove-rust prove-guard prove-properties prove-interpreters mutants fuzz check check-rust check-python check-dependencies docs docs-pictures docs-reference wheel sdist bench clean

help: ## Show the targets
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  \1 \2/p' Makefile | while read -r name text; do \
		printf '  %-20s %s\n' "$$name" "$$text"; done

run: .venv/.extension ## Run the agent in the current folder (PROMPT="…" ARGS="--directory FOLDER --json")
	@.venv/bin/amplifier-core run $(ARGS) -- "$$PROMPT"

test: test-rust test-python ## Run all tests, Rust and Python

test-rust: ## Run the tests of the crates
	cargo test --quiet --workspace --exclude amplifier-python --all-features

test-python: .venv/.extension .venv/.test wheel sdist ## Run the Python tests (PYTEST_ARGS="tests/kernel -x" PYTEST_PROCESSES=0)
	$(BUILT) .venv/bin/pytest --numprocesses $(PYTEST_PROCESSES) --dist loadgroup $(PYTEST_ARGS)

differential: .tools/reference/.installed .venv/.extension .venv/.test ## Run generated programs here and on the reference, and account for every difference
	.venv/bin/pytest tests/contract/differential $(PYTEST_ARGS)

prove: prove-rust prove-guard prove-properties prove-interpreters .tools/reference/.installed .tools/sqlite/.installed .tools/conformance/.installed .venv/.extension .venv/.test wheel sdist ## Run the proofs that take minutes: thousands of sessions and exits, hostile values everywhere
	PROVE=1 AMPLIFIER_WHEEL="$$(ls dist/*.whl)" AMPLIFIER_SDIST="$$(ls dist/*.tar.gz)" REFERENCE_PYTHON="$(CURDIR)/.tools/reference/bin/python" NEWER_SQLITE="$(CURDIR)/.tools/sqlite" .venv/bin/pytest tests/proof tests/kernel/every_await tests/modules/provider_kit tests/agent/test_store_elsewhere.py tests/app/wheel/test_sdist_build.py tests/app/wheel/test_wheel_servers.py $(PYTEST_ARGS)

fuzz: ## Try a million random streams on every decoder and parser (FUZZ_INPUTS=10000000 FUZZ_SEED=1)
	FUZZ_INPUTS=$(FUZZ_INPUTS) CARGO_TARGET_DIR="$${CARGO_TARGET_DIR:-target/prove}" CARGO_PROFILE_DEV_OPT_LEVEL=2 \
		cargo test --quiet --locked --package amplifier-stream --features steps --test fuzz -- --nocapture

prove-rust: ## Run the models of what threads may do to the Rust core, and long programs on it and on a plain model
	RUSTFLAGS="--cfg loom" $(PROVE_RUST) --lib -- $(PROVE_RUST_ARGS)
	RUSTFLAGS="--cfg shuttle" $(PROVE_RUST) --lib -- $(PROVE_RUST_ARGS)
	$(PROVE_RUST) --test runtime -- $(PROVE_RUST_ARGS) --include-ignored model::

prove-guard: ## Swap links in beneath the guard in 100,000 races with its reads and as many with its writes
	GUARD_RACES=100000 CARGO_TARGET_DIR="$${CARGO_TARGET_DIR:-target/prove}" CARGO_PROFILE_DEV_OPT_LEVEL=1 \
		cargo test --quiet --locked --package amplifier-guard --test guard -- races::

prove-properties: .venv/.extension .venv/.test ## Run the property tests with ten times the examples
	HYPOTHESIS_PROFILE=many .venv/bin/pytest -m hypothesis --timeout 1200 --numprocesses $(PYTEST_PROCESSES) --dist loadgroup $(PYTEST_ARGS)

prove-interpreters: .venv/.created dist/.wheel .venv/.test ## Run the Python tests on the wheel with every other CPython from 3.11 on that is found
	@for python in $$($(VENV_PYTHON) tests/app/interpreters.py); do \
		folder=".tools/interpreters/$$("$$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"; \
		echo "the tests on $$python" >&2; \
		{ [ -d "$$folder" ] || "$$python" -m venv "$$folder"; } && \
		"$$folder/bin/python" -m pip install --quiet --disable-pip-version-check dist/*.whl --requirement .venv/test.txt && \
		"$$folder/bin/python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps dist/*.whl && \
		"$$folder/bin/python" -m pytest --ignore tests/app/wheel --numprocesses $(PYTEST_PROCESSES) --dist loadgroup $(PYTEST_ARGS) || exit; \
	done

mutants: .tools/bin/cargo-mutants ## Plant faults in the guard, hours of them, and list those that no test finds (MUTANTS_ARGS="--file url.rs")
	PROPTEST_RNG_SEED=1 PROPTEST_MAX_SHRINK_ITERS=0 PROPTEST_DISABLE_FAILURE_PERSISTENCE=1 \
	CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_DEV_OPT_LEVEL=1 \
		.tools/bin/cargo-mutants mutants --package amplifier-guard $(MUTANTS_ARGS)

# The checkers of Python use one core each; cargo waits for locks and for the linker.
check: .venv/.extension .venv/.test .venv/.check .venv/.docs .tools/bin/cargo-deny ## Check format, lints, types, stubs, dependencies and the site of the documentation
	@$(MAKE) --no-print-directory --jobs 2 check-rust check-python check-dependencies docs

check-rust: ## Check the format, the lints and the documentation of the crates
	cargo fmt --all --check
	cargo clippy --quiet --locked --workspace --all-targets --all-features -- --deny warnings
	RUSTDOCFLAGS="--deny warnings" cargo doc --quiet --locked --workspace --no-deps --all-features

check-python: .venv/.extension .venv/.test .venv/.check ## Check the format, lints, imports, types and stubs of the Python packages
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/lint-imports --no-cache --no-logo
	.venv/bin/python docs/programs.py target/guide
	.venv/bin/pyright
	.venv/bin/pyright target/guide
	.venv/bin/pyright --pythonplatform Windows $(ON_WINDOWS)
	.venv/bin/mypy --strict examples/agent_*.py examples/arcllm_*.py target/guide
	MYPYPATH=python .venv/bin/stubtest amplifier_core._engine --ignore-disjoint-bases \
		--allowlist tests/contract/stubtest-allowlist.txt

check-dependencies: .tools/bin/cargo-deny ## Check licences, bans and sources of the crates we use
	.tools/bin/cargo-deny --locked check bans licenses sources

docs: .venv/.docs ## Build the site of the documentation into target/site, and check its links
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict

docs-pictures: .venv/.extension ## Draw the pictures of the terminal in docs/pictures anew, from real runs
	.venv/bin/python docs/pictures.py

docs-reference: .venv/.extension ## Write docs/configuration.md anew from the settings of the modules
	.venv/bin/python docs/configuration.py

wheel: dist/.wheel ## Build the abi3 wheel into dist/, on Linux for glibc 2.17 and later

sdist: dist/.sdist ## Build the source distribution into dist/

bench: .tools/reference/.installed .tools/peers/.installed .tools/litellm/.installed .tools/product/.installed ## Measure against the reference and other libraries (BENCHES=emit BENCH_ARGS="--rounds 9")
	@for bench in $(filter-out $(RUST_BENCHES),$(BENCHES)); do \
		case "$$bench" in \
			one_call) sides="peers litellm" ;; \
			$(subst $(space),|,$(PEER_BENCHES))) sides=peers ;; \
			$(subst $(space),|,$(OWN_BENCHES))) sides=product ;; \
			*) sides=reference ;; \
		esac; \
		for others in $$sides; do \
			.tools/product/bin/python "benches/$$bench.py" --reference ".tools/$$others/bin/python" $(BENCH_ARGS) || exit; \
		done; \
	done
	@for bench in $(filter $(RUST_BENCHES),$(BENCHES)); do \
		cargo bench --quiet --locked --workspace --exclude amplifier-python --bench "$$bench" || exit; \
	done

clean: ## Remove everything that was built or installed here
	cargo clean --quiet
	rm -rf .venv .tools dist .hypothesis .pytest_cache .ruff_cache .mypy_cache
	find python tests benches -name __pycache__ -prune -exec rm -rf {} +
	rm -f python/amplifier_core/_engine*.so

.venv/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
		"`$(PYTHON)` is Python %d.%d, but 3.11 or later is needed: make PYTHON=…" % sys.version_info[:2])'
	@echo 'setting up .venv: once, a minute or two' >&2
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/.extension: .venv/.wheel pyproject.toml $(RUST_SOURCES)
	@echo 'building the extension into .venv' >&2
	@$(BUILD) MATURIN_PEP517_ARGS="$(MATURIN_FLAGS)" $(INSTALL) --no-build-isolation --editable .
	@touch $@

# An extra of pyproject.toml by itself: pip would build the extension again with `.[test]`.
.venv/.test .venv/.check .venv/.wheel .venv/.docs: .venv/.%: .venv/.created pyproject.toml
	@echo 'installing the packages of the extra `$*` into .venv' >&2
	@$(VENV_PYTHON) -c 'import tomllib; \
		extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; \
		print(*extras["$*"], sep="\n")' > .venv/$*.txt
	@$(INSTALL) --requirement .venv/$*.txt
	@touch $@

dist/.wheel: .venv/.wheel packaging/portable_wheel.py python/README.md LICENSE pyproject.toml $(RUST_SOURCES) $(PYTHON_SOURCES)
	@rm -f dist/*.whl target/wheel/*.whl
	@mkdir -p dist
	$(BUILD) maturin build --quiet --release $(MATURIN_FLAGS) --interpreter "$(CURDIR)/$(VENV_PYTHON)" --out target/wheel
	@$(VENV_PYTHON) packaging/portable_wheel.py target/wheel/*.whl dist
	@touch $@

dist/.sdist: .venv/.wheel python/README.md LICENSE pyproject.toml $(RUST_SOURCES) $(PYTHON_SOURCES)
	@rm -f dist/*.tar.gz
	$(BUILD_PATH) maturin sdist --out dist
	@touch $@

# Debug builds: they take a quarter of the time, and what the tools do takes as long either way.
.tools/bin/cargo-deny .tools/bin/cargo-mutants: .tools/bin/%:
	@echo 'installing $* into .tools: once, a minute or two' >&2
	CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --debug --root .tools \
		--target-dir .tools/target $*@$(VERSION_$*)
	@rm -rf .tools/target

.tools/reference/.installed:
	@$(PYTHON) -m venv .tools/reference
	.tools/reference/bin/python -m pip install --quiet 'amplifier-core==$(REFERENCE_VERSION)'
	@touch $@

.tools/peers/.installed .tools/litellm/.installed: .tools/%/.installed: benches/%.txt
	@$(PYTHON) -m venv .tools/$*
	.tools/$*/bin/python -m pip install --quiet --disable-pip-version-check --requirement benches/$*.txt
	@touch $@

# Safe in WAL mode with two writers, which few systems have yet.
.tools/sqlite/.installed: .venv/.created
	@$(INSTALL) --target .tools/sqlite 'pysqlite3==$(VERSION_pysqlite3)'
	@touch $@

# The suite of the protocol's authors and servers that everybody has, with a Node that runs them.
.tools/conformance/.installed:
	@npm install --silent --no-fund --no-audit --save-exact --prefix .tools/conformance \
		node@$(VERSION_node) @modelcontextprotocol/conformance@$(VERSION_mcp-conformance) \
		$(patsubst %,@modelcontextprotocol/server-%@$(VERSION_mcp-servers),everything filesystem memory) </dev/null
	@touch $@

# The wheel as a user gets it: an editable install is slower to import and may hold a debug build.
.tools/product/.installed: dist/.wheel benches/product.txt
	@$(PYTHON) -m venv .tools/product
	.tools/product/bin/python -m pip install --quiet dist/*.whl --requirement benches/product.txt
	@.tools/product/bin/python -m pip install --quiet --force-reinstall --no-deps dist/*.whl
	@touch $@
