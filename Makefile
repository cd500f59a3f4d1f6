.DEFAULT_GOAL := help
.PHONY: help run monkey monkey-browser check test worked-changes fuzz crash failovers faults mutations simulate bench build format

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Install what is missing, build, and serve on 127.0.0.1:7379 from .tiffin
	@Scripts/run

monkey: ## Load the server on 127.0.0.1:7379 for ten seconds, and check every answer
	@Scripts/monkey

monkey-browser: ## Drive a real browser over a home while its server is killed, SEED=n STEPS=n, and check that all agrees
	@Scripts/monkey-browser $(if $(SEED),--seed $(SEED)) $(if $(STEPS),--steps $(STEPS))

check: ## Lint, build, and run the Swift tests that need no PostgreSQL
	@Scripts/check

test: ## Install what is missing, lint, build, and run every test
	@Scripts/test

worked-changes: ## Make the changes that CONTRIBUTING.md shows in a copy, build it, and run their tests
	@Scripts/worked-changes

fuzz: ## Fuzz every target for a minute, or SECONDS=n; what it finds is in .build/fuzz
	@Scripts/fuzz $(if $(SECONDS),--seconds $(SECONDS))

crash: ## Kill, freeze and cut off a server and its database, CYCLES=n SEED=n, and check that nothing is lost
	@Scripts/crash $(if $(CYCLES),--cycles $(CYCLES)) $(if $(SEED),--seed $(SEED))

failovers: ## Kill, freeze and switch over a fleet and its PostgreSQL with Patroni, CYCLES=n SEED=n, and check the same
	@Scripts/failovers $(if $(CYCLES),--cycles $(CYCLES)) $(if $(SEED),--seed $(SEED))

faults: ## Run all fault trials in turn, MINUTES=n SEED=n: power cuts, damage and more, and print how to repeat what fails
	@Scripts/faults $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

mutations: ## Plant small mistakes in a copy, COUNT=n SEED=n, and look for those that no test notices; the first build takes long
	@Scripts/mutations $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED))

simulate: ## Run whole servers on a simulated network, clock and log, SEEDS=n FIRST=n, and check every answer
	@Scripts/simulate $(if $(SEEDS),--seeds $(SEEDS)) $(if $(FIRST),--first $(FIRST))

bench: ## Compare with other databases and libraries; writes Benchmarks/results
	@Scripts/bench

build: ## Build the server and the load generator for release
	@Scripts/setup run
	@swift build -c release --product tiffin
	@swift build -c release --product tiffin-monkey

format: ## Format the Swift sources in place
	@swift format --in-place --parallel --recursive Sources Tests Package.swift
