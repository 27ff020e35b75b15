import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Condition } from '../../../api/condition.ts';
import type { OpenstackConfigSpec } from '../../../api/openstackconfig.ts';
import type { OperatorReason } from '../../../api/reasons.ts';
import { RequestError } from '../../../requests/request-error.ts';
import { legacyAbilities } from '../../clusters/deliver/abilities.ts';
import {
  attach,
  attachOverlapping,
  delivered,
  detach,
  environment,
  type Scene,
  setScene,
  spec,
} from '../../testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

/** Object state as computed by a kstatus-only observer. */
type Progress = 'Current' | 'Reconciling' | 'Stalled';

interface Row {
  /** Condition type with this reason (default: Ready). */
  readonly type?: Condition['type'];
  readonly progress: Progress;
  /** Whether a sync has completed all steps, now or before: the last summary stays. */
  readonly summed: boolean;
  /** Node in `status.nodes` with this reason. */
  readonly node?: string;
  readonly trigger: () => Promise<void>;
}

const created = (change: Partial<OpenstackConfigSpec>) => async (): Promise<void> => {
  attach(scene.cloud, 1, 1);
  attach(scene.cloud, 2, 2);
  scene.create(change);
  await scene.look();
};

/** Delivers without problems, then runs `happening` and syncs. */
const then = (happening: () => void) => async (): Promise<void> => {
  await delivered(scene);
  happening();
  await scene.look();
};

function changePort(id: string, change: object): void {
  scene.cloud.ports = scene.cloud.ports.map((port) =>
    port.id === id ? { ...port, ...change } : port,
  );
}

function rename(at: number, name: string): void {
  scene.cloud.vms = scene.cloud.vms.map((vm, n) => (n === at ? { ...vm, name } : vm));
}

/** Reports a state for all nodes in the business cluster. */
function report(state: 'Configured' | 'Failed'): void {
  for (const node of scene.viola.nodes.values()) {
    scene.viola.put({ ...node, status: { state, observedGeneration: node.generation } });
  }
}

