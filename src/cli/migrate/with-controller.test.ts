import { afterEach, beforeEach, expect, it } from 'vitest';
import { BizSources, bizNode, statesOf, system } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { findCondition } from '../../api/condition.ts';
import { labels } from '../../api/names.ts';
import { nodeConfigs } from '../../viola/node-config.ts';
import { applyMigration } from './apply.ts';
import { isStarted, revert } from './back.ts';
import { observe } from './observe.ts';
import { planOf } from './plan.ts';
import type { Run } from './run.ts';
import { findSource } from './source.ts';
import { verify } from './verify.ts';

const timeoutMs = 60_000;
let bed: ControllerFixture;
let sources: BizSources;

beforeEach(async () => {
  bed = await ControllerFixture.start();
  sources = new BizSources(bed);
  for (const n of [1, 2]) await bed.addNode(`w-${n}`, `i-${n}`);
  await sources.create('all', [bizNode(1, [1, 2]), bizNode(2, [1])]);
  bed.run();
  await sources.untilCondition('all', 'Ready True AllNodesConfigured');
});

afterEach(() => bed[Symbol.asyncDispose]());

async function source(name = 'all') {
  return findSource(bed.admin, { namespace: system, name, group: undefined });
}

function progress(): void {}

/** Lets time pass for the controller while a command runs. */
async function during<T>(command: (run: Run) => Promise<T>): Promise<T> {
  let isEnded = false;
  const { admin: client, clock } = bed;
  const ended = command({ client, clock, signal: new AbortController().signal, progress });
  const noted = ended.finally(() => {
    isEnded = true;
  });
  await Promise.all([
    noted,
    bed.eventually(
      () => isEnded,
      () => 'the command goes on',
    ),
  ]);
  return ended;
}

const apply = async (name = 'all') => {
  const before = await source(name);
  return during((run) => applyMigration(run, before, { timeoutMs, keepDifferences: false }));
};

const back = async (name = 'all') => {
  const before = await source(name);
  return during((run) => revert(slowly(run), before, timeoutMs));
};

/** A run after each of whose writes the controller comes to rest. */
function slowly(run: Run): Run {
  const client = new Proxy(run.client, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== 'function') return member;
      if (key !== 'patch') return member.bind(target) as unknown;
      return async (...args: Parameters<typeof target.patch>) => {
        const patched = await target.patch(...args);
        await bed.pass(60);
        return patched;
      };
    },
  });
  return { ...run, client };
}

async function labelsOf(...names: readonly string[]) {
  const objects = await Promise.all(names.map((name) => bed.get(name)));
  return objects.map(({ metadata }) => metadata.labels?.[labels.bizConfig]);
}

async function problems() {
  const now = await source();
  return verify(now, planOf(now, await observe(bed.admin, now))).filter(({ holds }) => !holds);
}

it('migrates without an agent Job, and the objects outlive their source', async () => {
  const jobs = bed.created('jobs.batch');
  expect(await apply()).toMatchObject({ created: [], released: ['w-1', 'w-2'] });
  await bed.pass(100);
  expect(await labelsOf('w-1', 'w-2')).toEqual([undefined, undefined]);
  expect(await problems()).toEqual([]);
  // The controller follows no edit of a migrated source.
  await sources.edit('all', [bizNode(1, [1])]);
  await bed.pass(100);
  await sources.delete('all');
  await bed.pass(100);
  for (const name of ['w-1', 'w-2']) await bed.untilReady(name, 'True AllInterfacesConfigured');
  expect(bed.created('jobs.batch')).toBe(jobs);
  expect((await bed.get('w-1')).spec?.interfaces).toHaveLength(2);
});

it('goes back without an agent Job, but for a node that Viola has written', async () => {
  await apply();
  const { spec } = await bed.get('w-1');
  const [first] = spec?.interfaces ?? [];
  await bed.apply('w-1', { ...spec, interfaces: [{ ...(first as object), mtu: 1400 }] } as never);
  await bed.untilReady('w-1', 'True AllInterfacesConfigured');
  const jobs = bed.created('jobs.batch');
  expect(await back()).toEqual({
    restored: ['w-2'],
    left: [{ node: 'w-1', writer: 'viola' }],
    isFollowed: true,
  });
  await bed.pass(100);
  expect(await labelsOf('w-1', 'w-2')).toEqual([undefined, 'all']);
  expect(bed.created('jobs.batch')).toBe(jobs);
  // The source decides about w-2 again, and about w-1 no more.
  await sources.edit('all', [bizNode(1, [1, 2]), bizNode(2, [1, 2])]);
  await bed.until('w-2', (config) => config.spec?.interfaces?.length === 2);
  expect((await bed.get('w-1')).spec?.interfaces).toHaveLength(1);
  expect(statesOf(await sources.untilCondition('all', 'Ready True AllNodesConfigured'))).toEqual([
    'w-1 Configured NodeConfigWins',
    'w-2 Configured',
  ]);
});

it('creates the object of a node that the expansion could not write, which Viola takes over', async () => {
  await sources.edit('all', [bizNode(1, [1, 2]), bizNode(2, [1]), bizNode(3, [1])], {
    annotations: { 'multinic.io/biz-config-mode': 'read-only' },
  });
  await bed.addNode('w-3', 'i-3', '192.0.2.3');
  expect(await apply()).toMatchObject({ created: ['w-3'], released: ['w-1', 'w-2'] });
  await bed.untilReady('w-3', 'True AllInterfacesConfigured');
  expect(await problems()).toEqual([]);
  const { spec } = await bed.admin.get(nodeConfigs, { namespace: system, name: 'w-3' });
  const object = { metadata: { name: 'w-3', namespace: system }, spec };
  const same = { fieldManager: 'viola' };
  await expect(bed.admin.apply(nodeConfigs, object, same)).resolves.toBeDefined();
});

it('holds removals on the way back when the mode was removed and the source edited meanwhile', async () => {
  const numbers = [3, 4, 5, 6, 7, 8];
  for (const n of numbers) await bed.addNode(`w-${n}`, `i-${n}`, `192.0.2.${n}`);
  const entries = numbers.map((n) => bizNode(n, [1]));
  await sources.create('many', entries);
  await sources.untilCondition('many', 'Ready True AllNodesConfigured');
  await apply('many');
  // A writer that replaces the whole object drops its annotations.
  await sources.edit('many', entries.slice(0, 1), {
    annotations: { 'multinic.io/biz-config-mode': null, 'multinic.io/biz-migration': null },
  });
  const followed = await sources.until(
    'many',
    ({ status }) => !findCondition(status?.conditions, 'ReadOnly'),
  );
  expect(followed.status?.nodeStatuses?.[0]?.message).toBe(
    'MultiNicNodeConfig w-3 has no label multinic.io/biz-config any more: another writer has taken it over, or it was migrated',
  );
  expect(await during(async (run) => isStarted(run, await source('many')))).toBe(true);
  expect((await back('many')).restored).toHaveLength(6);
  await sources.untilCondition('many', 'RemovalHeld True RemovalHeld');
  const names = numbers.map((n) => `w-${n}`);
  expect(await labelsOf(...names)).toEqual(names.map(() => 'many'));
  for (const name of names)
    expect((await bed.get(name)).metadata.deletionTimestamp).toBeUndefined();
});
