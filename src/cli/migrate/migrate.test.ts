import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entry, MigrationFixture } from '../../../test/fixtures/migration.ts';
import { annotations, labels } from '../../api/names.ts';
import { bizConfigsIn } from '../../biz-config/biz-config.ts';
import { nodes } from '../../kube/core-resources.ts';
import { nodeConfigs } from '../../viola/node-configs/node-config.ts';
import { applyMigration, checkApply } from './apply.ts';
import { revert } from './back.ts';
import { observe } from './observe.ts';
import { planOf } from './plan.ts';
import { findSource, type Source } from './source.ts';
import { verify } from './verify.ts';

const timeoutMs = 20_000;
const options = { timeoutMs, keepDifferences: false };
let fixture: MigrationFixture;

beforeAll(async () => {
  fixture = await MigrationFixture.start();
});

afterAll(() => fixture[Symbol.asyncDispose]());

async function sourceIn(namespace: string): Promise<Source> {
  return findSource(fixture.admin, { namespace, name: 'all', group: undefined });
}

async function planIn(namespace: string) {
  const source = await sourceIn(namespace);
  return planOf(source, await observe(fixture.admin, source));
}

/** Applies a migration like the command. */
async function apply(namespace: string, killAt?: Parameters<MigrationFixture['run']>[1]) {
  return applyMigration(fixture.run(namespace, killAt), await sourceIn(namespace), options);
}

async function back(namespace: string, killAt?: Parameters<MigrationFixture['run']>[1]) {
  return revert(fixture.run(namespace, killAt), await sourceIn(namespace), timeoutMs);
}

/** Returns verify results for failing nodes. */
async function problemsIn(namespace: string) {
  const source = await sourceIn(namespace);
  const results = verify(source, await planIn(namespace));
  return results.filter(({ holds }) => !holds).map(({ node, message }) => `${node}: ${message}`);
}

/**
 * All write positions in a migration with four nodes and one missing object, each killed before and after the write.
 */
const kills = (writes: number) =>
  Array.from({ length: writes }, (_, n) => n + 1).flatMap((write) =>
    ['before', 'after'].map((phase) => ({ write, phase })),
  );

const four = [1, 2, 3, 4].map((n) => entry(n));
const threeExpanded = [0, 1, 2];

