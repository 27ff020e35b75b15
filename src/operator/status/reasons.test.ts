import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Condition } from '../../api/condition.ts';
import type { OpenstackConfigSpec } from '../../api/openstackconfig.ts';
import type { OperatorReason } from '../../api/reasons.ts';
import { RequestError } from '../../requests/request-error.ts';
import { legacyAbilities } from '../deliver/abilities.ts';
import {
  attach,
  delivered,
  detach,
  environment,
  type Scene,
  setScene,
  spec,
} from '../testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

/** How an observer that knows only kstatus reads an object that says a reason. */
type Progress = 'Current' | 'Reconciling' | 'Stalled';

interface Row {
  /** Where the reason is said (default: Ready). */
  readonly type?: Condition['type'];
  readonly progress: Progress;
  /** Whether a look came through all of its steps, now or before: the summary of the last one stays. */
  readonly summed: boolean;
  /** Node that the reason is about, as `status.nodes` shows it. */
  readonly node?: string;
  readonly bringAbout: () => Promise<void>;
}

const created = (change: Partial<OpenstackConfigSpec>) => async (): Promise<void> => {
  attach(scene.cloud, 1, 1);
  attach(scene.cloud, 2, 2);
  scene.create(change);
  await scene.look();
};

/** Everything was well, then something happened. */
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

/** The business cluster reports a state of all nodes. */
function report(state: 'Configured' | 'Failed'): void {
  for (const node of scene.viola.nodes.values()) {
    scene.viola.put({ ...node, status: { state, observedGeneration: node.generation } });
  }
}

const { credentials } = spec;

