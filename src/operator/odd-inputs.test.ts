import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Port } from '../openstack/resources.ts';
import type { FakeServer } from './testing/fake-cloud.ts';
import { attach, delivered, type Scene, serverIds, setScene } from './testing/scene.ts';

const [first = '', second = ''] = serverIds;
/** Longer than a cached server list is valid. */
const later = 61_000;
let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

function port(id: string, what: Partial<Port>): void {
  scene.cloud.ports = scene.cloud.ports.map((one) =>
    one.id === id ? { ...one, revisionNumber: one.revisionNumber + 1, ...what } : one,
  );
}

function server(id: string, what: Partial<FakeServer>): void {
  scene.cloud.vms = scene.cloud.vms.map((one) => (one.id === id ? { ...one, ...what } : one));
}

interface UnusualPort {
  /** Gives port p3 on the first server an unusual property. */
  readonly apply: () => void;
  readonly expectedReady: string;
  readonly heal: () => void;
}

const good = { status: 'ACTIVE', macAddress: 'fa:16:3e:00:00:03' };

/** Unusual states for a new port: existing NICs stay, and the port becomes a NIC after `heal`. */
const unusualPorts: Readonly<Record<string, UnusualPort>> = {
  'in BUILD': {
    apply: () => port('p3', { status: 'BUILD' }),
    expectedReady: 'True NoChange',
    heal: () => port('p3', good),
  },
  'in ERROR after a failed binding': {
    apply: () => port('p3', { status: 'ERROR' }),
    expectedReady: 'True NoChange',
    heal: () => port('p3', good),
  },
  'with a duplicate MAC': {
    apply: () => port('p3', { macAddress: 'fa:16:3e:00:00:01', networkId: 'net-b', fixedIps: onB }),
    expectedReady: 'False InvalidPort: port p3 cannot be a NIC of its node',
    heal: () => port('p3', good),
  },
  'without an address': {
    apply: () => port('p3', { fixedIps: [] }),
    expectedReady: 'True NoChange',
    heal: () => port('p3', { fixedIps: [{ subnetId: 'sub-a', ipAddress: '10.0.10.3' }] }),
  },
  'with an address outside of its subnet': {
    apply: () => port('p3', { fixedIps: [{ subnetId: 'sub-a', ipAddress: '192.0.2.3' }] }),
    expectedReady: 'False InvalidPort: port p3 cannot be a NIC of its node',
    heal: () => port('p3', { fixedIps: [{ subnetId: 'sub-a', ipAddress: '10.0.10.3' }] }),
  },
  'with an invalid address': {
    apply: () =>
      port('p3', { fixedIps: [{ subnetId: 'sub-a', ipAddress: '10.0.10.3\u001b[31m' }] }),
    expectedReady: 'False InvalidPort: port p3 cannot be a NIC of its node',
    heal: () => port('p3', { fixedIps: [{ subnetId: 'sub-a', ipAddress: '10.0.10.3' }] }),
  },
  'with an invalid MAC': {
    apply: () => port('p3', { macAddress: 'nonsense' }),
    expectedReady: 'False InvalidPort: port p3 cannot be a NIC of its node',
    heal: () => port('p3', good),
  },
  'in a network without an MTU': {
    apply: () => {
      port('p3', { networkId: 'net-b', fixedIps: onB });
      const [a] = scene.cloud.networks;
      scene.cloud.networks = [...(a ? [a] : []), { id: 'net-b', name: '', mtu: undefined }];
    },
    expectedReady: 'False NeutronPortError: port p3 is not delivered yet: network net-b has no MTU',
    heal: () => {
      const [a] = scene.cloud.networks;
      scene.cloud.networks = [...(a ? [a] : []), { id: 'net-b', name: '', mtu: 1450 }];
    },
  },
};

const onB = [{ subnetId: 'sub-b', ipAddress: '10.0.20.3' }];

