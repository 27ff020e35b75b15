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

/** Carries a plan of so many creations out, and answers what was written. */
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
  const context = { live, ownerships: new Ownerships(), observed: source, signal };
  const done = carryOut(changing(planExpansion(source)), context);
  return { written, done };
}

/** The plan as if each object existed and were changed: only then another manager can own a field. */
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

describe('a plan', () => {
  it('of many writes is carried out in parts: an edit or a mode that comes meanwhile counts', async () => {
    const { written, done } = await run(450);
    const { againInMs, open } = await done;
    expect([againInMs, open.size]).toEqual([0, 250]);
    expect(written).toHaveLength(200);
  });

  it('whose first 300 writes are refused is carried out for the other nodes', async () => {
    const { written, done } = await run(450, { apply: refuseFirst });
    const { againInMs, failures } = await done;
    expect([againInMs, failures.size]).toEqual([60_000, 300]);
    expect(written).toHaveLength(450);
  });

  it.each<[string, Answers, object]>([
    [
      'that the API server refuses for one node fails there, and goes on',
      { apply: (name) => (isSecond(name) ? { kind: 'refused', message: 'no' } : { kind: 'done' }) },
      { failures: new Map([[1, 'no']]), againInMs: 60_000 },
    ],
    [
      'with a label that another manager owns fails there',
      {
        apply: (name) => (isSecond(name) ? { kind: 'contested', message: 'no' } : { kind: 'done' }),
      },
      { failures: new Map([[1, 'no']]), againInMs: 60_000 },
    ],
    [
      'for a node that another writer took over is made again',
      {
        apply: (name) => (isSecond(name) ? { kind: 'contested', message: 'no' } : { kind: 'done' }),
        ownership: 'foreign',
      },
      { failures: new Map(), open: new Set([1]), againInMs: 0 },
    ],
    [
      'for an object that has moved is made again when the cache has followed',
      { apply: (name) => (isSecond(name) ? { kind: 'moved' } : { kind: 'done' }) },
      { failures: new Map(), open: new Set([1]), againInMs: 1_000 },
    ],
  ])('%s', async (_what, answers, wanted) => {
    const { written, done } = await run(4, answers);
    expect(await done).toMatchObject(wanted);
    expect(written).toHaveLength(4);
  });

  it('ends when the API server is away, before it has tried every node', async () => {
    const away = new KubeError({ status: 0, reason: 'Unreachable', message: 'away' });
    const apply = (): never => {
      throw away;
    };
    const { written, done } = await run(100, { apply });
    await expect(done).rejects.toBe(away);
    expect(written.length).toBeLessThan(20);
  });
});