describe('migrate apply', () => {
  let reference: unknown;
  beforeAll(async () => {
    await fixture.source('apply', four, threeExpanded);
    await fixture.violaWrites('apply', 'worker-3');
    await apply('apply');
    reference = fixture.state('apply');
  });

  it('migrate apply removes labels, keeps manager biz-config, and adds neither finalizers nor owner references', () => {
    for (const { metadata } of fixture.objects('apply')) {
      expect(metadata.labels?.[labels.bizConfig]).toBeUndefined();
      expect(metadata.finalizers).toBeUndefined();
      expect(metadata).not.toHaveProperty('ownerReferences');
    }
    expect(fixture.objects('apply')).toHaveLength(4);
    expect(fixture.api.objects('jobs.batch')).toEqual([]);
  });

  it.each(kills(5))(
    'migrate apply reaches the same state when killed $phase write $write and run again',
    async ({ write, phase }) => {
      const namespace = `apply-${write}-${phase}`;
      await fixture.source(namespace, four, threeExpanded);
      await fixture.violaWrites(namespace, 'worker-3');
      await expect(apply(namespace, { write, phase })).rejects.toThrow('killed');
      await apply(namespace);
      expect(fixture.state(namespace)).toEqual(reference);
    },
  );

  it('a second migrate apply keeps the start time and writes nothing', async () => {
    const [source, objects] = [await sourceIn('apply'), fixture.objects('apply')];
    await apply('apply');
    const { metadata } = (await sourceIn('apply')).config;
    expect(metadata.annotations).toEqual(source.config.metadata.annotations);
    expect(fixture.objects('apply')).toEqual(objects);
  });

  it("migrate apply changes no node without the controller's confirmation", async () => {
    const namespace = 'unconfirmed';
    await fixture.source(namespace, four);
    fixture.isControllerUp = false;
    const early = applyMigration(fixture.run(namespace), await sourceIn(namespace), {
      ...options,
      timeoutMs: 30,
    });
    await expect(early).rejects.toThrow(/did not confirm[^]*Next: /);
    fixture.isControllerUp = true;
    expect((await planIn(namespace)).map(({ row }) => row.action)).toEqual(
      four.map(() => 'release'),
    );
  });

  it('migrate apply leaves an object another writer creates in the meantime', async () => {
    const namespace = 'raced';
    await fixture.source(namespace, four, threeExpanded);
    const run = fixture.run(namespace);
    const { client } = run;
    const racing = new Proxy(client, {
      get: (target, key) => {
        if (key !== 'apply')
          return (Reflect.get(target, key) as () => void).bind(target) as unknown;
        return async (...args: Parameters<typeof client.apply>) => {
          const metadata = { name: 'worker-4', namespace };
          await fixture.admin.create(nodeConfigs, { metadata, spec: { nodeName: 'worker-4' } });
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
    const { spec } = await fixture.admin.get(nodeConfigs, { namespace, name: 'worker-4' });
    expect(spec).toEqual({ nodeName: 'worker-4' });
  });

  it('migrate apply is refused while objects differ from their entries', async () => {
    const namespace = 'differs';
    await fixture.source(namespace, four);
    const changed = [entry(1, { interfaces: [] }), ...four.slice(1)];
    const ref = { namespace, name: 'all' };
    await fixture.admin.patch(bizConfigsIn('multinic.io'), ref, { spec: { nodeConfigs: changed } });
    const [source, plan] = [await sourceIn(namespace), await planIn(namespace)];
    expect(() => checkApply(source, plan, options)).toThrow('1 node differs');
    expect(() => checkApply(source, plan, { ...options, keepDifferences: true })).not.toThrow();
  });
});

describe('migrate back', () => {
  let reference: unknown;
  beforeAll(async () => {
    await fixture.source('back', four);
    await apply('back');
    await fixture.violaWrites('back', 'worker-2');
    const done = await back('back');
    expect(done).toMatchObject({
      restored: ['worker-1', 'worker-3', 'worker-4'],
      left: [{ node: 'worker-2', writer: 'viola' }],
      isFollowed: true,
    });
    reference = fixture.state('back');
  });

  it('migrate back restores mode and labels, except for a node Viola has written', async () => {
    const { metadata } = (await sourceIn('back')).config;
    expect(metadata.annotations ?? {}).toEqual({});
    const labelled = fixture
      .objects('back')
      .filter((object) => object.metadata.labels?.[labels.bizConfig]);
    expect(labelled.map((object) => object.metadata.name)).toEqual([
      'worker-1',
      'worker-3',
      'worker-4',
    ]);
  });

  it.each(kills(4))(
    'migrate back reaches the same state when killed $phase write $write and run again',
    async ({ write, phase }) => {
      const namespace = `back-${write}-${phase}`;
      await fixture.source(namespace, four);
      await apply(namespace);
      await fixture.violaWrites(namespace, 'worker-2');
      await expect(back(namespace, { write, phase })).rejects.toThrow('killed');
      await back(namespace);
      expect(fixture.state(namespace)).toEqual(reference);
    },
  );
});

describe('migrate verify', () => {
  it('migrate verify succeeds after a migration, also for created objects and objects Viola has written', async () => {
    const namespace = 'verified';
    await fixture.source(namespace, four, threeExpanded);
    await apply(namespace);
    await fixture.ready(namespace, 'worker-4', new Date().toISOString());
    await fixture.violaWrites(namespace, 'worker-2');
    expect(await problemsIn(namespace)).toEqual([]);
  });

  it.each<[string, RegExp, (namespace: string) => Promise<unknown>]>([
    [
      'a newer agent Job',
      /^worker-1: agent Job multinic-agent-1 of .* is newer than the migration/,
      (namespace) => fixture.ready(namespace, 'worker-1', '2100-01-01T00:00:00Z'),
    ],
    [
      'an object with Ready False',
      /^worker-1: Ready is False \(AgentFailed\): eth1/,
      async (namespace) => {
        const ready = { type: 'Ready', status: 'False', reason: 'AgentFailed', message: 'eth1' };
        const ref = { namespace, name: 'worker-1' };
        await fixture.admin.patchStatus(nodeConfigs, ref, { status: { conditions: [ready] } });
      },
    ],
    [
      'a deleted object',
      /^worker-1: there is no object: run apply again/,
      (namespace) => fixture.admin.delete(nodeConfigs, { namespace, name: 'worker-1' }),
    ],
    [
      'an object with its label',
      /^worker-1: the object still has label multinic.io\/biz-config: run apply again/,
      async (namespace) => {
        const ref = { namespace, name: 'worker-1' };
        await fixture.admin.patch(nodeConfigs, ref, {
          metadata: { labels: { [labels.bizConfig]: 'all' } },
        });
      },
    ],
    [
      'an edited entry',
      /^worker-1: the object \(1 NIC\) differs from the entry \(0 NICs\)/,
      async (namespace) => {
        const changed = [entry(1, { interfaces: [] }), entry(2)];
        const ref = { namespace, name: 'all' };
        await fixture.admin.patch(bizConfigsIn('multinic.io'), ref, {
          spec: { nodeConfigs: changed },
        });
      },
    ],
  ])('migrate verify reports %s', async (what, message, happens) => {
    const namespace = `verify-${what.replaceAll(' ', '-')}`.toLowerCase();
    await fixture.source(namespace, [entry(1), entry(2)]);
    // Objects created in the migration's first second count as created by the migration.
    fixture.wallOffsetMs = 2_000;
    await apply(namespace);
    fixture.wallOffsetMs = 0;
    await happens(namespace);
    const problems = await problemsIn(namespace);
    expect(problems).toEqual([expect.stringMatching(message)]);
  });

  it('migrate verify is refused before a migration', async () => {
    await fixture.source('not-migrated', [entry(1)]);
    await expect(problemsIn('not-migrated')).rejects.toThrow('is not migrated');
  });
});

describe('migrate plan', () => {
  it('migrate plan shows state, action and writer for each node', async () => {
    const namespace = 'planned';
    const badMtu = entry(6, { interfaces: [{ ...entry(6).interfaces?.[0], mtu: 9001 }] });
    await fixture.source(namespace, [...four, entry(5), badMtu, entry(7)], [0, 1, 2, 4, 6]);
    await fixture.admin.delete(nodes, { name: 'worker-5' });
    await fixture.violaWrites(namespace, 'worker-2');
    const foreign = { name: 'worker-3b', namespace, labels: { [labels.bizConfig]: 'all' } };
    const spec = { nodeName: 'worker-3b', instanceId: 'I-3' };
    await fixture.admin.create(nodeConfigs, { metadata: foreign, spec });
    const nodeConfigsLeft = [...four, entry(5), badMtu];
    const ref = { namespace, name: 'all' };
    const resource = bizConfigsIn('multinic.io');
    await fixture.admin.patch(resource, ref, { spec: { nodeConfigs: nodeConfigsLeft } });
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
    const notes = fixture.objects(namespace).map(({ metadata }) => metadata.annotations);
    expect(notes.filter((note) => note?.[annotations.bizMigration])).toEqual([]);
  });
});
