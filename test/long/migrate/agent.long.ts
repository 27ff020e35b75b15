import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Condition, findCondition } from '../../../src/api/condition.ts';
import {
  applyNodeConfig,
  installController,
  nodeConfigFor,
  untilState,
} from '../../fixtures/migrate/legacy-objects.ts';
import { type MortalTools, mortalTools } from '../../fixtures/migrate/mortal-tools.ts';
import {
  agentsSent,
  configOf,
  generous,
  hostsOf,
  objectsOf,
} from '../../fixtures/migrate/observed.ts';
import { type MigrationCluster, openSite, type Ran } from '../../fixtures/migrate/site.ts';
import { NicMonitor } from '../../fixtures/nic-monitor.ts';

const [ours, theirs] = ['multinic-agents', 'multinic-system'];

let site: MigrationCluster;
let monitor: NicMonitor;
let hosts: unknown;
let installed: unknown;
let specs: unknown;
let tools: MortalTools;

/** All objects of the legacy system. */
async function theirObjects(): Promise<unknown> {
  const inNamespace = 'deployments,serviceaccounts,services,secrets,configmaps';
  const release = ['-l', 'app.kubernetes.io/instance=multinic-agent'];
  return {
    ...(await objectsOf(site, inNamespace, '-n', theirs)),
    ...(await objectsOf(site, 'clusterroles,clusterrolebindings', ...release)),
    ...(await objectsOf(site, 'namespaces', '--field-selector', `metadata.name=${theirs}`)),
  };
}

async function specsNow(): Promise<unknown> {
  const configs = await Promise.all(site.workers.map((worker) => configOf(site, worker)));
  return configs.map(({ metadata: { labels, generation }, spec }) => ({
    labels,
    generation,
    spec,
  }));
}

beforeAll(async () => {
  site = await openSite('migrate', [{ name: 'worker-1' }, { name: 'worker-2' }]);
  await installController(site);
  for (const worker of site.workers) await applyNodeConfig(site, nodeConfigFor(worker));
  for (const worker of site.workers) await untilState(site, worker, 'Configured');
  tools = await mortalTools(join(site.directory, 'mortal'));
  monitor = new NicMonitor(site.workers);
  hosts = await hostsOf(site);
  installed = await theirObjects();
  specs = await specsNow();
});

afterAll(async () => {
  monitor?.[Symbol.dispose]();
  await site?.[Symbol.asyncDispose]();
});

function migrate(verb: 'check' | 'forward' | 'back', backup?: string, path?: string): Promise<Ran> {
  const folder = backup === undefined ? [] : ['--backup', join(site.directory, backup), '--yes'];
  return site.migrate([verb, '--half', 'agent', ...folder], path);
}

async function expectUntouched(): Promise<void> {
  expect(await specsNow()).toEqual(specs);
  expect(await hostsOf(site)).toEqual(hosts);
  expect(monitor.downs).toEqual([]);
}

/** Expects that MultiNIC manages the cluster, has sent this many agents, and that no legacy Job is left. */
async function expectOurs(agents: number): Promise<void> {
  for (const worker of site.workers) {
    const { metadata, status } = await configOf(site, worker);
    expect(metadata.finalizers).toEqual(['multinic.io/cleanup']);
    const conditions = (status?.['conditions'] ?? []) as Condition[];
    expect(findCondition(conditions, 'Ready')).toMatchObject({ status: 'True' });
  }
  await expectUntouched();
  expect(await agentsSent(site, ours)).toBe(agents);
  expect(await site.helm('list', '-n', theirs, '-q', '--filter', 'multinic')).toBe(
    'multinic-agent\n',
  );
  expect(await site.helm('get', 'manifest', 'multinic-agent', '-n', theirs)).toContain(
    'multinic-controllers:',
  );
  expect(await site.cluster.kubectl(['get', 'jobs', '-n', theirs, '-o', 'name'])).toBe('');
}

