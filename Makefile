# Everything here runs with the Node 24 that npm installs; a machine needs any Node >= 20 and npm.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

installed := node_modules/.package-lock.json

.PHONY: help setup demo check test test-kills test-kill-full test-outages test-faults test-agent-faults test-integration test-attaches test-boxes-full test-guest-full test-e2e test-rights-full test-skew test-migrate test-coverage bench scenarios lint fmt vet generate build image docker-build docker-buildx image-archive run install uninstall deploy undeploy

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(installed): package.json package-lock.json
	@echo "installing dependencies from npm (about 20 s, once)"
	@npm ci || { echo 'npm could not install the dependencies. Without network, point npm at a mirror (npm config set registry URL) or copy node_modules from a machine that has them.' >&2; exit 1; }
	@touch $@

setup: $(installed) ## Install dependencies (Node 24 included)

demo: build ## Attach and detach ports on two hosts of this machine; ARGS=--once ends by itself
	@node rig/demo/main.ts $(ARGS)

check: $(installed) ## Types, lint, import direction, format, generated files, unit tests; prints how long each took
	@test/check

test: $(installed) ## check, the agent in network namespaces, and bad input end to end (needs root)
	@test/on-hosts
	@$(MAKE) -s check
	@test/on-hosts namespaces chain

test-kills: $(installed) ## Every part killed before and after every write it makes, on hosts of this machine (needs root)
	@test/on-hosts kills

test-outages: $(installed) ## Clouds, Viola, clusters, MariaDB each away for a minute; after rig/install (needs root)
	@test/on-hosts outages

test-integration: $(installed) ## Real API server, kubelet, containerd, systemd box, OpenStack, MariaDB (needs root)
	@test/integration/run

test-boxes-full: $(installed) ## What NICs become on Debian 11 to 13 with each manager; writes test/system/distros/results.md (needs root, half an hour)
	@test/system/distros/full

test-guest-full: $(installed) ## Power cut at every write of the agent, in guests of all families; writes test/system/power-cut/results.md (needs root, two hours)
	@test/system/power-cut/full

test-attaches: $(installed) ## From a notification of real OpenStack to the MultiNicNodeConfig, COUNT=50 times; prints how long (needs root, 3 minutes)
	@rig/install && MULTINIC_ATTACHES='$(or $(COUNT),50)' test/vitest attaches

test-e2e: $(installed) ## Both charts on real clusters: the chain, kills, upgrade, skew, uninstall (needs root)
	@test/system/e2e/run e2e

test-rights-full: $(installed) ## The life of a port with one right less, for every right of every part (needs root, 10 minutes)
	@test/on-hosts rights-full

test-skew: $(installed) ## Each part beside parts of another version of this repository: REF=COMMIT or tag (needs root, 2 minutes)
	@MULTINIC_SKEW_REF='$(or $(REF),$(error name the other version: make test-skew REF=COMMIT))' test/on-hosts skew

test-migrate: $(installed) ## The way from the deployed system and back, with stand-ins of it (needs root)
	@test/system/e2e/run migrate

test-kill-full: $(installed) ## Some of the kill list on real parts; writes its table to test/long/crash-real (needs root, 10 minutes)
	@test/system/e2e/run kill-full

test-faults: $(installed) ## Leaders and random fault plans: everything fails at random; prints tables (about an hour)
	@test/faults/run

test-agent-faults: $(installed) ## Every call of the agent that changes a host fails, 1,000 sets of others' state; writes test/property/disk-faults/results.md (needs root, two hours)
	@test/property/disk-faults/full

test-coverage: $(installed) ## Unit tests with coverage
	@npm run -s test:coverage

bench: $(installed) ## Ratios measured in one run; see docs/benchmarks.md
	@node test/bench/main.ts $(ARGS)

scenarios: $(installed) ## What went wrong in the field, and the tests that prove that it does not any more; fails on a gap
	@node test/scenarios/main.ts


lint: $(installed) ## Type-aware lint with import direction
	@npm run -s lint

vet: $(installed) ## Types
	@npm run -s typecheck

fmt: $(installed) ## Format
	@npm run -s fmt

generate: $(installed) ## Write generated files (CRDs, reference)
	@npm run -s generate

build: $(installed) ## Bundle into dist/
	@npm run -s bundle

image: $(installed) ## Both images as archives in dist/images, without a container engine; ARGS='--arch amd64,arm64'
	@node deploy/image/build.ts $(ARGS)

docker-build: $(installed) ## The same from Dockerfiles, with docker, podman or buildah; IMG=[REGISTRY/]multinic:TAG
	@node deploy/image/docker-build.ts --img '$(IMG)' $(ARGS)

docker-buildx: $(installed) ## For amd64 and arm64, as archives in dist/images; PUSH=true: to the registry of IMG
	@node deploy/image/docker-build.ts --img '$(IMG)' --arch amd64,arm64 $(if $(PUSH),--push) $(ARGS)

image-archive: $(installed) ## One file with images, charts, CRDs, scripts, docs and checksums, for sites without network
	@node deploy/image/air-gap/build.ts $(ARGS)

run: $(installed) ## Operator and Viola from source against the current kubeconfig; ARGS='--parts operator,viola,controller'
	@node deploy/run.ts $(ARGS)

deploy: ## Install or upgrade operator and Viola in the current kubectl context; IMG as docker-build was given it
	@./deploy-operator.sh $(if $(IMG),--img $(IMG)) $(ARGS)

undeploy: ## Remove operator and Viola from the current kubectl context; NICs and OpenstackConfigs stay
	@./cleanup-operator.sh $(ARGS)

install: ## Install the CRDs into the current kubectl context
	kubectl apply --server-side --force-conflicts -f deploy/crds

uninstall: ## Remove the CRDs and every object of their kinds
	kubectl delete --ignore-not-found -f deploy/crds
