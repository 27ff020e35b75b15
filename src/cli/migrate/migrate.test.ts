import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entry, MigrationFixture } from '../../../test/fixtures/migration.ts';
import { annotations, labels } from '../../api/names.ts';
import { bizConfigsIn } from '../../biz-config/biz-config.ts';
import { nodes } from '../../kube/core-resources.ts';
import { nodeConfigs } from '../../viola/node-config.ts';
import { applyMigration, checkApply } from './apply.ts';
import { revert } from './back.ts';
import { observe } from './observe.ts';
import { planOf } from './plan.ts';
import { findSource, type Source } from './source.ts';
import { verify } from './verify.ts';

const timeoutMs = 20_000;
const options = { timeoutMs, keepDifferences: false };
let bed: MigrationFixture;

beforeAll(async () => {
  bed = await MigrationFixture.start();
});

afterAll(() => bed[Symbol.asyncDispose]());

async function sourceIn(namespace: string): Promise<Source> {
  return findSource(bed.admin, { namespace, name: 'all', group: undefined });
}

async function planIn(namespace: string) {
  const source = await sourceIn(namespace);
  return planOf(source, await observe(bed.admin, source));
}

/** Starts a migration as the command does. */
async function apply(namespace: string, killAt?: Parameters<MigrationFixture['run']>[1]) {
  return applyMigration(bed.run(namespace, killAt), await sourceIn(namespace), options);
}

async function back(namespace: string, killAt?: Parameters<MigrationFixture['run']>[1]) {
  return revert(bed.run(namespace, killAt), await sourceIn(namespace), timeoutMs);
}

/** Nodes of `verify` that do not hold. */
async function problemsIn(namespace: string) {
  const source = await sourceIn(namespace);
  const results = verify(source, await planIn(namespace));
  return results.filter(({ holds }) => !holds).map(({ node, message }) => `${node}: ${message}`);
}

/** Every write of a migration of four nodes with one missing object, and the way in which it fails. */
const kills = (writes: number) =>
  Array.from({ length: writes }, (_, n) => n + 1).flatMap((write) =>
    ['before', 'after'].map((phase) => ({ write, phase })),
  );

const four = [1, 2, 3, 4].map((n) => entry(n));
const threeExpanded = [0, 1, 2];

