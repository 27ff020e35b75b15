import { describe, expect, it, vi } from 'vitest';
import type { PostedNode } from '../../../api/node-configs-http.ts';
import type { KeptNic, NodePlan, Removal } from '../../../plan/plan.ts';
import { createPerform } from '../../../process/effects.ts';
import { RequestError } from '../../../requests/request-error.ts';
import { FakeViola } from '../../testing/fake-viola.ts';
import { nativeAbilities } from './abilities.ts';
import { deliver } from './deliver.ts';

const { signal } = new AbortController();
const source = { namespace: 'ns', name: 'osc', uid: 'u', generation: 1 };
const perform = createPerform<string>(() => undefined);
const onUnanswered = (): void => undefined;
const options = { source, perform, onUnanswered, manualRemovals: new Set<string>() };

function plan(nodeName: string, change: Partial<NodePlan> = {}): NodePlan {
  return {
    nodeName,
    instanceId: `server-${nodeName}`,
    action: 'post',
    base: null,
    interfaces: [],
    removals: { confirmed: [], unconfirmed: [] },
    waiting: false,
    why: '',
    ...change,
  };
}

function plans(count: number, change: Partial<NodePlan> = {}): NodePlan[] {
  return Array.from({ length: count }, (_, n) => plan(`n${n}`, change));
}

function mac(n: number): string {
  return `fa:16:3e:00:00:0${n}`;
}

type Bases = readonly Removal['basis'][];

/** Returns a node that loses one NIC per basis; the controller keeps the NICs of `kept`. */
function losing(bases: Bases, kept: Bases | undefined, change: Partial<NodePlan>): NodePlan {
  const confirmed = bases.map((basis, n): Removal => {
    return {
      name: `multinic${n}`,
      portId: `p${n}`,
      macAddress: mac(n).toUpperCase(),
      cause: 'portGone',
      basis,
    };
  });
  const keptNics = kept?.map((basis, n) => ({ macAddress: mac(5 + n), basis }) as KeptNic);
  const base = { uid: 'u', generation: 1 };
  const removals = { confirmed, unconfirmed: [] };
  return plan('n1', { base, removals, ...(keptNics && { keptNics }), ...change });
}

/** Asymmetric matcher with the type of its place. */
const textWith = (text: string): string => expect.stringContaining(text) as string;

describe('basis of removals', () => {
  it.each<
    [bases: Bases, kept: Bases | undefined, proven: string[], consented: string[], allowed: boolean]
  >([
    [['evidence'], undefined, [mac(0)], [], false],
    [['consent', 'evidence'], undefined, [mac(1)], [mac(0)], true],
    [['consent', 'named'], undefined, [], [mac(0)], false],
    [['named'], undefined, [], [], false],
    [['consent'], ['evidence', 'consent'], [mac(5)], [mac(0), mac(6)], true],
    [['consent'], ['sideEffect'], [], [mac(0)], false],
  ])('a POST for removals %j and kept NICs %j', async (bases, kept, proven, consented, allowed) => {
    const viola = new FakeViola();
    await deliver([losing(bases, kept, {})], { ...options, viola }, signal);
    const [sent] = viola.posts[0] ?? [];
    expect(sent?.removals).toEqual({ proven, consented });
    expect(sent?.removalsAllowed ?? false).toBe(allowed);
  });

  it('a POST without a leaving NIC carries no removals, except for a consent to unnamed NICs', async () => {
    const viola = new FakeViola();
    const nodes = [losing([], undefined, {}), losing([], [], { removalsAllowed: true })];
    await deliver(nodes, { ...options, viola }, signal);
    expect(
      viola.posts[0]?.map(({ removals, removalsAllowed }) => [removals, removalsAllowed]),
    ).toEqual([
      [undefined, undefined],
      [{ proven: [], consented: [] }, true],
    ]);
  });

  it.each<[bases: Bases, change: Partial<NodePlan>, basis: string]>([
    [['evidence', 'evidence'], {}, 'evidence'],
    [['evidence', 'consent'], {}, 'consent'],
    [['consent', 'named'], {}, 'named'],
    [[], {}, 'named'],
    [['named'], { deleteBasis: 'consent' }, 'consent'],
  ])('a DELETE for removals %j and %j has basis %s', async (bases, change, basis) => {
    const viola = new FakeViola();
    const node = losing(bases, undefined, { action: 'delete', ...change });
    await deliver([node], { ...options, viola }, signal);
    expect(viola.bases).toEqual([`n1 ${basis}`]);
  });
});

