import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  applyConfig,
  attach,
  installLegacy,
  openPlace,
  type Place,
  register,
} from '../../fixtures/migrate/management.ts';
import {
  configOf,
  generous,
  nicsOf,
  objectsOf,
  rightsMissed,
  rightsUsed,
} from '../../fixtures/migrate/observed.ts';
import type { Ran, Worker } from '../../fixtures/migrate/site.ts';
import { NicMonitor } from '../../fixtures/nic-monitor.ts';

let place: Place;
let monitor: NicMonitor;
let installed: unknown;
/** An administrator with this name, visible in the audit log. */
let administrator: string;
/** Assigned NIC names by MAC, for each worker. */
const names = new Map<Worker, Record<string, string>>();

/** All objects of the legacy operator and Viola, and the specs of OpenstackConfigs. */
async function theirObjects(): Promise<unknown> {
  const { site } = place;
  const kinds = 'deployments,serviceaccounts,services,roles,rolebindings,configmaps';
  const all = await Promise.all([
    objectsOf(site, kinds, '-n', 'multinic-operator-system'),
    objectsOf(site, 'deployments,services,serviceaccounts', '-n', 'multinic-system'),
    objectsOf(site, 'openstackconfigs', '-n', 'multinic-system'),
    objectsOf(site, 'clusterroles,clusterrolebindings'),
  ]);
  return all.map((one) =>
    Object.fromEntries(
      Object.entries(one).filter(
        ([name]) => !/multinic-agent|multinic-controller|\/system:|\/default$|kube-root/.test(name),
      ),
    ),
  );
}

async function namesOn({ host }: Worker): Promise<Record<string, string>> {
  const nics = Object.entries(await nicsOf(host)) as [
    string,
    { ifname: string; addresses: string[] },
  ][];
  return Object.fromEntries(
    nics.flatMap(([mac, { ifname, addresses }]) =>
      /^multinic\d$/.test(ifname) && addresses.length > 0 ? [[mac, ifname]] : [],
    ),
  );
}

/** Attaches a port with this MAC and expects the NIC name; all earlier NICs keep their names. */
async function expectArrives(worker: Worker, mac: string, name: string): Promise<void> {
  await attach(place, worker, mac);
  const expected = { ...names.get(worker), [mac]: name };
  await vi.waitFor(async () => expect(await namesOn(worker)).toEqual(expected), generous);
  names.set(worker, expected);
}

async function expectNamesKept(): Promise<void> {
  for (const [worker, expected] of names) expect(await namesOn(worker)).toEqual(expected);
  expect(monitor.downs).toEqual([]);
}

/** The simulated cloud runs on this machine. */
const chartValues = [
  '--set=operator.persistence.enabled=false',
  '--set=operator.settings.allowedEndpoints={http://127.0.0.1:*,*}',
];

async function migrate(
  verb: 'check' | 'forward' | 'back',
  backup?: string,
  ...more: string[]
): Promise<Ran> {
  const folder =
    backup === undefined ? [] : ['--backup', join(place.site.directory, backup), '--yes'];
  const legacy = verb === 'forward' ? ['--legacy-from', '127.0.0.0/8'] : [];
  const values = verb === 'back' ? [] : ['--', ...chartValues];
  const way = [verb, '--half', 'operator', ...folder, ...legacy, ...more, ...values];
  const ran = await place.site.migrate(way, '', administrator);
  for (const text of [ran.stdout, ran.stderr]) expectNoSecrets(text);
  return ran;
}

function osc(verb: string): string[] {
  return ['-n', 'multinic-system', verb, 'openstackconfig'];
}

/** violaEndpoint in all OpenstackConfigs. */
const violas = 'jsonpath={.items[*].spec.settings.violaEndpoint}';

/** Keys and tokens are for files that only their owner reads. */
function expectNoSecrets(text: string): void {
  const key = place.cloud.encryptKey;
  expect(text).not.toContain(key);
  expect(text).not.toContain(Buffer.from(key).toString('base64'));
  expect(text).not.toMatch(/eyJhbGciOi|BEGIN [A-Z ]*PRIVATE KEY/);
}