describe('an unusual new port', () => {
  it.each(Object.entries(unusualPorts))(
    'a new port %s leaves existing NICs unchanged, and becomes a NIC once corrected',
    async (_odd, { apply, expectedReady, heal }) => {
      attach(scene.cloud, 1, 1);
      attach(scene.cloud, 2, 2);
      scene.create({ subnetIDs: ['sub-a', 'sub-b'] });
      await scene.look();
      await scene.look();
      attach(scene.cloud, 3, 1);
      apply();
      await scene.look();
      expect(scene.ready()).toContain(expectedReady);
      expect(scene.ready()).toMatch(/^[\P{Cc}]*$/u);
      expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
      expect(scene.nics('worker-2')).toEqual(['multinic0=p2']);
      heal();
      await scene.look(later);
      expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
      expect(scene.ready()).toContain('True');
    },
  );
});

describe('an unusual delivered port', () => {
  it.each([
    ['in BUILD', { status: 'BUILD' }, 'True NoChange'],
    ['in ERROR', { status: 'ERROR' }, 'True NoChange'],
    ['without a status', { status: '' }, 'True NoChange'],
    [
      'with an address outside of its subnet',
      { fixedIps: [{ subnetId: 'sub-a', ipAddress: '192.0.2.3' }] },
      'False InvalidPort',
    ],
    ['with an invalid MAC', { macAddress: 'nonsense' }, 'False InvalidPort'],
  ] as const)('a delivered port %s keeps its NIC', async (_how, what, expectedReady) => {
    await delivered(scene);
    const before = scene.cloud.ports;
    port('p1', what);
    for (let n = 0; n < 3; n++) await scene.look();
    expect(scene.ready()).toContain(expectedReady);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    expect(scene.viola.posts).toHaveLength(1);
    scene.cloud.ports = before.map((one) => ({ ...one, revisionNumber: 9 }));
    await scene.look();
    expect(scene.ready()).toContain('True');
  });
});

describe('a trunk subport', () => {
  const subport = { deviceId: 'trunk-1', deviceOwner: 'trunk:subport' };

  it('a trunk subport becomes no NIC, because the server reaches the subport through its trunk', async () => {
    await delivered(scene);
    attach(scene.cloud, 3, 1);
    port('p3', subport);
    await scene.look(later);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    expect(scene.ready()).toContain('True NoChange');
  });

  it('a NIC is removed when its port becomes a trunk subport', async () => {
    await delivered(scene);
    port('p1', subport);
    await scene.look(later);
    expect(scene.nics('worker-1')).toEqual([]);
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2']);
    expect(scene.ready()).toContain('True');
  });
});

describe('server tags missing in Nova', () => {
  it('a 404 for server tags proves nothing: a server selected by tags keeps its NICs', async () => {
    const tagged = scene.cloud.vms.map((vm) => ({ ...vm, tags: ['k8s'] }));
    scene.cloud.vms = tagged;
    attach(scene.cloud, 1, 1);
    scene.create({ vmNames: [], vmSelector: { tags: ['k8s'] } });
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    const serverTags = scene.cloud.serverTags.bind(scene.cloud);
    scene.cloud.serverTags = async () => ({ kind: 'notFound' });
    server(first, { tags: [] });
    for (let n = 0; n < 3; n++) await scene.look(later);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    expect(scene.ready()).toContain('False RemovalUnconfirmed');
    scene.cloud.serverTags = serverTags;
    scene.cloud.vms = tagged;
    await scene.look(later);
    expect(scene.ready()).toContain('True');
  });
});

