import { describe, expect, it } from 'vitest';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import type { OpenstackConfigStatus } from '../../../api/openstackconfig.ts';
import type { Port } from '../../../plan/observation.ts';
import type { NodePlan, Plan } from '../../../plan/plan.ts';
import type { StatusProblem } from '../../model/step-failure.ts';
import type { SyncResult } from '../result.ts';
import { isNews, statusAfter } from './status.ts';

const now = new Date('2026-01-02T03:04:05.678Z');

function node(nodeName: string): NodePlan {
  return {
    nodeName,
    instanceId: `server-${nodeName}`,
    action: 'none',
    base: null,
    interfaces: [{ id: 0, macAddress: 'fa:16:3e:00:00:01' }],
    removals: { confirmed: [], unconfirmed: [] },
    waiting: false,
    why: '',
  };
}

function held(nodeName: string, state: 'Configured' | 'Failed' | 'InProgress'): ExistingNodeConfig {
  const reason = state === 'Failed' ? 'JobFailed' : 'AllInterfacesConfigured';
  const conditions = [{ type: 'Ready', status: 'True' as const, reason }];
  return { nodeName, uid: 'u', generation: 1, spec: { nodeName }, status: { state, conditions } };
}

function result(change: Partial<SyncResult>): SyncResult {
  return {
    content: { plan: new WeakRef({} as Plan), unreadable: [], generation: 1 },
    nodes: [],
    summary: { servers: 1, nodes: 1, interfaces: 1, filteredPorts: 0 },
    ports: [],
    heldNics: [],
    duplicate: undefined,
    observation: { servers: [], missingServers: [], ports: [], subnets: [], networks: [] },
    held: [],
    heldRead: { at: now, ms: 0 },
    delivery: { accepted: [], removed: [], stale: [], waiting: [], failures: [] },
    unreadable: [],
    evidenceComplete: true,
    leaving: [],
    deliveredTo: [],
    retrying: new Set(),
    isOutage: false,
    reportsStatus: true,
    unverified: [],
    problems: [],
    ...change,
  };
}

function statusWith(
  synced: SyncResult,
  previous: OpenstackConfigStatus = {},
  problems: readonly StatusProblem[] = synced.problems,
): OpenstackConfigStatus {
  return statusAfter({
    ending: { kind: 'synced', sent: 0, problems, waiting: [], secretsInSpec: [], unverified: [] },
    completed: { synced, cluster: '', downPortFastRetryMax: 5 },
    previous,
    generation: 4,
    now,
    handled: {},
  });
}

describe('status.nodes', () => {
  it('status.nodes lists the worst nodes first, equal nodes by name', () => {
    const nodes = ['d', 'c', 'b', 'a', 'e'].map(node);
    const status = statusWith(
      result({
        nodes,
        held: [held('a', 'Configured'), held('b', 'InProgress'), held('c', 'Failed')],
        problems: [
          { reason: 'NameConflict', subject: 'node d', message: 'twice' } as StatusProblem,
        ],
      }),
    );
    expect(status.nodes?.map(({ name, state, reason }) => [name, state, reason])).toEqual([
      ['d', 'Pending', 'NameConflict'],
      ['c', 'Failed', 'JobFailed'],
      ['e', 'Pending', undefined],
      ['b', 'InProgress', 'AllInterfacesConfigured'],
      ['a', 'Configured', 'AllInterfacesConfigured'],
    ]);
  });

  it('status.nodes reports problems with the node, its server or one port of its server', () => {
    const nodes = ['d', 'c', 'b', 'a', 'e'].map(node);
    const failed = held('e', 'Failed');
    const conditions = [{ type: 'Ready', status: 'False' as const, reason: 'JobFailed' }];
    const withMessage = conditions.map((one) => ({ ...one, message: 'log in and look' }));
    const port = { id: 'p1', deviceId: 'server-b' } as Port;
    const status = statusWith(
      result({
        nodes,
        held: [
          held('a', 'Configured'),
          { ...failed, status: { ...failed.status, conditions: withMessage } },
        ],
        observation: { servers: [], missingServers: [], ports: [port], subnets: [], networks: [] },
        delivery: {
          ...result({}).delivery,
          failures: [
            {
              nodeName: 'c',
              reason: 'ViolaPostError',
              message: 'viola: no',
              retryAfterMs: undefined,
              kind: 'refused',
            },
          ],
        },
        problems: [
          { reason: 'NameConflict', subject: 'node d', message: 'twice' } as StatusProblem,
          { reason: 'NeutronPortError', subject: 'node d', message: 'later' } as StatusProblem,
          {
            reason: 'InvalidPort',
            subject: 'port p1',
            message: 'no MAC'.repeat(500),
          } as StatusProblem,
        ],
      }),
    );
    expect(status.nodes?.map(({ name, reason, message }) => [name, reason, message])).toEqual([
      ['b', 'InvalidPort', 'no MAC'.repeat(500).slice(0, 1_024)],
      ['c', 'ViolaPostError', 'viola: no'],
      ['d', 'NameConflict', 'twice'],
      ['e', 'JobFailed', 'log in and look'],
      ['a', 'AllInterfacesConfigured', undefined],
    ]);
  });

  it('status.nodes has at most twenty entries', () => {
    const nodes = Array.from({ length: 30 }, (_, n) => node(`n${n}`));
    expect(statusWith(result({ nodes })).nodes).toHaveLength(20);
  });
});

