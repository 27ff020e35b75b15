import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  applyConfig,
  attach,
  expectGone,
  generous,
  untilConfigured,
} from '../../fixtures/e2e/acts.ts';
import { provider } from '../../fixtures/e2e/ground.ts';
import {
  helm,
  helmInstall,
  namespaces,
  registerCluster,
  runProjectScript,
} from '../../fixtures/e2e/installation.ts';
import { foreignState, ourState } from '../../fixtures/e2e/kernel-state.ts';
import { makeNextVersion, type NextVersion } from '../../fixtures/e2e/next-version.ts';
import { configCondition, endOf, nodeConfigOf, requestsOf } from '../../fixtures/e2e/observed.ts';
import { plantForeignState } from '../../fixtures/e2e/planted.ts';
import type { PartName } from '../../fixtures/e2e/pods.ts';
import { PrimaryMonitor } from '../../fixtures/e2e/primary-monitor.ts';
import {
  configOf,
  prepareFor,
  type SettingSource,
  settingValuesOf,
  valuesOf,
  ways,
} from '../../fixtures/e2e/setting-samples.ts';
import { type DeployedChain, installCharts, openWorld } from '../../fixtures/e2e/world.ts';
import type { EndState } from '../../fixtures/end-state.ts';
import { rotated } from '../../rotation.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const parts: readonly PartName[] = ['operator', 'viola', 'controller'];

let world: DeployedChain;
let next: NextVersion;
let monitor: PrimaryMonitor;
let settled: EndState;
let jobs: number;

beforeAll(async () => {
  world = await openWorld(say, { type: 'dev' });
  next = await makeNextVersion(join(world.directory, 'next'));
  await world.node.importImage(next.images.controllers);
  await world.node.importImage(next.images.agent);
  await world.manager.importImage(next.images.controllers);
  await plantForeignState(world.node);
  await applyConfig(world, [world.server.id]);
  await attach(world);
  await untilConfigured(world, 'multinic0');
  await attach(world);
  await untilConfigured(world, 'multinic0', 'multinic1');
  await untilReady();
  monitor = new PrimaryMonitor(world.node);
  await monitor.started;
  settled = await endOf(world);
  jobs = await jobsMade();
});