describe('an unusual server', () => {
  it('a server with 300 ports gets as many NICs as a node may have, and Ready reports InterfaceLimitExceeded', async () => {
    for (let n = 1; n <= 300; n++) attach(scene.cloud, n, 1);
    scene.cloud.ports = scene.cloud.ports.map((one, n) => ({
      ...one,
      macAddress: `fa:16:3e:00:${Math.floor(n / 256)}${(n % 16).toString(16)}:${(n % 256).toString(16).padStart(2, '0')}`,
      fixedIps: [{ subnetId: 'sub-a', ipAddress: `10.0.10.${n % 250}` }],
    }));
    scene.create();
    await scene.look();
    const nics = scene.nics('worker-1');
    expect(scene.ready()).toContain('False InterfaceLimitExceeded');
    expect(nics.length).toBeGreaterThan(0);
    scene.cloud.ports = scene.cloud.ports.filter(({ id }) =>
      nics.some((nic) => nic.endsWith(`=${id}`)),
    );
    await scene.look();
    expect([scene.nics('worker-1'), scene.ready()]).toEqual([
      nics,
      expect.stringContaining('True'),
    ]);
  });

  it('a server name with control characters is reported without the characters, and delivered after a rename', async () => {
    await delivered(scene);
    scene.edit({ vmNames: [...serverIds] });
    server(serverIds[2] ?? '', { name: 'worker\u001b[31m-3\u0000\n' });
    attach(scene.cloud, 3, 3);
    await scene.look();
    expect(scene.ready()).toContain('False InvalidNodeName');
    expect(scene.ready()).toMatch(/^[\P{Cc}]*$/u);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    server(serverIds[2] ?? '', { name: 'worker-3' });
    await scene.look(later);
    expect(scene.nics('worker-3')).toEqual(['multinic0=p3']);
    expect(scene.ready()).toContain('True');
  });

  it("a server named like a second server's id is not selected by the id", async () => {
    server(second, { name: first });
    attach(scene.cloud, 1, 1);
    attach(scene.cloud, 2, 2);
    scene.create({ vmNames: [first] });
    await scene.look();
    expect([...scene.viola.nodes.keys()]).toEqual(['worker-1']);
    expect(scene.ready()).toContain('True');
  });

  it('a server renamed while a port is attached keeps its node and NICs', async () => {
    await delivered(scene);
    server(first, { name: 'another' });
    attach(scene.cloud, 3, 1);
    await scene.look(later);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
    expect([...scene.viola.nodes.keys()]).toEqual(['worker-1', 'worker-2']);
    expect(scene.ready()).toContain('True');
  });

  it('a server that Nova alternately finds and misses keeps its NICs', async () => {
    await delivered(scene);
    const { vms, ports } = scene.cloud;
    for (let n = 0; n < 6; n++) {
      scene.cloud.vms = n % 2 === 0 ? vms.filter(({ id }) => id !== first) : vms;
      scene.cloudEvent({ servers: [first] });
      await scene.look(later);
      expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    }
    scene.cloud.ports = ports;
    await scene.look(later);
    expect(scene.ready()).toContain('True');
  });

  it('a node claimed by two OpenstackConfigs stays unchanged until the foreign object is gone', async () => {
    await delivered(scene);
    const node = scene.viola.nodes.get('worker-1');
    if (!node) throw new Error('worker-1 was not delivered');
    const other = { namespace: 'team', name: 'other', uid: 'u', generation: 1 };
    scene.viola.put({ ...node, source: other });
    attach(scene.cloud, 3, 1);
    await scene.look();
    expect(scene.ready()).toContain('False NameConflict: node worker-1 is configured by');
    expect(scene.ready()).toContain('team/other');
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    scene.viola.nodes.delete('worker-1');
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
    expect(scene.ready()).toContain('True');
  });
});

it('an OpenstackConfig recreated from a backup takes over its nodes unchanged', async () => {
  await delivered(scene);
  const status = scene.status();
  const posts = scene.viola.posts.length;
  scene.kube.configs.replace([]);
  scene.restart();
  scene.create(
    {},
    { uid: 'another', generation: 1, annotations: { 'multinic.io/allow-removals': 'old' } },
  );
  await scene.look();
  expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
  expect(scene.nics('worker-2')).toEqual(['multinic0=p2']);
  expect(scene.viola.posts.length).toBeGreaterThan(posts);
  expect(scene.viola.removals).toEqual([]);
  await scene.look();
  expect(scene.ready()).toContain('True');
  expect(scene.status().summary).toEqual(status.summary);
});
