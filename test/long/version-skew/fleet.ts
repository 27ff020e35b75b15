import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { rights } from '../../../rig/chain/clusters.ts';
import { applyFiles, deployFolder } from '../../../rig/chain/manifests.ts';
import type { Part } from '../../../rig/chain/parts.ts';
import { program } from '../../../rig/parts/program.ts';
import { nodeConfigObjectOf, untilConfigIsReady } from '../../fixtures/chain/waits.ts';
import { openWorld, type World } from '../../fixtures/chain/world.ts';
import { KernelEvents } from '../../fixtures/kernel-events.ts';
import { stateOf } from '../../host/host-state.ts';
import type { OtherVersion } from './other-version.ts';

export type ClusterName = keyof typeof rights;
export type Version = 'this' | 'other';
export type FleetPart = Part | 'agent';

/** Parts of a chart; the agent's image comes with the controller. */
const charts: Readonly<Record<ClusterName, readonly FleetPart[]>> = {
  management: ['operator', 'viola'],
  business: ['controller', 'agent'],
};

/** A world with parts that change their version. */
export interface Fleet extends AsyncDisposable {
  readonly world: World;
  readonly kernel: KernelEvents;
  /** Restarts parts with a version. */
  change(version: Version, parts: readonly FleetPart[]): Promise<void>;
  /** Installs a version in a cluster as its chart does: CRDs and rights, then the parts. */
  install(version: Version, cluster: ClusterName): Promise<void>;
}

export interface FleetOptions {
  readonly nodes: readonly string[];
  /** Parts in the other version at the start. */
  readonly ofOther: readonly FleetPart[];
  /** True: clusters get CRDs and rights from their parts' version; default: from this version. */
  readonly hasOtherCrds?: boolean;
}

/** Opens a world with some parts in the other version. */
export async function openFleet(other: OtherVersion, options: FleetOptions): Promise<Fleet> {
  const { nodes, ofOther, hasOtherCrds = false } = options;
  /** Bundles of parts in the other version. */
  const bundles = new Map<FleetPart, string>(ofOther.map((part) => [part, other.bundle]));
  const folders = { this: deployFolder, other: other.deploy };
  await using stack = new AsyncDisposableStack();
  const world = stack.use(
    await openWorld(nodes, {
      bundles: Object.fromEntries(bundles),
      agentCommand: () => program('agent', bundles.get('agent')).command,
      prepared: async (clusters) => {
        if (!hasOtherCrds) return;
        await applyDeploy(clusters, 'management', other.deploy);
        await applyDeploy(clusters, 'business', other.deploy);
      },
    }),
  );
  const kernel = stack.use(new KernelEvents(world.workers));
  const change: Fleet['change'] = async (version, parts) => {
    for (const part of parts) {
      if (version === 'other') bundles.set(part, other.bundle);
      else bundles.delete(part);
    }
    await world.becomes(Object.fromEntries(bundles), parts.filter(isProcess));
  };
  const opened = stack.move();
  return {
    world,
    kernel,
    change,
    async install(version, cluster) {
      if (hasOtherCrds) await applyDeploy(world, cluster, folders[version]);
      await change(version, charts[cluster]);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function isProcess(part: FleetPart): part is Part {
  return part !== 'agent';
}

async function applyDeploy(
  clusters: Pick<World, ClusterName>,
  cluster: ClusterName,
  folder: string,
): Promise<void> {
  const crds = (await readdir(join(folder, 'crds'))).filter((name) => name.endsWith('.yaml'));
  await applyFiles(clusters[cluster].client, [
    ...crds.map((name) => join(folder, 'crds', name)),
    ...rights[cluster].map((name) => join(folder, 'rbac', `${name}.yaml`)),
  ]);
}

/** Expects that a version change starts no Job, and leaves kernel and specs unchanged, for some seconds. */
export async function expectUnchangedBy(
  { world, kernel }: Fleet,
  quietMs: number,
  change: () => Promise<void>,
): Promise<void> {
  await kernel.untilSilent();
  const before = { jobs: jobsIn(world), hosts: await hostsOf(world), events: kernel.lines.length };
  await change();
  await setTimeout(quietMs);
  expect(kernel.lines.slice(before.events)).toEqual([]);
  expect(await hostsOf(world)).toEqual(before.hosts);
  expect(jobsIn(world)).toBe(before.jobs);
  for (const worker of world.workers) await untilConfigIsReady(world, worker);
}

/** Returns the kernel state for each node, and generation and spec of each object. */
function hostsOf(world: World) {
  return Promise.all(
    world.workers.map(async (worker) => {
      const { metadata, spec } = nodeConfigObjectOf(world, worker) ?? {};
      return { host: await stateOf(worker.host), generation: metadata?.generation, spec };
    }),
  );
}

/** Returns the number of Jobs created so far. */
export function jobsIn({ business }: World): number {
  const created = business.server.audit.filter(
    ({ resource, status }) => resource === 'jobs' && status === 201,
  );
  return created.length;
}