describe('apply', () => {
  let reference: unknown;
  beforeAll(async () => {
    await bed.source('apply', four, threeExpanded);
    await bed.violaWrites('apply', 'worker-3');
    await apply('apply');
    reference = bed.state('apply');
  });

  it('removes the labels, keeps manager biz-config, and adds no finalizer and no owner', () => {
    for (const { metadata } of bed.objects('apply')) {
      expect(metadata.labels?.[labels.bizConfig]).toBeUndefined();
      expect(metadata.finalizers).toBeUndefined();
      expect(metadata).not.toHaveProperty('ownerReferences');
    }
    expect(bed.objects('apply')).toHaveLength(4);
    expect(bed.api.objects('jobs.batch')).toEqual([]);
  });

  it.each(kills(5))(
    'ends in the same state when it is killed $phase write $write and run again',
    async ({ write, phase }) => {
      const namespace = `apply-${write}-${phase}`;
      await bed.source(namespace, four, threeExpanded);
      await bed.violaWrites(namespace, 'worker-3');
      await expect(apply(namespace, { write, phase })).rejects.toThrow('killed');
      await apply(namespace);
      expect(bed.state(namespace)).toEqual(reference);
    },
  );

  it('keeps the start time when it is run again, and writes nothing then', async () => {
    const [source, objects] = [await sourceIn('apply'), bed.objects('apply')];
    await apply('apply');
    const { metadata } = (await sourceIn('apply')).config;
    expect(metadata.annotations).toEqual(source.config.metadata.annotations);
    expect(bed.objects('apply')).toEqual(objects);
  });

  it('changes no node while the controller does not confirm', async () => {
    const namespace = 'unconfirmed';
    await bed.source(namespace, four);
    bed.isControllerUp = false;
    const early = applyMigration(bed.run(namespace), await sourceIn(namespace), {
      ...options,
      timeoutMs: 30,
    });
    await expect(early).rejects.toThrow(/did not confirm[^]*Next: /);
    bed.isControllerUp = true;
    expect((await planIn(namespace)).map(({ row }) => row.action)).toEqual(
      four.map(() => 'release'),
    );
  });

  it('leaves the object that another writer creates in the meantime', async () => {
    const namespace = 'raced';
    await bed.source(namespace, four, threeExpanded);
    const run = bed.run(namespace);
    const { client } = run;
    const racing = new Proxy(client, {
      get: (target, key) => {
        if (key !== 'apply')
          return (Reflect.get(target, key) as () => void).bind(target) as unknown;
        return async (...args: Parameters<typeof client.apply>) => {
          const metadata = { name: 'worker-4', namespace };
          await bed.admin.create(nodeConfigs, { metadata, spec: { nodeName: 'worker-4' } });
          return client.apply(...args);
        };
      },
    });
    const done = await applyMigration(
      { ...run, client: racing },
      await sourceIn(namespace),
      options,
    );
    expect(done).toMatchObject({ created: [], existing: ['worker-4'] });
    const { spec } = await bed.admin.get(nodeConfigs, { namespace, name: 'worker-4' });
    expect(spec).toEqual({ nodeName: 'worker-4' });
  });

  it('is refused while objects differ from their entries', async () => {
    const namespace = 'differs';
    await bed.source(namespace, four);
    const changed = [entry(1, { interfaces: [] }), ...four.slice(1)];
    const ref = { namespace, name: 'all' };
    await bed.admin.patch(bizConfigsIn('multinic.io'), ref, { spec: { nodeConfigs: changed } });
    const [source, plan] = [await sourceIn(namespace), await planIn(namespace)];
    expect(() => checkApply(source, plan, options)).toThrow('1 node differs');
    expect(() => checkApply(source, plan, { ...options, keepDifferences: true })).not.toThrow();
  });
});

describe('back', () => {
  let reference: unknown;
  beforeAll(async () => {
    await bed.source('back', four);
    await apply('back');
    await bed.violaWrites('back', 'worker-2');
    const done = await back('back');
    expect(done).toMatchObject({
      restored: ['worker-1', 'worker-3', 'worker-4'],
      left: [{ node: 'worker-2', writer: 'viola' }],
      isFollowed: true,
    });
    reference = bed.state('back');
  });

  it('restores labels and mode, but not those of a node that Viola has written', async () => {
    const { metadata } = (await sourceIn('back')).config;
    expect(metadata.annotations ?? {}).toEqual({});
    const labelled = bed
      .objects('back')
      .filter((object) => object.metadata.labels?.[labels.bizConfig]);
    expect(labelled.map((object) => object.metadata.name)).toEqual([
      'worker-1',
      'worker-3',
      'worker-4',
    ]);
  });

  it.each(kills(4))(
    'ends in the same state when it is killed $phase write $write and run again',
    async ({ write, phase }) => {
      const namespace = `back-${write}-${phase}`;
      await bed.source(namespace, four);
      await apply(namespace);
      await bed.violaWrites(namespace, 'worker-2');
      await expect(back(namespace, { write, phase })).rejects.toThrow('killed');
      await back(namespace);
      expect(bed.state(namespace)).toEqual(reference);
    },
  );
});

