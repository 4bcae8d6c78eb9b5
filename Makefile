# Builds, demonstrates and tests Twinscope. `make` alone lists what there is.
#
# cargo and npm know what is stale; rules here only order them.

PAIR ?= munmap-storm
STEPS ?=
FUZZ_SECONDS ?= 60
NAMES ?=
SET ?=
AA ?=
OUT ?= target/faults
SECONDS_EACH ?= 8
EXPLAIN_ONLY ?=

UI_INPUTS := $(shell find ui -path ui/node_modules -prune -o -path ui/dist -prune -o -type f -print 2>/dev/null)

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name what; do printf '  make %-11s %s\n' "$$name" "$$what"; done

demo: ## Build, record a slow and a fast run, print why it is slower, write the report (a minute after the build; PAIR=chatty-log …)
	@scripts/demo.sh $(PAIR)

test: deps-test ui/dist/index.html workloads ## Everything CI checks (about 20 minutes on 2 cores; STEPS="lint units" for some of it)
	@scripts/test.sh $(STEPS)

test-all: deps-all ui/dist/index.html workloads ## The same, and what takes long and seldom breaks (about an hour and a half on 2 cores)
	@scripts/test.sh --all $(STEPS)

kernels: deps-kernels build recorder ## The recorder on six kernels of Debian, in emulation (about 10 minutes after the build)
	@tests/kernels.sh --all

build: deps ui/dist/index.html ## Build target/release/twinscope (about 5 minutes on 2 cores the first time)
	cargo build --release -p twinscope-cli

recorder: deps-cross ## Build the recorder alone, static, for x86-64 and aarch64, into target/dist (about 5 minutes)
	scripts/build-recorder.sh

summary: deps ui/dist/index.html ## Build the program that reduces recordings on a cluster, static, without eBPF, into target/dist (about 5 minutes)
	scripts/build-summary.sh

package: deps-package build recorder ## Make packages of all kinds for x86-64 and aarch64, into target/package (about 15 minutes the first time)
	$(if $(filter aarch64,$(shell uname -m)),,cargo build --release -p twinscope-cli --target aarch64-unknown-linux-gnu)
	scripts/package.sh

ui: ui/dist/index.html ## Build the page that the report crate embeds (half a minute)

workloads: ## Build the programs with a slow and a fast variant (some seconds)
	@$(MAKE) --no-print-directory -C workloads

reference: build ## Write docs/reference, and the types of the page, from the program (a minute after the build)
	target/release/twinscope reference docs/reference
	TWINSCOPE_WRITE_TYPES=yes cargo test --release --quiet -p twinscope-report --lib the_page_knows_these_types

# One version, so that the site looks alike wherever it is built; without the server that mdBook brings.
MDBOOK := 0.4.52

docs: ## Build the documentation as a site, into target/docs (about 3 minutes the first time, which compiles mdBook)
	cargo install --quiet --locked --root target/tools mdbook --version =$(MDBOOK) --no-default-features --features search
	scripts/docs/build.py

bench: build workloads ## Measure the budgets and write docs/benchmarks.md (some hours)
	@scripts/install-deps.sh bench
	scripts/bench.sh

faults: build workloads ## Record programs with one known fault each, and see whether explain names it (about an hour; NAMES="a b", AA=1, OUT=, CORPUS=1)
	@scripts/install-deps.sh faults
	@scripts/faults.sh --seconds $(SECONDS_EACH) --out $(OUT) $(if $(AA),--aa) $(if $(EXPLAIN_ONLY),--explain-only) $(NAMES)
	$(if $(CORPUS),@scripts/corpus.sh --from $(OUT) $(NAMES))

field: build ## Record pairs of released software, and see whether explain names what their makers do (about 4 hours; NAMES="a b", SET=tuned)
	cargo build --release -p twinscope-field
	target/release/field run $(if $(SET),--set $(SET)) $(NAMES)
	target/release/field judge $(if $(SET),--set $(SET)) $(NAMES)

fuzz: ## Fuzz every parser of foreign bytes (a quarter of an hour; FUZZ_SECONDS=60 for each)
	scripts/fuzz.sh $(FUZZ_SECONDS)

deps: ## Install what is missing to build (Debian, needs root or sudo only then)
	@scripts/install-deps.sh build

deps-cross:
	@scripts/install-deps.sh build cross

deps-package:
	@scripts/install-deps.sh build cross package

deps-kernels:
	@scripts/install-deps.sh kernels

deps-test:
	@scripts/install-deps.sh build test cross kernels

deps-all:
	@scripts/install-deps.sh build test cross kernels package faults

clean: ## Delete all that was built
	cargo clean
	rm -rf ui/dist ui/node_modules demo
	@$(MAKE) --no-print-directory -C workloads clean
	rm -rf workloads/faults/bin workloads/bottlenecks/bin workloads/sharing/bin workloads/explorer/bin workloads/orders/bin

ui/dist/index.html: ui/node_modules/.package-lock.json $(UI_INPUTS)
	npm --prefix ui run build
	@touch $@

ui/node_modules/.package-lock.json: ui/package-lock.json
	npm --prefix ui ci --no-audit --no-fund
	@touch $@

# Later rules need what earlier ones install.
.NOTPARALLEL:
.PHONY: help demo test test-all kernels deps-kernels deps-test build recorder summary package ui workloads reference docs bench faults field fuzz deps deps-cross deps-package deps-all clean