const rows: Readonly<Record<Exclude<OperatorReason, (typeof unsaid)[number]>, Row>> = {
  Synced: { progress: 'Current', summed: true, bringAbout: async () => delivered(scene) },
  NoChange: { progress: 'Current', summed: true, bringAbout: then(() => undefined) },
  Healthy: {
    type: 'Delivered',
    progress: 'Current',
    summed: true,
    bringAbout: async () => delivered(scene),
  },
  Error: {
    type: 'Degraded',
    progress: 'Reconciling',
    summed: true,
    bringAbout: then(() => scene.cloud.fail('portsOf', 'serverError')),
  },
  ConfigError: {
    progress: 'Stalled',
    summed: false,
    bringAbout: created({ settings: { addressFamilies: [] } }),
  },
  SubnetRequired: { progress: 'Stalled', summed: false, bringAbout: created({ subnetIDs: [] }) },
  PolicyDenied: {
    progress: 'Stalled',
    summed: false,
    bringAbout: created({ settings: { contrabassEndpoint: 'http://169.254.169.254' } }),
  },
  ContrabassError: {
    progress: 'Reconciling',
    summed: true,
    bringAbout: then(() => {
      const details = { service: 'contrabass', kind: 'notFound', status: 404 } as const;
      scene.clouds.provided = new RequestError('unexpected status 404', details);
    }),
  },
  KeystoneError: {
    progress: 'Reconciling',
    summed: true,
    bringAbout: then(() => scene.cloud.fail('portsOf', 'unauthorized', 'keystone')),
  },
  NeutronEndpointError: {
    progress: 'Reconciling',
    summed: true,
    bringAbout: then(() => scene.cloud.fail('portsOf', 'noEndpoint')),
  },
  NeutronPortError: {
    progress: 'Reconciling',
    summed: true,
    bringAbout: then(() => scene.cloud.fail('portsOf', 'serverError')),
  },
  NeutronSubnetError: {
    progress: 'Reconciling',
    summed: true,
    bringAbout: then(() => scene.cloud.fail('subnet', 'serverError')),
  },
  SubnetNotFound: {
    progress: 'Reconciling',
    summed: true,
    bringAbout: created({ subnetIDs: ['sub-a', 'sub-x'] }),
  },
  SubnetNotUnique: {
    progress: 'Reconciling',
    summed: false,
    bringAbout: async () => {
      scene.cloud.subnets = scene.cloud.subnets.map((subnet) => ({ ...subnet, name: 'same' }));
      await created({ subnetIDs: [], subnetName: 'same' })();
    },
  },
  NovaServerError: {
    progress: 'Reconciling',
    summed: true,
    bringAbout: then(() => scene.cloud.fail('servers', 'serverError')),
  },
  ServerNotFound: {
    progress: 'Reconciling',
    summed: true,
    bringAbout: created({ vmNames: [...(spec.vmNames ?? []), '9'.repeat(8)] }),
  },
  ServerNotUnique: {
    progress: 'Reconciling',
    summed: true,
    bringAbout: async () => {
      for (const at of [1, 2]) rename(at, 'twin');
      await created({ vmNames: ['worker-1', 'twin'] })();
    },
  },
  InterfaceLimitExceeded: {
    progress: 'Reconciling',
    summed: true,
    node: 'worker-1',
    bringAbout: async () => {
      attach(scene.cloud, 3, 1);
      await created({ settings: { maxInterfaces: 1 } })();
    },
  },
  InvalidPort: {
    progress: 'Reconciling',
    summed: true,
    node: 'worker-1',
    bringAbout: then(() => {
      attach(scene.cloud, 3, 1);
      changePort('p3', { macAddress: 'fa:16:3e:00:00:01' });
    }),
  },
  InvalidNodeName: {
    progress: 'Reconciling',
    summed: true,
    node: 'not a name',
    bringAbout: async () => {
      rename(0, 'not a name');
      await created({})();
    },
  },
  NameConflict: {
    progress: 'Reconciling',
    summed: true,
    node: 'twin',
    bringAbout: async () => {
      for (const at of [0, 1]) rename(at, 'twin');
      await created({})();
    },
  },
  RemovalUnconfirmed: {
    progress: 'Reconciling',
    summed: true,
    node: 'worker-1',
    bringAbout: then(() => scene.cloud.hidden.add('p1')),
  },
  RemovalHeld: {
    progress: 'Reconciling',
    summed: true,
    bringAbout: async () => {
      for (let n = 3; n <= 12; n++) attach(scene.cloud, n, (n % 2) + 1);
      await delivered(scene);
      for (let n = 1; n <= 11; n++) detach(scene.cloud, n);
      await scene.look();
    },
  },
  ViolaPostError: {
    progress: 'Reconciling',
    summed: true,
    node: 'worker-1',
    bringAbout: async () => {
      scene.viola.refused.set('worker-1', 'FieldConflict');
      await delivered(scene);
    },
  },
  SecretInSpec: {
    type: 'CredentialsValid',
    progress: 'Current',
    summed: true,
    bringAbout: created({ settings: { contrabassEncryptKey: '0123456789abcdef' }, credentials }),
  },
  TLSNotVerified: {
    type: 'TLSVerified',
    progress: 'Current',
    summed: true,
    bringAbout: async () => {
      scene.restart({ ...environment, INSECURE_TLS_ENDPOINTS: '*' });
      await created({ settings: { openstackInsecureTLS: true } })();
    },
  },
  Connected: {
    type: 'Notifications',
    progress: 'Current',
    summed: true,
    bringAbout: async () => {
      const told = { type: 'Notifications', status: 'True', message: '' } as const;
      scene.notifications.condition = { ...told, reason: 'Connected' };
      await delivered(scene);
    },
  },
  Disconnected: {
    type: 'Notifications',
    progress: 'Current',
    summed: true,
    bringAbout: async () => {
      const told = { type: 'Notifications', status: 'False', message: '' } as const;
      scene.notifications.condition = { ...told, reason: 'Disconnected' };
      await delivered(scene);
    },
  },
  Waiting: {
    type: 'Reconciling',
    progress: 'Reconciling',
    summed: true,
    bringAbout: then(() => scene.edit({ vmNames: spec.vmNames?.slice(1) ?? [] })),
  },
  NoPorts: {
    type: 'NICsReady',
    progress: 'Current',
    summed: true,
    bringAbout: async () => {
      scene.create();
      await scene.look();
    },
  },
  NICsConfigured: {
    type: 'NICsReady',
    progress: 'Current',
    summed: true,
    bringAbout: then(() => report('Configured')),
  },
  NICsNotConfigured: {
    type: 'NICsReady',
    progress: 'Current',
    summed: true,
    bringAbout: then(() => report('Failed')),
  },
  NoNodeStatus: {
    type: 'NICsReady',
    progress: 'Current',
    summed: true,
    bringAbout: then(() => undefined),
  },
  StatusUnsupported: {
    type: 'NICsReady',
    progress: 'Current',
    summed: true,
    bringAbout: async () => {
      scene.viola.abilities = legacyAbilities;
      await delivered(scene);
    },
  },
  RemovalUnsupported: {
    progress: 'Stalled',
    summed: true,
    node: 'worker-1',
    bringAbout: then(() => {
      scene.viola.abilities = legacyAbilities;
      detach(scene.cloud, 1);
    }),
  },
  TimeoutCapped: {
    type: 'Accepted',
    progress: 'Current',
    summed: true,
    bringAbout: created({ settings: { openstackTimeout: '24h' } }),
  },
  WaitingForTrigger: {
    progress: 'Reconciling',
    summed: false,
    bringAbout: async () => {
      scene.trigger('mode: webhook');
      await created({})();
    },
  },
  Paused: {
    type: 'Paused',
    progress: 'Current',
    summed: true,
    bringAbout: then(() => scene.kube.annotate({ 'multinic.io/paused': 'true' })),
  },
  Deleting: {
    progress: 'Reconciling',
    summed: true,
    bringAbout: then(() => scene.kube.delete()),
  },
};