async function ready(name: string): Promise<string> {
  const path = "jsonpath={.status.conditions[?(@.type=='Ready')].status}";
  return place.site.cluster.kubectl([
    '-n',
    'multinic-system',
    'get',
    'openstackconfig',
    name,
    '-o',
    path,
  ]);
}

/** Expects names in the order of these MACs in the worker's object, and the same observed generation. */
async function expectAsked(worker: Worker, ends: readonly string[]): Promise<void> {
  await vi.waitFor(async () => {
    const { metadata, spec, status } = await configOf(place.site, worker);
    const asked = spec.interfaces?.map(({ name, macAddress }) => [name, macAddress?.slice(-2)]);
    expect(asked?.toSorted()).toEqual(ends.map((end, i) => [`multinic${i}`, end]));
    expect(status).toMatchObject({ observedGeneration: metadata.generation, state: 'Configured' });
  }, generous);
}

/** Field managers of the spec in the worker's object. */
async function writersOf(worker: Worker): Promise<string[]> {
  const { metadata } = await configOf(place.site, worker);
  const { managedFields = [] } = metadata as {
    managedFields?: { manager: string; subresource?: string }[];
  };
  return managedFields.flatMap(({ manager, subresource }) => (subresource ? [] : [manager]));
}

beforeAll(async () => {
  place = await openPlace('management');
  administrator = await place.site.cluster.userKubeconfig('migrator', ['system:masters']);
  await installLegacy(place);
  const { workers } = place.site;
  await applyConfig(
    place,
    'nodes',
    workers.map(({ systemUuid }) => systemUuid),
  );
  await applyConfig(place, 'idle', [place.idleServer], {
    violaEndpoint: 'http://viola.example.com',
    openstackInsecureTLS: true,
  });
  monitor = new NicMonitor(workers);
  for (const [i, worker] of workers.entries()) {
    names.set(worker, {});
    await expectArrives(worker, `fa:16:3e:00:0${i}:20`, 'multinic0');
  }
  await vi.waitFor(async () => expect(await ready('idle')).toBe('True'), generous);
  installed = await theirObjects();
});

afterAll(async () => {
  monitor?.[Symbol.dispose]();
  await place?.[Symbol.asyncDispose]();
});