describe('verify', () => {
  it('holds after a migration, also for objects that it created and that Viola has written', async () => {
    const namespace = 'verified';
    await bed.source(namespace, four, threeExpanded);
    await apply(namespace);
    await bed.ready(namespace, 'worker-4', new Date().toISOString());
    await bed.violaWrites(namespace, 'worker-2');
    expect(await problemsIn(namespace)).toEqual([]);
  });

  it.each<[string, RegExp, (namespace: string) => Promise<unknown>]>([
    [
      'a newer agent Job',
      /^worker-1: agent Job multinic-agent-1 of .* is newer than the migration/,
      (namespace) => bed.ready(namespace, 'worker-1', '2100-01-01T00:00:00Z'),
    ],
    [
      'an object that is not Ready',
      /^worker-1: Ready is False \(AgentFailed\): eth1/,
      async (namespace) => {
        const ready = { type: 'Ready', status: 'False', reason: 'AgentFailed', message: 'eth1' };
        const ref = { namespace, name: 'worker-1' };
        await bed.admin.patchStatus(nodeConfigs, ref, { status: { conditions: [ready] } });
      },
    ],
    [
      'an object that is gone',
      /^worker-1: there is no object: run apply again/,
      (namespace) => bed.admin.delete(nodeConfigs, { namespace, name: 'worker-1' }),
    ],
    [
      'an object with its label',
      /^worker-1: the object has its label still: run apply again/,
      async (namespace) => {
        const ref = { namespace, name: 'worker-1' };
        await bed.admin.patch(nodeConfigs, ref, {
          metadata: { labels: { [labels.bizConfig]: 'all' } },
        });
      },
    ],
    [
      'an entry that was edited',
      /^worker-1: the object has 1 NIC, the entry 0 NICs/,
      async (namespace) => {
        const changed = [entry(1, { interfaces: [] }), entry(2)];
        const ref = { namespace, name: 'all' };
        await bed.admin.patch(bizConfigsIn('multinic.io'), ref, { spec: { nodeConfigs: changed } });
      },
    ],
  ])('lists %s', async (what, message, happens) => {
    const namespace = `verify-${what.replaceAll(' ', '-')}`.toLowerCase();
    await bed.source(namespace, [entry(1), entry(2)]);
    // Objects of the second in which a migration starts count as created by it.
    bed.wallOffsetMs = 2_000;
    await apply(namespace);
    bed.wallOffsetMs = 0;
    await happens(namespace);
    const problems = await problemsIn(namespace);
    expect(problems).toEqual([expect.stringMatching(message)]);
  });

  it('is refused before a migration', async () => {
    await bed.source('not-migrated', [entry(1)]);
    await expect(problemsIn('not-migrated')).rejects.toThrow('is not migrated');
  });
});

describe('plan', () => {
  it('shows of each node its state, its action and its writer', async () => {
    const namespace = 'planned';
    const badMtu = entry(6, { interfaces: [{ ...entry(6).interfaces?.[0], mtu: 9001 }] });
    await bed.source(namespace, [...four, entry(5), badMtu, entry(7)], [0, 1, 2, 4, 6]);
    await bed.admin.delete(nodes, { name: 'worker-5' });
    await bed.violaWrites(namespace, 'worker-2');
    const foreign = { name: 'worker-3b', namespace, labels: { [labels.bizConfig]: 'all' } };
    const spec = { nodeName: 'worker-3b', instanceId: 'I-3' };
    await bed.admin.create(nodeConfigs, { metadata: foreign, spec });
    const nodeConfigsLeft = [...four, entry(5), badMtu];
    const ref = { namespace, name: 'all' };
    const resource = bizConfigsIn('multinic.io');
    await bed.admin.patch(resource, ref, { spec: { nodeConfigs: nodeConfigsLeft } });
    const rows = (await planIn(namespace)).map(({ row }) => row);
    expect(rows.map(({ node, state, action, writer }) => [node, state, action, writer])).toEqual([
      ['worker-1', 'same', 'release', 'biz-config'],
      ['worker-2', 'conflict', 'release', 'viola'],
      ['worker-3', 'conflict', 'release', 'biz-config'],
      ['worker-4', 'missing', 'create', ''],
      ['worker-5', 'noNode', 'release', 'biz-config'],
      ['worker-6', 'refused', 'none', ''],
      ['worker-7', 'differs', 'release', 'biz-config'],
    ]);
    expect(rows[2]?.message).toContain('worker-3 and worker-3b');
    expect(rows[5]).toMatchObject({ field: 'interfaces[0].mtu' });
    const notes = bed.objects(namespace).map(({ metadata }) => metadata.annotations);
    expect(notes.filter((note) => note?.[annotations.bizMigration])).toEqual([]);
  });
});
