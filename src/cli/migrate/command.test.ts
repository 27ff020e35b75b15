import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { startApiServer } from '../../../rig/apiserver/server.ts';
import { entry, MigrationFixture } from '../../../test/fixtures/migration.ts';
import { crdDefinitions } from '../../api/crd/definition.ts';
import { annotations } from '../../api/names.ts';
import { bizConfigsIn } from '../../biz-config/biz-config.ts';
import { createKubeClient } from '../../kube/client/http-client.ts';
import { namespaces } from '../../kube/core-resources.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { systemClock } from '../../time/clock.ts';
import { nodeConfigs } from '../../viola/node-configs/node-config.ts';
import { cliMain } from '../main-cli.ts';

let fixture: MigrationFixture;
let folder = '';
let lines: { readonly out: string[]; readonly err: string[] };
const output = () => [...lines.out, ...lines.err].join('\n');

beforeAll(async () => {
  fixture = await MigrationFixture.start();
  folder = await mkdtemp(join(tmpdir(), 'migrate-'));
  await writeFile(join(folder, 'config'), await fixture.api.kubeconfig());
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

beforeEach(() => {
  lines = { out: [], err: [] };
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.out.push(line));
  vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.err.push(line));
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Runs the command in a namespace; returns the exit status. */
async function run(verb: string, namespace: string, ...argv: readonly string[]): Promise<number> {
  const access = ['--kubeconfig', join(folder, 'config'), '-n', namespace];
  return cliMain('migrate', ['biz-config', verb, 'all', ...access, ...argv]);
}

/** Confirms source modes like the controller while a command runs. */
async function whileControllerRuns(namespace: string, command: Promise<number>): Promise<number> {
  const confirming = setInterval(() => void fixture.confirm(namespace), 50);
  return command.finally(() => clearInterval(confirming));
}

it('migrate moves a source to one object per node, and back reverts the migration', async () => {
  const namespace = 'moved';
  await fixture.source(namespace, [entry(1), entry(2)]);
  const requests = fixture.api.audit.length;
  expect(await run('plan', namespace)).toBe(4);
  const verbs = fixture.api.audit.slice(requests).map(({ verb }) => verb);
  expect(verbs.filter((verb) => !['get', 'list'].includes(verb))).toEqual([]);
  expect(lines.out.join('\n')).toMatch(/^worker-1 +worker-1 +same +release +biz-config +-$/m);
  expect(lines.out.join('\n')).toContain('2 nodes (2 same); migration not started.');
  const applied = await whileControllerRuns(namespace, run('apply', namespace, '--yes'));
  expect(applied, output()).toBe(0);
  expect(output()).toContain('Created 0 objects, removed the label of 2 objects.');
  expect(output()).toContain("in the operator's LEGACY_TAKE_OVER");
  expect(output()).toContain(
    `4. kubectl -n ${namespace} delete multinicbizconfigs.multinic.io all`,
  );
  expect(await run('plan', namespace)).toBe(0);
  expect(await run('verify', namespace), output()).toBe(0);
  expect(output()).toContain('2 of 2 nodes verified.');
  expect(await whileControllerRuns(namespace, run('back', namespace, '--yes'))).toBe(0);
  expect(output()).toContain('Restored the label of 2 objects');
  expect(await run('back', namespace, '--yes')).toBe(0);
  expect(output()).toContain('is not migrated: there is nothing to do.');
});

it('migrate verify lists failing nodes with exit status 1, and plan prints JSON, YAML and Korean', async () => {
  const namespace = 'reported';
  await fixture.source(namespace, [entry(1), entry(2)]);
  await whileControllerRuns(namespace, run('apply', namespace, '--yes'));
  await fixture.admin.delete(nodeConfigs, { namespace, name: 'worker-2' });
  expect(await run('verify', namespace)).toBe(1);
  expect(output()).toMatch(/^worker-2 +- +- +there is no object: run apply again$/m);
  lines.out.length = 0;
  expect(await run('plan', namespace, '-o', 'json')).toBe(4);
  expect(JSON.parse(lines.out.join(''))).toMatchObject({
    apiVersion: 'report.multinic.io/v1',
    kind: 'BizConfigMigrationPlan',
    items: [
      { node: 'worker-1', state: 'same' },
      { node: 'worker-2', state: 'missing', action: 'create' },
    ],
    findings: [{ node: 'worker-2' }],
    skipped: [],
  });
  lines.out.length = 0;
  expect(await run('plan', namespace, '-o', 'yaml')).toBe(4);
  expect(parse(lines.out.join(''))).toMatchObject({ findings: [{ node: 'worker-2' }] });
  lines.out.length = 0;
  expect(await run('plan', namespace, '--lang', 'ko')).toBe(4);
  expect(output()).toMatch(/: 노드 2개 \(1 same, 1 missing\); 마이그레이션 시작 시각 20/);
});

it('migrate apply stops on Ctrl-C and continues when run again', async () => {
  const namespace = 'interrupted';
  await fixture.source(namespace, [entry(1)]);
  const status = run('apply', namespace, '--yes');
  await vi.waitFor(() => expect(output()).toContain('waiting until the controller confirms'));
  process.emit('SIGINT');
  expect(await status).toBe(1);
  expect(output()).toContain('Next: run the command again');
  expect(await whileControllerRuns(namespace, run('apply', namespace, '--yes'))).toBe(0);
});

it('migrate apply migrates the other nodes when the API server refuses one object', async () => {
  const namespace = 'one-refused';
  await fixture.source(namespace, [entry(1), entry(2), entry(3)], [2]);
  const resource = 'multinicnodeconfigs.multinic.io';
  fixture.api.faults.answer({ verb: 'patch', resource, name: 'worker-1', status: 422 });
  expect(await whileControllerRuns(namespace, run('apply', namespace, '--yes'))).toBe(1);
  expect(output()).toContain('Created 1 object, removed the label of 1 object.');
  expect(output()).toMatch(/^worker-1: the API server refused its object: .*; correct this/m);
  expect(await whileControllerRuns(namespace, run('apply', namespace, '--yes'))).toBe(0);
  expect(fixture.objects(namespace)).toHaveLength(3);
});

it('migrate back names nodes losing NICs when the source was edited', async () => {
  const namespace = 'edited';
  const entries = [1, 2, 3, 4].map((n) => entry(n));
  await fixture.source(namespace, entries);
  await whileControllerRuns(namespace, run('apply', namespace, '--yes'));
  await fixture.violaWrites(namespace, 'worker-4');
  const nodeConfigsNow = [entry(1), entry(2, { interfaces: [] })];
  const ref = { namespace, name: 'all' };
  await fixture.admin.patch(bizConfigsIn('multinic.io'), ref, {
    spec: { nodeConfigs: nodeConfigsNow },
  });
  expect(await run('back', namespace)).toBe(3);
  expect(output()).toContain(
    `2 nodes differ from multinicbizconfigs.multinic.io ${namespace}/all: after "back", the controller changes or removes NICs of worker-2, worker-3.`,
  );
});

it('migrate plan reports Nodes as skipped when the user may not list Nodes', async () => {
  const namespace = 'no-nodes';
  await fixture.source(namespace, [entry(1)]);
  fixture.api.faults.answer({ verb: 'list', resource: 'nodes', status: 403, reason: 'Forbidden' });
  expect(await run('plan', namespace)).toBe(4);
  expect(output()).toMatch(/^worker-1 +worker-1 +same/m);
  expect(output()).toContain('Skipped nodes: the user may not list Nodes');
});

it.each([
  ['an invalid timeout duration', ['--timeout', 'long'], '--timeout "long" is not a duration'],
  ['a run without a terminal', [], 'give --yes, or run plan to see each node'],
])('migrate apply changes nothing after %s', async (what, argv, message) => {
  const namespace = what.replaceAll(' ', '-');
  await fixture.source(namespace, [entry(1)]);
  expect(await run('apply', namespace, ...argv)).toBe(3);
  expect(output()).toContain(message);
  expect(output()).toContain('Next: ');
  const [source] = fixture.api.objects('multinicbizconfigs.multinic.io', namespace);
  expect(source?.metadata.annotations?.[annotations.bizMigration]).toBeUndefined();
});

it('migrate plan, verify and apply refuse an unreadable source and name the field', async () => {
  const crds = Object.values(crdDefinitions()).map(withLooseSpec);
  await using other = await startApiServer({ crds });
  const path = join(folder, 'loose');
  await writeFile(path, await other.kubeconfig());
  const client = createKubeClient(other.access, { clock: systemClock });
  const ref = { namespace: 'loose', name: 'all' };
  await client.create(namespaces, { metadata: { name: ref.namespace } });
  const raw: Resource<KubeObject> = {
    ...bizConfigsIn('multinic.io'),
    parse: (read) => read as KubeObject,
  };
  await client.create(raw, { metadata: ref, spec: { nodeConfigs: 'x' } } as KubeObject);
  for (const verb of ['plan', 'verify', 'apply']) {
    expect(await run(verb, 'loose', '--kubeconfig', path)).toBe(3);
  }
  expect(output()).toContain('cannot be read: ✖ Invalid input: expected array');
  await client[Symbol.asyncDispose]();
});

/** Returns a definition that accepts any spec. */
function withLooseSpec(crd: ReturnType<typeof crdDefinitions>[string]) {
  const text = JSON.stringify(crd, (key, value: unknown) =>
    key === 'spec' && Object.hasOwn(value as object, 'properties')
      ? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
      : value,
  );
  return JSON.parse(text) as object;
}

it('migrate plan requires --group when both groups contain the name', async () => {
  const namespace = 'both';
  await fixture.source(namespace, [entry(1)]);
  await fixture.source(namespace, [entry(1)], [], 'multinic.okestro.io');
  expect(await run('plan', namespace)).toBe(3);
  expect(output()).toContain('choose one with --group multinic.io or --group multinic.okestro.io');
  expect(await run('plan', namespace, '--group', 'multinic.io')).toBe(4);
  expect(await run('plan', namespace, '--group', 'multinic.okestro.io')).toBe(4);
});

it.each([
  ['an unknown group', ['--group', 'example.com'], 2],
  ['a namespace without the source', [], 3],
])('migrate plan exits with the documented status for %s', async (_what, argv, status) => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  expect(await run('plan', 'nowhere', ...argv)).toBe(status);
});

it('migrate plan names missing definitions when the cluster lacks the kind', async () => {
  const crds = Object.values(crdDefinitions()).filter(
    ({ spec }) => spec.names.kind === 'MultiNicNodeConfig',
  );
  await using other = await startApiServer({ crds });
  const path = join(folder, 'other');
  await writeFile(path, await other.kubeconfig());
  expect(await run('plan', 'moved', '--kubeconfig', path)).toBe(3);
  expect(output()).toContain('does not serve MultiNicBizConfigs of multinic.io or');
});