describe('deliver', () => {
  it('deliver posts only changed nodes, at most 100 per request', async () => {
    const viola = new FakeViola();
    const nodes = [...plans(250), plan('idle', { action: 'none' })];
    const { accepted } = await deliver(nodes, { ...options, viola }, signal);
    expect(viola.posts.map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(accepted).toHaveLength(250);
  });

  it('deliver posts fewer nodes per request when nodes are large', async () => {
    const viola = new FakeViola();
    const routes = Array.from({ length: 2_000 }, () => ({ to: '10.0.0.0/8', via: '10.255.255.1' }));
    const interfaces = [{ macAddress: 'fa:16:3e:00:00:01', routes }];
    await deliver(plans(50, { interfaces }), { ...options, viola }, signal);
    expect(viola.posts.length).toBeGreaterThan(1);
    for (const post of viola.posts)
      expect(JSON.stringify(post).length).toBeLessThan(4 * 1024 * 1024);
  });

  it.each(['unreachable', 'timeout', 'rateLimited'] as const)(
    'deliver sends at most four requests for 1,000 nodes when Viola is down (%s)',
    async (kind) => {
      const viola = new FakeViola();
      let requests = 0;
      const down = new RequestError('down', {
        service: 'viola',
        kind,
        retryAfterMs: 9_000,
      });
      const dead = {
        abilities: nativeAbilities,
        post: async () => {
          requests += 1;
          throw down;
        },
        remove: async () => viola.remove('x', null),
      };
      const nodes = [...plans(1_000), plan('gone', { action: 'delete' })];
      const { failures } = await deliver(nodes, { ...options, viola: dead }, signal);
      expect(requests).toBeLessThanOrEqual(4);
      expect(failures).toHaveLength(1_001);
      expect(failures[0]).toEqual({
        nodeName: 'n0',
        reason: 'ViolaPostError',
        message: 'ViolaUnavailable: viola: down',
        retryAfterMs: 9_000,
        kind: 'outage',
      });
      expect(viola.removals).toEqual([]);
    },
  );

  it('deliver sorts refused nodes into stale, waiting and failed nodes', async () => {
    const viola = new FakeViola();
    viola.refused.set('n0', 'StaleBase').set('n1', 'Deleting').set('n2', 'Invalid');
    viola.refused.set('n4', 'ClusterUnreachable').set('n5', 'Internal');
    const outcome = await deliver(plans(6), { ...options, viola }, signal);
    expect(outcome).toMatchObject({
      accepted: [{ nodeName: 'n3' }],
      stale: ['n0'],
      waiting: ['n1'],
      failures: [
        {
          nodeName: 'n2',
          message: 'NodeRefused: viola: node n2: Invalid: refused',
          kind: 'refused',
        },
        { nodeName: 'n4', message: textWith('ClusterUnreachable: '), kind: 'outage' },
        { nodeName: 'n5', message: textWith('ViolaUnavailable: '), kind: 'refused' },
      ],
    });
  });

  it('deliver posts the remaining nodes when one request fails with 502', async () => {
    const viola = new FakeViola();
    let posts = 0;
    const flaky = {
      abilities: nativeAbilities,
      post: async (nodes: readonly PostedNode[]) => {
        posts += 1;
        if (posts > 1) return viola.post(nodes);
        const details = { service: 'viola', kind: 'serverError', status: 502 } as const;
        throw new RequestError('unexpected status 502', details);
      },
      remove: async () => 'gone' as const,
    };
    const { accepted, failures } = await deliver(
      plans(1_000),
      { ...options, viola: flaky },
      signal,
    );
    expect([posts, accepted.length, failures.length]).toEqual([10, 900, 100]);
  });

  it('deliver halves a request, down to one node, when Viola answers 413', async () => {
    const viola = new FakeViola();
    const narrow = {
      abilities: nativeAbilities,
      post: async (nodes: readonly PostedNode[]) => {
        const tooMuch = nodes.length > 3 || nodes.some(({ nodeName }) => nodeName === 'n7');
        if (!tooMuch) return viola.post(nodes);
        const details = { service: 'viola', kind: 'tooLarge', status: 413 } as const;
        throw new RequestError('unexpected status 413', details);
      },
      remove: async () => 'gone' as const,
    };
    const { accepted, failures } = await deliver(plans(20), { ...options, viola: narrow }, signal);
    expect([accepted.length, failures.map(({ nodeName }) => nodeName)]).toEqual([19, ['n7']]);
  });

  it("deliver reports a failure for a node missing from Viola's answer", async () => {
    const silent = {
      abilities: nativeAbilities,
      post: async () => ({ applied: 0, results: [], errors: [] }),
      remove: async () => 'gone' as const,
    };
    const unanswered = vi.fn();
    const silently = { ...options, viola: silent, onUnanswered: unanswered };
    const { failures } = await deliver([plan('n0')], silently, signal);
    expect(failures[0]?.message).toBe('viola: node n0 is missing from the answer of Viola');
    expect(unanswered).toHaveBeenCalledOnce();
  });

  it('deliver counts a missing node as removed and a changed node as waiting', async () => {
    const viola = new FakeViola();
    viola.put({ nodeName: 'n1', uid: 'u', generation: 2, spec: { nodeName: 'n1' } });
    const base = { uid: 'u', generation: 1 };
    const nodes = plans(2, { action: 'delete', base });
    const outcome = await deliver(nodes, { ...options, viola }, signal);
    expect(outcome).toMatchObject({ removed: ['n0'], waiting: ['n1'], failures: [] });
  });

  it('deliver rejects when its signal is aborted', async () => {
    const stopped = AbortSignal.abort(new Error('stopped'));
    const stopping = { ...options, viola: new FakeViola() };
    await expect(deliver(plans(1), stopping, stopped)).rejects.toThrow('stopped');
  });
});
