import { describe, expect, it } from 'vitest';
import { bizNode, system } from '../../../test/fixtures/biz-samples.ts';
import { readBizConfig } from '../../biz-config/biz-config.ts';
import { KubeError } from '../../kube/errors.ts';
import { readNodeConfig } from '../objects/stores.ts';
import { carryOut } from './carry-out.ts';
import type { Observed } from './holders.ts';
import type { LiveObjects, Ownership, Written } from './live-objects.ts';
import { Ownerships } from './ownerships.ts';
import { type ExpansionPlan, planExpansion } from './plan.ts';

const { signal } = new AbortController();

function observed(count: number): Observed {
  const nodeConfigs = Array.from({ length: count }, (_, n) => bizNode(n, []));
  return {
    source: readBizConfig({ metadata: { name: 'all', namespace: system }, spec: { nodeConfigs } }),
    marks: { group: 'multinic.io', name: 'all', uid: 'u', generation: 1 },
    labelled: [],
    find: () => [],
    isForeign: () => false,
  };
}

interface Answers {
  readonly apply?: (name: string) => Written;
  readonly ownership?: Ownership;
}

/** Carries out a plan with `count` writes; returns the written names. */
async function run(
  count: number,
  { apply = () => ({ kind: 'done' }), ownership = 'own' }: Answers = {},
) {
  const written: string[] = [];
  const source = observed(count);
  const live = {
    apply: async ({ metadata }) => {
      written.push(metadata.name);
      await Promise.resolve();
      return apply(metadata.name);
    },
    ownership: async () => ownership,
  } satisfies Partial<LiveObjects> as unknown as LiveObjects;
  const ownerships = new Ownerships();
  const context = { live, ownerships, observed: source, defersRemovals: false, signal };
  const done = carryOut(changing(planExpansion(source, new Date())), context);
  return { written, done };
}

/** Marks every object as existing and changed: only then can another manager own a field. */
function changing(plan: ExpansionPlan): ExpansionPlan {
  const object = readNodeConfig({ metadata: { name: 'w', namespace: system }, spec: {} });
  const nodes = plan.nodes.map((node) =>
    node.step.kind === 'write'
      ? { ...node, step: { kind: 'write' as const, write: { ...node.step.write, object } } }
      : node,
  );
  return { ...plan, nodes };
}

const refuseFirst = (name: string): Written =>
  Number(name.slice(2)) < 300 ? { kind: 'refused', message: 'no' } : { kind: 'done' };

const isSecond = (name: string) => name === 'w-1';

describe('carryOut', () => {
  it('carryOut makes 200 writes per reconcile, leaving the rest to see a newer edit or mode', async () => {
    const { written, done } = await run(450);
    const { againInMs, open } = await done;
    expect([againInMs, open.size]).toEqual([0, 250]);
    expect(written).toHaveLength(200);
  });

  it('carryOut continues with other nodes when the first 300 writes are refused', async () => {
    const { written, done } = await run(450, { apply: refuseFirst });
    const { againInMs, failures } = await done;
    expect([againInMs, failures.size]).toEqual([60_000, 300]);
    expect(written).toHaveLength(450);
  });

  it.each<[string, Answers, object]>([
    [
      'continues when the API server refuses one node',
      { apply: (name) => (isSecond(name) ? { kind: 'refused', message: 'no' } : { kind: 'done' }) },
      { failures: new Map([[1, 'no']]), againInMs: 60_000 },
    ],
    [
      'reports a failure for a node whose label another manager owns',
      {
        apply: (name) => (isSecond(name) ? { kind: 'contested', message: 'no' } : { kind: 'done' }),
      },
      { failures: new Map([[1, 'no']]), againInMs: 60_000 },
    ],
    [
      'requests a new plan when another writer took a node over',
      {
        apply: (name) => (isSecond(name) ? { kind: 'contested', message: 'no' } : { kind: 'done' }),
        ownership: 'foreign',
      },
      { failures: new Map(), open: new Set([1]), againInMs: 0 },
    ],
    [
      'retries a moved object after the cache caught up',
      { apply: (name) => (isSecond(name) ? { kind: 'moved' } : { kind: 'done' }) },
      { failures: new Map(), open: new Set([1]), againInMs: 1_000 },
    ],
  ])('carryOut %s', async (_what, answers, wanted) => {
    const { written, done } = await run(4, answers);
    expect(await done).toMatchObject(wanted);
    expect(written).toHaveLength(4);
  });

  it('carryOut rejects when the API server is unreachable, without trying every node', async () => {
    const away = new KubeError({ status: 0, reason: 'Unreachable', message: 'away' });
    const apply = (): never => {
      throw away;
    };
    const { written, done } = await run(100, { apply });
    await expect(done).rejects.toBe(away);
    expect(written.length).toBeLessThan(20);
  });
});
