import { afterEach, beforeEach, expect, it } from 'vitest';
import { BizSources, bizNode, statesOf, system } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { findCondition } from '../../api/condition.ts';
import { labels } from '../../api/names.ts';
import { nodeConfigs } from '../../viola/node-configs/node-config.ts';
import { applyMigration } from './apply.ts';
import { isStarted, revert } from './back.ts';
import { observe } from './observe.ts';
import { planOf } from './plan.ts';
import type { Run } from './run.ts';
import { findSource } from './source.ts';
import { verify } from './verify.ts';

const timeoutMs = 60_000;
let fixture: ControllerFixture;
let sources: BizSources;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  sources = new BizSources(fixture);
  for (const n of [1, 2]) await fixture.addNode(`w-${n}`, `i-${n}`);
  await sources.create('all', [bizNode(1, [1, 2]), bizNode(2, [1])]);
  fixture.run();
  await sources.untilCondition('all', 'Ready True AllNodesConfigured');
});

afterEach(() => fixture[Symbol.asyncDispose]());

async function source(name = 'all') {
  return findSource(fixture.admin, { namespace: system, name, group: undefined });
}

function progress(): void {}

/** Advances the controller's clock while a command runs. */
async function during<T>(command: (run: Run) => Promise<T>): Promise<T> {
  let isFinished = false;
  const { admin: client, clock } = fixture;
  const result = command({ client, clock, signal: new AbortController().signal, progress });
  const finished = result.finally(() => {
    isFinished = true;
  });
  await Promise.all([
    finished,
    fixture.eventually(
      () => isFinished,
      () => 'the command goes on',
    ),
  ]);
  return result;
}

const apply = async (name = 'all') => {
  const before = await source(name);
  return during((run) => applyMigration(run, before, { timeoutMs, keepDifferences: false }));
};

const back = async (name = 'all') => {
  const before = await source(name);
  return during((run) => revert(slowly(run), before, timeoutMs));
};

/** Returns a run with a pause after each write, until the controller is idle. */
function slowly(run: Run): Run {
  const client = new Proxy(run.client, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== 'function') return member;
      if (key !== 'patch') return member.bind(target) as unknown;
      return async (...args: Parameters<typeof target.patch>) => {
        const patched = await target.patch(...args);
        await fixture.pass(60);
        return patched;
      };
    },
  });
  return { ...run, client };
}

async function labelsOf(...names: readonly string[]) {
  const objects = await Promise.all(names.map((name) => fixture.get(name)));
  return objects.map(({ metadata }) => metadata.labels?.[labels.bizConfig]);
}

async function problems() {
  const current = await source();
  return verify(current, planOf(current, await observe(fixture.admin, current))).filter(
    ({ holds }) => !holds,
  );
}

it('migrate apply creates no agent Job, and the objects outlive their source', async () => {
  const jobs = fixture.created('jobs.batch');
  expect(await apply()).toMatchObject({ created: [], released: ['w-1', 'w-2'] });
  await fixture.pass(100);
  expect(await labelsOf('w-1', 'w-2')).toEqual([undefined, undefined]);
  expect(await problems()).toEqual([]);
  // The controller ignores edits in a migrated source.
  await sources.edit('all', [bizNode(1, [1])]);
  await fixture.pass(100);
  await sources.delete('all');
  await fixture.pass(100);
  for (const name of ['w-1', 'w-2']) await fixture.untilReady(name, 'True AllInterfacesConfigured');
  expect(fixture.created('jobs.batch')).toBe(jobs);
  expect((await fixture.get('w-1')).spec?.interfaces).toHaveLength(2);
});

it('migrate back creates no agent Job, and leaves a node Viola has written', async () => {
  await apply();
  const { spec } = await fixture.get('w-1');
  const [first] = spec?.interfaces ?? [];
  await fixture.apply('w-1', {
    ...spec,
    interfaces: [{ ...(first as object), mtu: 1400 }],
  } as never);
  await fixture.untilReady('w-1', 'True AllInterfacesConfigured');
  const jobs = fixture.created('jobs.batch');
  expect(await back()).toEqual({
    restored: ['w-2'],
    left: [{ node: 'w-1', writer: 'viola' }],
    isFollowed: true,
  });
  await fixture.pass(100);
  expect(await labelsOf('w-1', 'w-2')).toEqual([undefined, 'all']);
  expect(fixture.created('jobs.batch')).toBe(jobs);
  // The source controls w-2 again, but no longer w-1.
  await sources.edit('all', [bizNode(1, [1, 2]), bizNode(2, [1, 2])]);
  await fixture.until('w-2', (config) => config.spec?.interfaces?.length === 2);
  expect((await fixture.get('w-1')).spec?.interfaces).toHaveLength(1);
  expect(statesOf(await sources.untilCondition('all', 'Ready True AllNodesConfigured'))).toEqual([
    'w-1 Configured NodeConfigWins',
    'w-2 Configured',
  ]);
});

it('migrate apply creates an object missing before the migration, and Viola can take the object over', async () => {
  await sources.edit('all', [bizNode(1, [1, 2]), bizNode(2, [1]), bizNode(3, [1])], {
    annotations: { 'multinic.io/biz-config-mode': 'read-only' },
  });
  await fixture.addNode('w-3', 'i-3', '192.0.2.3');
  expect(await apply()).toMatchObject({ created: ['w-3'], released: ['w-1', 'w-2'] });
  await fixture.untilReady('w-3', 'True AllInterfacesConfigured');
  expect(await problems()).toEqual([]);
  const { spec } = await fixture.admin.get(nodeConfigs, { namespace: system, name: 'w-3' });
  const object = { metadata: { name: 'w-3', namespace: system }, spec };
  const same = { fieldManager: 'viola' };
  await expect(fixture.admin.apply(nodeConfigs, object, same)).resolves.toBeDefined();
});

it('migrate back holds removals when the source was edited after its mode was removed', async () => {
  const numbers = [3, 4, 5, 6, 7, 8];
  for (const n of numbers) await fixture.addNode(`w-${n}`, `i-${n}`, `192.0.2.${n}`);
  const entries = numbers.map((n) => bizNode(n, [1]));
  await sources.create('many', entries);
  await sources.untilCondition('many', 'Ready True AllNodesConfigured');
  await apply('many');
  // A writer replacing the whole object drops its annotations.
  await sources.edit('many', entries.slice(0, 1), {
    annotations: { 'multinic.io/biz-config-mode': null, 'multinic.io/biz-migration': null },
  });
  const followed = await sources.until(
    'many',
    ({ status }) => !findCondition(status?.conditions, 'ReadOnly'),
  );
  expect(followed.status?.nodeStatuses?.[0]?.message).toBe(
    'MultiNicNodeConfig w-3 no longer has the label multinic.io/biz-config: another writer took the object over, or it was migrated',
  );
  expect(await during(async (run) => isStarted(run, await source('many')))).toBe(true);
  expect((await back('many')).restored).toHaveLength(6);
  await sources.untilCondition('many', 'RemovalHeld True RemovalHeld');
  const names = numbers.map((n) => `w-${n}`);
  expect(await labelsOf(...names)).toEqual(names.map(() => 'many'));
  for (const name of names)
    expect((await fixture.get(name)).metadata.deletionTimestamp).toBeUndefined();
});