afterAll(async () => {
  await monitor?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

async function untilReady(): Promise<void> {
  await vi.waitFor(
    async () => expect(await configCondition(world, 'Ready')).toMatchObject({ status: 'True' }),
    generous,
  );
}

/** Number of Jobs so far: each agent run is a Job. */
async function jobsMade(): Promise<number> {
  const requests = await requestsOf(world);
  return requests.filter(({ resource, status }) => resource === 'jobs' && status === 201).length;
}

/** All is as before the upgrade, and no agent was sent for it. */
async function expectUntouched(): Promise<void> {
  await untilReady();
  await vi.waitFor(async () => expect(await endOf(world)).toEqual(settled), generous);
  expect(await jobsMade()).toBe(jobs);
  expect(monitor.events).toEqual([]);
}

async function expectVersion(version: string): Promise<void> {
  for (const part of parts)
    expect(await world.parts.version(part)).toContain(`multinic ${version}\n`);
}

it('[RW-72] the next version changes no NIC and sends no agent', async () => {
  await installCharts(world, { type: 'dev', charts: next.charts });
  await expectVersion(next.version);
  await expectUntouched();
});

it('a port that is attached while the version before comes back becomes a NIC', async () => {
  const [third] = await Promise.all([attach(world), installCharts(world, { type: 'dev' })]);
  await untilConfigured(world, 'multinic0', 'multinic1', 'multinic2');
  await world.tenant.detach(world.server.id, third.port_id);
  await untilConfigured(world, 'multinic0', 'multinic1');
  await expectGone(world, 'multinic2');
  jobs = await jobsMade();
  await expectUntouched();
});

const later = { image: { tag: '99.0.0' } };
const pairs = [
  ['an operator and a later Viola', { viola: later }, {}],
  ['a later operator and Viola', { operator: later }, {}],
  ['a controller and a later agent', {}, { agent: later }],
  ['a later controller and an agent', {}, { controller: later }],
] as const;

it.each(rotated('versions of parts', pairs, 3, ([name]) => name))(
  '%s bring a port in and out',
  async (_what, operator, agent) => {
    await installCharts(world, { type: 'dev', values: { operator, agent } });
    const { port_id: portId } = await attach(world);
    await untilConfigured(world, 'multinic0', 'multinic1', 'multinic2');
    await world.tenant.detach(world.server.id, portId);
    await untilConfigured(world, 'multinic0', 'multinic1');
    await expectGone(world, 'multinic2');
  },
);

describe('after all parts have the same version', () => {
  beforeAll(() => installCharts(world, { type: 'dev' }));

  it.each(rotated('deleted Pods', parts, 3, String))(
    'a Pod of the %s that is deleted in mid-change is missed by nobody',
    async (part) => {
      const [{ port_id: portId }] = await Promise.all([
        attach(world),
        world.parts.deletePods(part),
      ]);
      await untilConfigured(world, 'multinic0', 'multinic1', 'multinic2');
      await Promise.all([
        world.tenant.detach(world.server.id, portId),
        world.parts.deletePods(part),
      ]);
      await untilConfigured(world, 'multinic0', 'multinic1');
      await expectGone(world, 'multinic2');
    },
  );
});

it('[RW-73] definitions that are deleted first take no NIC along', async () => {
  const host = await ourState(world.node);
  const kind = 'multinicnodeconfigs.multinic.io';
  await world.business.kubectl(['delete', 'crd', kind, '--wait=false']);
  await vi.waitFor(
    async () =>
      expect(JSON.stringify((await nodeConfigOf(world))?.status?.conditions)).toContain(
        'RemovalHeld',
      ),
    generous,
  );
  expect(await ourState(world.node)).toEqual(host);
});

it('MultiNIC goes and every NIC stays', async () => {
  const host = await ourState(world.node);
  const foreign = await foreignState(world.node);
  await runProjectScript(world.management, 'cleanup-operator.sh', ['--yes']);
  await runProjectScript(world.business, 'scripts/cleanup-agent.sh', ['--yes', '--crds']);
  expect(await ourState(world.node)).toEqual(host);
  expect(await foreignState(world.node)).toEqual(foreign);
  expect(monitor.events).toEqual([]);
  const left = ['get', 'all', '-n', 'multinic-operator-system', '-o', 'name'];
  expect(await world.management.kubectl(left)).toBe('');
});

it('MultiNIC is installed again and adopts the existing NICs', async () => {
  const host = await ourState(world.node);
  await installCharts(world, { type: 'dev' });
  // The account that the registered token belongs to went with the chart.
  await registerCluster(world, provider);
  await untilConfigured(world, 'multinic0', 'multinic1');
  await untilReady();
  expect(await ourState(world.node)).toEqual(host);
  expect(monitor.events).toEqual([]);
});

it('MultiNIC goes and takes every NIC along', async () => {
  const foreign = await foreignState(world.node);
  await runProjectScript(world.management, 'cleanup-operator.sh', [
    '--nics',
    'remove',
    '--crds',
    '--yes',
  ]);
  await runProjectScript(world.business, 'scripts/cleanup-agent.sh', [
    '--nics',
    'remove',
    '--crds',
    '--yes',
  ]);
  await expectGone(world, 'multinic0');
  await expectGone(world, 'multinic1');
  expect(await ourState(world.node)).toEqual({ links: [], addresses: [], routes: [], rules: [] });
  expect(await foreignState(world.node)).toEqual(foreign);
  expect(await world.management.kubectl(['get', 'crd', '-o', 'name'])).not.toContain('multinic');
});

describe('every part shows each setting at /configz, and no secrets', () => {
  it('the controller', async () => {
    const { business: cluster, directory } = world;
    await prepareFor(cluster, ['controller']);
    const values = [valuesOf('controller', 'given')];
    const namespace = namespaces.business;
    await helmInstall(directory, {
      cluster,
      chart: 'multinic-agent',
      namespace,
      values,
      wait: false,
    });
    await expectSaid('controller', 'given');
  });

  it.each(ways)('operator and Viola with access mode %s', async (way) => {
    const { management: cluster, directory } = world;
    // All Pods with former settings have ended.
    await helm(cluster, [
      'uninstall',
      'multinic-operator',
      '-n',
      namespaces.management,
      '--ignore-not-found',
      '--wait',
    ]);
    await prepareFor(cluster, ['operator', 'viola']);
    const values = [valuesOf('operator', way), valuesOf('viola', way)];
    const namespace = namespaces.management;
    await helmInstall(directory, {
      cluster,
      chart: 'multinic-operator',
      namespace,
      values,
      wait: false,
    });
    await expectSaid('operator', way);
    await expectSaid('viola', way);
  });
});

async function expectSaid(part: PartName, way: SettingSource): Promise<void> {
  const said = settingValuesOf(part, way);
  await vi.waitFor(async () => expect(await configOf(world, part)).toMatchObject(said), generous);
}