/** Other tests cause the remaining reasons; test/repo/reasons.test.ts demands a test for each. */
const rows: Readonly<Partial<Record<OperatorReason, Row>>> = {
  Synced: { progress: 'Current', summed: true, trigger: async () => delivered(scene) },
  NoChange: { progress: 'Current', summed: true, trigger: then(() => undefined) },
  Healthy: { type: 'Delivered', progress: 'Current', summed: true, trigger: then(() => undefined) },
  Error: {
    type: 'Degraded',
    progress: 'Reconciling',
    summed: true,
    trigger: then(() => scene.cloud.fail('portsOf', 'serverError')),
  },
  ConfigError: {
    progress: 'Stalled',
    summed: false,
    trigger: created({ settings: { addressFamilies: [] } }),
  },
  SubnetRequired: { progress: 'Stalled', summed: false, trigger: created({ subnetIDs: [] }) },
  PolicyDenied: {
    progress: 'Stalled',
    summed: false,
    trigger: created({ settings: { contrabassEndpoint: 'http://169.254.169.254' } }),
  },
  ContrabassError: {
    progress: 'Reconciling',
    summed: true,
    trigger: then(() => {
      const details = { service: 'contrabass', kind: 'notFound', status: 404 } as const;
      scene.clouds.provided = new RequestError('unexpected status 404', details);
    }),
  },
  KeystoneError: {
    progress: 'Reconciling',
    summed: true,
    trigger: then(() => scene.cloud.fail('portsOf', 'unauthorized', 'keystone')),
  },
  NeutronEndpointError: {
    progress: 'Reconciling',
    summed: true,
    trigger: then(() => scene.cloud.fail('portsOf', 'noEndpoint')),
  },
  NeutronPortError: {
    progress: 'Reconciling',
    summed: true,
    trigger: then(() => scene.cloud.fail('portsOf', 'serverError')),
  },
  NeutronSubnetError: {
    progress: 'Reconciling',
    summed: true,
    trigger: then(() => scene.cloud.fail('subnet', 'serverError')),
  },
  SubnetNotFound: {
    progress: 'Reconciling',
    summed: true,
    trigger: created({ subnetIDs: ['sub-a', 'sub-x'] }),
  },
  SubnetNotUnique: {
    progress: 'Reconciling',
    summed: false,
    trigger: async () => {
      scene.cloud.subnets = scene.cloud.subnets.map((subnet) => ({ ...subnet, name: 'same' }));
      await created({ subnetIDs: [], subnetName: 'same' })();
    },
  },
  NovaServerError: {
    progress: 'Reconciling',
    summed: true,
    trigger: then(() => scene.cloud.fail('servers', 'serverError')),
  },
  ServerNotFound: {
    progress: 'Reconciling',
    summed: true,
    trigger: created({ vmNames: [...(spec.vmNames ?? []), '9'.repeat(8)] }),
  },
  ServerNotUnique: {
    progress: 'Reconciling',
    summed: true,
    trigger: async () => {
      for (const at of [1, 2]) rename(at, 'twin');
      await created({ vmNames: ['worker-1', 'twin'] })();
    },
  },
  InterfaceLimitExceeded: {
    progress: 'Reconciling',
    summed: true,
    node: 'worker-1',
    trigger: async () => {
      attach(scene.cloud, 3, 1);
      await created({ settings: { maxInterfaces: 1 } })();
    },
  },
  InvalidPort: {
    progress: 'Reconciling',
    summed: true,
    node: 'worker-1',
    trigger: then(() => {
      attach(scene.cloud, 3, 1);
      changePort('p3', { macAddress: 'fa:16:3e:00:00:01' });
    }),
  },
  SubnetOverlapsCluster: {
    progress: 'Stalled',
    summed: true,
    node: 'worker-1',
    trigger: then(() => attachOverlapping(scene, 3, 1)),
  },
  InvalidNodeName: {
    progress: 'Reconciling',
    summed: true,
    node: 'not a name',
    trigger: async () => {
      rename(0, 'not a name');
      await created({})();
    },
  },
  NameConflict: {
    progress: 'Reconciling',
    summed: true,
    node: 'twin',
    trigger: async () => {
      for (const at of [0, 1]) rename(at, 'twin');
      await created({})();
    },
  },
  RemovalUnconfirmed: {
    progress: 'Reconciling',
    summed: true,
    node: 'worker-1',
    trigger: then(() => scene.cloud.hidden.add('p1')),
  },
  RemovalHeld: {
    progress: 'Reconciling',
    summed: true,
    trigger: async () => {
      for (let n = 3; n <= 12; n++) attach(scene.cloud, n, (n % 2) + 1);
      await delivered(scene);
      scene.edit({ subnetIDs: ['sub-b'] });
      await scene.look();
    },
  },
  ViolaPostError: {
    progress: 'Reconciling',
    summed: true,
    node: 'worker-1',
    trigger: async () => {
      scene.viola.refused.set('worker-1', 'FieldConflict');
      await delivered(scene);
    },
  },
  SecretInSpec: {
    type: 'CredentialsValid',
    progress: 'Current',
    summed: true,
    trigger: created({ settings: { contrabassEncryptKey: '0123456789abcdef' } }),
  },
  TLSNotVerified: {
    type: 'TLSVerified',
    progress: 'Current',
    summed: true,
    trigger: async () => {
      scene.restart({ ...environment, INSECURE_TLS_ENDPOINTS: '*' });
      await created({ settings: { openstackInsecureTLS: true } })();
    },
  },
  DuplicateCluster: {
    type: 'ClusterUnique',
    progress: 'Current',
    summed: true,
    trigger: async () => {
      scene.viola.sameClusterIds.add('biz-1').add('biz-2');
      await delivered(scene);
    },
  },
  Connected: {
    type: 'Notifications',
    progress: 'Current',
    summed: true,
    trigger: async () => {
      const notifications = { type: 'Notifications', status: 'True', message: '' } as const;
      scene.notifications.condition = { ...notifications, reason: 'Connected' };
      await delivered(scene);
    },
  },
  Disconnected: {
    type: 'Notifications',
    progress: 'Current',
    summed: true,
    trigger: async () => {
      const notifications = { type: 'Notifications', status: 'False', message: '' } as const;
      scene.notifications.condition = { ...notifications, reason: 'Disconnected' };
      await delivered(scene);
    },
  },
  Waiting: {
    type: 'Reconciling',
    progress: 'Reconciling',
    summed: true,
    trigger: then(() => scene.edit({ vmNames: spec.vmNames?.slice(1) ?? [] })),
  },
  NoPorts: {
    type: 'NICsReady',
    progress: 'Current',
    summed: true,
    trigger: async () => {
      scene.create();
      await scene.look();
    },
  },
  NICsConfigured: {
    type: 'NICsReady',
    progress: 'Current',
    summed: true,
    trigger: then(() => report('Configured')),
  },
  NICsNotConfigured: {
    type: 'NICsReady',
    progress: 'Current',
    summed: true,
    trigger: then(() => report('Failed')),
  },
  NoNodeStatus: {
    type: 'NICsReady',
    progress: 'Current',
    summed: true,
    trigger: then(() => undefined),
  },
  StatusUnsupported: {
    type: 'NICsReady',
    progress: 'Current',
    summed: true,
    trigger: async () => {
      scene.viola.abilities = legacyAbilities;
      await delivered(scene);
    },
  },
  RemovalUnsupported: {
    progress: 'Stalled',
    summed: true,
    node: 'worker-1',
    trigger: then(() => {
      scene.viola.abilities = legacyAbilities;
      detach(scene.cloud, 1);
    }),
  },
  TimeoutCapped: {
    type: 'Accepted',
    progress: 'Current',
    summed: true,
    trigger: created({ settings: { openstackTimeout: '24h' } }),
  },
  WaitingForTrigger: {
    progress: 'Reconciling',
    summed: false,
    trigger: async () => {
      scene.trigger('mode: webhook');
      await created({})();
    },
  },
  Paused: {
    type: 'Paused',
    progress: 'Current',
    summed: true,
    trigger: then(() => scene.kube.annotate({ 'multinic.io/paused': 'true' })),
  },
  Deleting: { progress: 'Reconciling', summed: true, trigger: then(() => scene.kube.delete()) },
};