/** Expects the legacy system as installed, with this many legacy agents so far. */
async function expectTheirs(agents: number): Promise<void> {
  expect(await theirObjects()).toEqual(installed);
  for (const worker of site.workers) {
    await vi.waitFor(async () => {
      const { metadata, status } = await configOf(site, worker);
      expect(metadata.finalizers).toBeUndefined();
      expect(status).toMatchObject({ state: 'Configured', nodeReady: true });
    }, generous);
  }
  await expectUntouched();
  expect(await agentsSent(site, theirs)).toBe(agents);
}

/** Timeout for more than ten runs of the script. */
const patient = { timeout: 900_000 };

/** Runs the script repeatedly, killed at each new change, until a run succeeds; resolves to all output. */
async function killedEachTime(verb: 'forward' | 'back', backup: string): Promise<string[]> {
  await tools.dieAtEach();
  const said: string[] = [];
  while (said.length < 60) {
    const { code, stderr } = await migrate(verb, backup, tools.path);
    said.push(stderr);
    if (code === 0) return said;
    expect(`${code} ${stderr}`).toMatch(/^137 /);
  }
  throw new Error('it never comes through');
}

describe('migration of a business cluster', () => {
  it('check finds no obstacle and changes nothing', async () => {
    const { code, stdout, stderr } = await migrate('check');
    expect(stderr).toContain('no obstacle found');
    expect(code).toBe(0);
    expect(stdout).toContain('jobTtlSeconds: 3600');
    expect(await theirObjects()).toEqual(installed);
  });

  it('forward sends an agent to each node; no NIC goes down, and each address is replaced once', async () => {
    const { code, stderr } = await migrate('forward', 'first');
    expect(stderr).toContain('done: MultiNIC manages 2 node configs');
    expect(code).toBe(0);
    await expectOurs(2);
    // The kernel takes a changed noprefixroute with a new address only.
    expect(monitor.taken.toSorted()).toEqual(
      [0, 1].flatMap((n) => [11, 12].map((host) => `10.${n}.0.${host}/16`)),
    );
  });

  it('a second forward changes nothing', async () => {
    expect(await migrate('forward', 'first')).toMatchObject({ code: 0 });
    await expectOurs(2);
  });

  it('back refuses the backup of a different migration', async () => {
    const { code, stderr } = await migrate('back', 'another');
    expect(stderr).toMatch(
      /this cluster is being migrated with the backup .*first, not with .*another/,
    );
    expect(code).toBe(1);
    await expectOurs(2);
  });

  it('back restores the legacy system, and no agent runs', async () => {
    const { code, stderr } = await migrate('back', 'first');
    expect(stderr).toContain('done: the legacy controller manages this cluster again');
    expect(code).toBe(0);
    await expectTheirs(2);
  });

  it('forward refuses a backup that was used to go back', async () => {
    const { code, stderr } = await migrate('forward', 'first');
    expect(stderr).toContain('go forward with a new folder');
    expect(code).toBe(1);
  });

  it('forward completes although killed after every change', patient, async () => {
    const said = await killedEachTime('forward', 'second');
    expect(said.length).toBeGreaterThan(12);
    expect(said.join('')).toContain('an earlier helm run was interrupted (pending-install)');
    expect(await readdir(join(site.directory, 'second'))).toContain('complete');
    await expectOurs(4);
  });

  it('back completes although killed after every change', patient, async () => {
    expect((await killedEachTime('back', 'second')).length).toBeGreaterThan(10);
    await expectTheirs(2);
  });

  it.each([
    ['only the backup existed', / create configmap multinic-migration-agent /],
    ['half the legacy objects were removed', / delete ServiceAccount/],
    ['helm was running', /^middle .*takeOver=true/],
    ["MultiNIC's controller had just started", /^ .*upgrade .*takeOver=true/],
  ])('back undoes a forward that was killed when %s', async (backup, command) => {
    await tools.dieAt(command);
    expect(await migrate('forward', backup, tools.path)).toMatchObject({ code: 137 });
    expect(await migrate('back', backup)).toMatchObject({ code: 0 });
    await expectTheirs(2);
  });

  it('each address is replaced only once over all migrations', () => {
    expect(monitor.taken).toHaveLength(4);
  });
});
