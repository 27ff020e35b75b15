# Everything here runs with the Node 24 that npm installs; a machine needs any Node >= 20 and npm.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
# Under sudo, files that a recipe writes into the checkout end up with its owner.
SHELL := $(if $(SUDO_UID),build/sudo-shell,/bin/bash)
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

installed := node_modules/.package-lock.json

.PHONY: help setup demo check test test-crash test-outages test-integration test-e2e test-lifecycle test-long test-coverage bench scenarios lint vet fmt generate build image docker-build docker-buildx release image-archive run deploy undeploy install uninstall

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(installed): package.json package-lock.json
	@echo "installing dependencies from npm (about 20 s, once)"
	@command -v npm >/dev/null || { echo 'npm is not on PATH. Install Node.js 20 or later with npm, then repeat the command.' >&2; exit 1; }
	@npm ci || { echo 'npm could not install the dependencies. Without network, point npm at a mirror (npm config set registry URL) or copy node_modules from a machine that has them.' >&2; exit 1; }
	@touch $@

setup: $(installed) ## Install dependencies (Node 24 included)

demo: build ## Attach and detach ports on two hosts of this machine; ARGS=--once ends by itself
	@node rig/demo/main.ts $(ARGS)

check: $(installed) ## Types, lint, import direction, unused exports, format, generated files, unit tests; prints how long each took
	@test/check

test: $(installed) ## Types, lint, unit; the agent in network namespaces; all parts under bad input (needs root); runs all, reports at the end
	@test/stage check host chain

test-crash: $(installed) ## Every part killed before and after every write it makes (needs root, 10 minutes)
	@MULTINIC_TEST_DEPTH=all test/stage crash

test-outages: $(installed) ## Clouds, Viola, clusters, MariaDB each away for a minute (needs root)
	@rig/install && test/stage outages

test-integration: $(installed) ## Charts, images; real API server, kubelet, containerd, systemd hosts, MariaDB, OpenStack (needs root)
	@rig/install && test/stage packaging integration openstack openstack-outages

test-e2e: $(installed) ## Both charts on real clusters: the chain, crashes, upgrade, skew, uninstall, a MultiNicOperator (needs root)
	@rig/install && test/stage e2e

test-lifecycle: $(installed) ## A MultiNicOperator on a real cluster with a real MariaDB (needs root)
	@rig/install && test/stage lifecycle

test-long: $(installed) ## Long suites: lists them; SUITE=NAME runs one, SAMPLE=1 about five minutes of it, ARGS are for its command
	@test/long/run $(SUITE) $(ARGS)

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
	@node build/image/build.ts $(ARGS)

docker-build: $(installed) ## The same from Dockerfiles, with docker, podman or buildah; IMG=[REGISTRY/]multinic:TAG
	@node build/image/docker-build.ts --img '$(IMG)' $(ARGS)

docker-buildx: $(installed) ## For amd64 and arm64, as archives in dist/images; PUSH=true: to the registry of IMG
	@node build/image/docker-build.ts --img '$(IMG)' --arch amd64,arm64 $(if $(PUSH),--push) $(ARGS)

release: $(installed) ## Everything to install from, in dist/release: images, charts, CRDs, multinic with its Node, SPDX, checksums; ARGS='--arch amd64,arm64'
	@node build/image/release/build.ts $(ARGS)

image-archive: $(installed) ## The same for both architectures as one file in dist, for sites without network
	@node build/image/release/build.ts --one-file $(ARGS)

run: $(installed) ## Operator and Viola from source against the current kubeconfig; ARGS='--parts operator,viola,controller'
	@node build/run.ts $(ARGS)

deploy: ## Install or upgrade operator and Viola in the current kubectl context; IMG as docker-build was given it
	@./deploy-operator.sh $(if $(IMG),--img $(IMG)) $(ARGS)

undeploy: ## Remove operator and Viola from the current kubectl context; NICs and OpenstackConfigs stay
	@./cleanup-operator.sh $(ARGS)

install: ## Install the CRDs into the current kubectl context; those in deploy/crds/optional are for legacy writers
	kubectl apply --server-side --force-conflicts -f deploy/crds

uninstall: ## Remove the CRDs and every object of their kinds
	kubectl delete --ignore-not-found --recursive -f deploy/crds