const unsaid = [
  // What the reasons of the single services say better.
  'ProviderUnavailable',
  'SecretNotOurs',
  // Reasons of ports in status.unusedPorts; plan/port-verdict.test.ts has them.
  'PortTooOld',
  'PortStatus',
  'SubnetNotSelected',
  'FamilyNotWanted',
  'PortWithoutAddress',
  'PortNotPlugged',
  'NetworkUnread',
  'WaitingForName',
] as const;

function progressShown(): Progress {
  const { observedGeneration } = scene.status();
  if (observedGeneration !== scene.object()?.metadata.generation) return 'Reconciling';
  if (scene.condition('Stalled')?.status === 'True') return 'Stalled';
  return scene.condition('Reconciling')?.status === 'True' ? 'Reconciling' : 'Current';
}

function expectProgress(row: Row, said: Condition | undefined): void {
  expect(progressShown()).toBe(row.progress);
  expect(said?.observedGeneration).toBe(scene.object()?.metadata.generation);
  const stalled = row.progress === 'Stalled' ? scene.condition('Ready')?.reason : undefined;
  expect(scene.condition('Stalled')?.reason).toBe(stalled);
}

/** A node's own trouble stands in its row word for word. */
function expectNode(name: string, reason: string): void {
  const [worst] = scene.status().nodes ?? [];
  expect(worst).toMatchObject({ name, reason });
  expect(scene.condition('Ready')?.message).toContain(worst?.message);
}

describe('every reason', () => {
  it.each(Object.entries(rows))('%s is said where it holds', async (reason, row) => {
    await row.bringAbout();
    const said = scene.condition(row.type ?? 'Ready');
    expect(said?.reason).toBe(reason);
    expectProgress(row, said);
    const { servers = 0 } = scene.status().summary ?? {};
    expect(servers > 0).toBe(row.summed);
    if (row.node !== undefined) expectNode(row.node, reason);
  });

  it.each(Object.entries(rows))('%s is said once, however long it lasts', async (_, row) => {
    await row.bringAbout();
    await scene.look(60_000);
    const before = scene.kube.writes.length;
    const events = scene.events.length;
    for (let n = 0; n < 5; n++) await scene.look(60_000);
    expect(scene.kube.writes).toHaveLength(before);
    expect(scene.events).toHaveLength(events);
  });
});