function progressShown(): Progress {
  const { observedGeneration } = scene.status();
  if (observedGeneration !== scene.object()?.metadata.generation) return 'Reconciling';
  if (scene.condition('Stalled')?.status === 'True') return 'Stalled';
  return scene.condition('Reconciling')?.status === 'True' ? 'Reconciling' : 'Current';
}

function expectProgress(row: Row, reported: Condition | undefined): void {
  expect(progressShown()).toBe(row.progress);
  expect(reported?.observedGeneration).toBe(scene.object()?.metadata.generation);
  const stalled = row.progress === 'Stalled' ? scene.condition('Ready')?.reason : undefined;
  expect(scene.condition('Stalled')?.reason).toBe(stalled);
}

/** Expects a node's own problem word for word in its `status.nodes` row. */
function expectNode(name: string, reason: string): void {
  const [worst] = scene.status().nodes ?? [];
  expect(worst).toMatchObject({ name, reason });
  expect(scene.condition('Ready')?.message).toContain(worst?.message);
}

describe('every reason', () => {
  it.each(Object.entries(rows))('%s is reported in its condition', async (reason, row) => {
    await row.trigger();
    const reported = scene.condition(row.type ?? 'Ready');
    expect(reported?.reason).toBe(reason);
    expectProgress(row, reported);
    const { servers = 0 } = scene.status().summary ?? {};
    expect(servers > 0).toBe(row.summed);
    if (row.node !== undefined) expectNode(row.node, reason);
  });

  it.each(Object.entries(rows))(
    '%s costs no further write or event while the problem lasts',
    async (_, row) => {
      await row.trigger();
      await scene.look(60_000);
      await scene.readNodes(60_000);
      const before = scene.kube.writes.length;
      const events = scene.events.length;
      for (let n = 0; n < 5; n++) {
        await scene.readNodes(60_000);
        await scene.look(0);
      }
      expect(scene.kube.writes).toHaveLength(before);
      expect(scene.events).toHaveLength(events);
    },
  );
});