describe('status conditions', () => {
  it('conditions keep their lastTransitionTime while the status is unchanged', () => {
    const first = statusWith(result({}));
    const later = statusAfter({
      ending: {
        kind: 'synced',
        sent: 2,
        problems: [],
        waiting: [],
        secretsInSpec: [],
        unverified: [],
      },
      completed: { synced: result({}), cluster: '', downPortFastRetryMax: 5 },
      previous: first,
      generation: 5,
      now: new Date('2026-01-03T00:00:00Z'),
      handled: {},
    });
    const ready = later.conditions?.find(({ type }) => type === 'Ready');
    expect(ready).toEqual({
      type: 'Ready',
      status: 'True',
      reason: 'Synced',
      message: 'synced 2 nodes',
      observedGeneration: 5,
      lastTransitionTime: '2026-01-02T03:04:05Z',
    });
  });

  it('conditions list three problems and the number of further problems', () => {
    const problems = ['a', 'b', 'c', 'd', 'd'].map(
      (message) => ({ reason: 'NameConflict', message }) as const,
    );
    const status = statusWith(result({ problems }));
    expect(status.conditions?.[0]?.message).toBe('a; b; c; and 1 more');
    expect(status.lastError).toBe('a; b; c; and 1 more');
  });

  it('conditions list problems for the user before problems that end without user action', () => {
    const problems = [
      { reason: 'NeutronSubnetError', message: 'first' },
      { reason: 'NovaServerError', message: 'again' },
      { reason: 'ViolaPostError', message: 'later' },
      { reason: 'NameConflict', message: 'rename one' },
      { reason: 'RemovalHeld', message: 'agree' },
    ] as const;
    const status = statusWith(result({ problems }));
    expect(status.conditions?.[0]).toMatchObject({
      reason: 'NeutronSubnetError',
      message: 'first; agree; rename one; and 2 more',
    });
  });

  it('condition messages are cut at a whole character, because an API server would store a cut character differently', () => {
    const message = `${'x'.repeat(1_023)}🔌`;
    const { conditions = [], lastError } = statusWith(
      result({ problems: [{ reason: 'NameConflict', message }] }),
    );
    const texts = [...conditions.map((one) => one.message ?? ''), lastError ?? ''];
    expect(texts.filter((text) => !text.isWellFormed())).toEqual([]);
  });

  it('conditions drop a previous Paused condition', () => {
    const previous: OpenstackConfigStatus = {
      conditions: [{ type: 'Paused', status: 'True', reason: 'Paused', message: '' }],
    };
    const types = statusWith(result({}), previous).conditions?.map(({ type }) => type);
    expect(types).toEqual([
      'Ready',
      'Degraded',
      'CredentialsValid',
      'InventoryComplete',
      'Delivered',
    ]);
  });
});

describe('isNews', () => {
  const status = statusWith(result({}));

  it('isNews is true for changed content, and for unchanged content after ten minutes', () => {
    expect(isNews(status, status)).toBe(false);
    expect(isNews({ ...status, lastError: 'x' }, status)).toBe(true);
    expect(isNews({ ...status, lastSyncedAt: '2026-01-02T03:14:04Z' }, status)).toBe(false);
    expect(isNews({ ...status, lastSyncedAt: '2026-01-02T03:14:05Z' }, status)).toBe(true);
    // A clock that was set back.
    expect(isNews({ ...status, lastSyncedAt: '2026-01-02T00:00:00Z' }, status)).toBe(true);
    expect(isNews(status, {})).toBe(true);
  });
});

it('lastSyncedAt changes only when a sync ends with Ready True', () => {
  const before = '2026-01-01T00:00:00Z';
  const problem = { reason: 'NeutronPortError', message: 'no ports' } as const;
  const failed = statusWith(result({}), { lastSyncedAt: before }, [problem]);
  expect(failed.lastSyncedAt).toBe(before);
  expect(statusWith(result({}), { lastSyncedAt: before }).lastSyncedAt).toBe(
    '2026-01-02T03:04:05Z',
  );
});