describe('migration of a management cluster', () => {
  it('check reports an unregistered business cluster', async () => {
    const { code, stdout, stderr } = await migrate('check');
    expect(code).toBe(1);
    expect(stderr).toMatch(/\[clusters\] these business clusters are not registered.*\n {6}biz\n/);
    expect(stderr).toContain(
      'CONTRABASS_TIMEOUT=0s is no valid value for operator.settings.contrabassTimeout',
    );
    expect(stdout).toContain('    pollFastInterval: "5s"\n');
    expect(stdout).toContain('    openstackPortAllowedStatuses: ["ACTIVE", "DOWN"]\n');
    expect(stdout).toContain(
      '    contrabassEncryptKey: {name: operator-secret, key: CONTRABASS_ENCRYPT_KEY}\n',
    );
    expect(stderr).toContain(
      'POLL_ERROR_INTERVAL is in Secret operator-secret/POLL_ERROR_INTERVAL',
    );
  });

  it('check reports a missing registration for one of two business clusters', async () => {
    await register(place);
    await applyConfig(place, 'second', [crypto.randomUUID(), 'by name'], {}, 'b.z');
    const { code, stderr } = await migrate('check');
    expect(code).toBe(1);
    expect(stderr).toContain('second has "by name" in vmNames, a name without NICs so far');
    expect(stderr).not.toContain('[configs]');
    expect(stderr).toMatch(
      /\[clusters\] these business clusters are not registered.*\n {6}b\.z\n {6}Next/,
    );
    await place.site.cluster.kubectl([...osc('delete'), 'second']);
  });

  it('check finds no obstacle when both clusters are registered', async () => {
    const { code, stderr } = await migrate('check');
    expect(stderr).toContain('no obstacle found');
    expect(code).toBe(0);
    expect(await theirObjects()).toEqual(installed);
  });

  it("forward --step viola lets the legacy operator send to MultiNIC's Viola", async () => {
    const { code, stderr } = await migrate('forward', 'first', '--step', 'viola');
    expect(stderr).toContain("done: the legacy operator sends to MultiNIC's Viola");
    expect(code).toBe(0);
    const values = await readFile(join(place.site.directory, 'first', 'values.yaml'), 'utf8');
    expect(values).toContain('insecureTlsEndpoints: ["*"]');
    expect(values).toMatch(/legacyTakeOver: \[.*multinic-system.*\]/);
    const [first] = place.site.workers;
    if (!first) throw new Error('there is no worker');
    await expectArrives(first, 'fa:16:3e:00:00:30', 'multinic1');
    expect(await writersOf(first)).toContain('viola');
    await expectNamesKept();
    await applyConfig(place, 'late', [crypto.randomUUID()], { violaEndpoint: 'http://late' });
  });

  it('forward lets our operator take over, and NICs keep their names in any MAC order', async () => {
    const { code, stderr } = await migrate('forward', 'first', '--step', 'operator');
    expect(stderr).toContain('done: MultiNIC manages 3 OpenstackConfigs');
    expect(code).toBe(0);
    await expectNamesKept();
    expect(await place.site.cluster.kubectl([...osc('get'), '-o', violas])).toBe('');
    await place.site.cluster.kubectl([...osc('delete'), 'late']);
    const [first, second] = place.site.workers;
    if (!first || !second) throw new Error('there is no worker');
    await expectArrives(first, 'fa:16:3e:00:00:10', 'multinic2');
    await expectArrives(second, 'fa:16:3e:00:01:30', 'multinic1');
    const left = await place.site.cluster.kubectl(['get', 'deployments', '-A', '-o', 'name']);
    expect(left.trim().split('\n').toSorted()).toEqual([
      'deployment.apps/multinic-agent-controller',
      'deployment.apps/multinic-operator-controller-manager',
      'deployment.apps/viola-api',
    ]);
  });

  it('back refuses when the legacy operator would rename NICs', async () => {
    const { code, stderr } = await migrate('back', 'first');
    expect(code).toBe(1);
    expect(stderr).toContain('biz: worker-1: multinic2 would be multinic0 (MAC fa:16:3e:00:00:10)');
    expect(stderr).not.toContain('worker-2');
  });

  it('back restores the legacy operator and Viola, and other NICs stay', async () => {
    const { code, stderr } = await migrate('back', 'first', '--accept', 'numbers');
    expect(stderr).toContain('done: the legacy operator manages this cluster again');
    expect(code).toBe(0);
    expect(await theirObjects()).toEqual(installed);
    const [first, second] = place.site.workers;
    if (!first || !second) throw new Error('there is no worker');
    await expectArrives(second, 'fa:16:3e:00:01:40', 'multinic2');
    await expectAsked(first, ['10', '20', '30']);
    expect(await namesOn(first)).toEqual(names.get(first));
  });

  it('forward in one step takes over changes that the legacy Viola wrote meanwhile', async () => {
    const { code, stderr } = await migrate('forward', 'second');
    expect(stderr).toContain('done: MultiNIC manages 2 OpenstackConfigs');
    expect(code).toBe(0);
    const [, second] = place.site.workers;
    if (!second) throw new Error('there is no worker');
    await expectArrives(second, 'fa:16:3e:00:01:50', 'multinic3');
    for (const [worker, expected] of names) expect(await namesOn(worker)).toEqual(expected);
  });

  it('check verifies every right that the migration uses', async () => {
    const { cluster } = place.site;
    const kubeconfig = await cluster.userKubeconfig('viewer');
    const role = ['clusterrolebinding', 'viewer', '--clusterrole=view', '--user=viewer'];
    await cluster.kubectl(['create', ...role]);
    const { stderr } = await place.site.migrate(['check', '--half', 'operator'], '', kubeconfig);
    const missed = rightsMissed(stderr);
    const used = await rightsUsed(place.site, 'migrator');
    expect(used.length).toBeGreaterThan(20);
    expect(used.filter((right) => !missed.includes(right))).toEqual([]);
  });
});
