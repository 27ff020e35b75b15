import { describe, expect, it } from 'vitest';
import { calculate } from './calculate.ts';
import {
  entry,
  evidence as evidenceOf,
  existingNode,
  input,
  networks,
  port,
  type Sample,
  server,
  subnet,
} from './sample.ts';

function nicsOf(sample: Sample) {
  return calculate(input(sample)).nodes[0]?.interfaces ?? [];
}

function namesOf(sample: Sample) {
  return nicsOf(sample).map(({ name, portId }) => `${name}=${portId}`);
}

describe('new port', () => {
  it('a new port becomes an entry that all deployed readers understand', () => {
    expect(nicsOf({ ports: [port(1, 's1', { macAddress: 'FA:16:3E:00:00:01' })] })).toEqual([
      entry(1, 0),
    ]);
  });

  it.each([
    ['its status is not allowed', { status: 'BUILD' }],
    ['it is older than the baseline', { createdAt: '2025-12-31T23:59:59Z' }],
    ['its age is unknown', { createdAt: undefined }],
    ['it has no address in a selected subnet', { fixedIps: [] }],
    ['it is in another network than the subnet says', { networkId: 'net-b' }],
  ])('a new port gets no NIC when %s', (_why, change) => {
    const plan = calculate(input({ ports: [port(1, 's1', change)] }));
    expect(plan.nodes[0]).toMatchObject({ action: 'none', interfaces: [] });
    expect(plan.summary).toMatchObject({ servers: 1, nodes: 0, interfaces: 0 });
  });

  it('status `any` admits every port; a port without status is always admitted', () => {
    const ports = [port(1, 's1', { status: 'ERROR' }), port(2, 's1', { status: '' })];
    expect(namesOf({ ports })).toEqual(['multinic0=p2']);
    expect(namesOf({ ports, selection: { statuses: 'any' } })).toEqual([
      'multinic0=p1',
      'multinic1=p2',
    ]);
  });

  it('new ports are numbered by subnet selector, then MAC, then port id', () => {
    const ports = [
      port(9, 's1', {}, 'b'),
      port(2, 's1'),
      port(1, 's1', { macAddress: 'fa:16:3e:00:00:ff' }),
    ];
    expect(namesOf({ ports })).toEqual(['multinic0=p2', 'multinic1=p1', 'multinic2=p9']);
    const selection = { subnetIds: ['sub-b', 'sub-a'] };
    expect(namesOf({ ports, selection })).toEqual(['multinic0=p9', 'multinic1=p2', 'multinic2=p1']);
  });

  it('a port with an unreadable network waits without delaying other ports', () => {
    const ports = [port(1, 's1'), port(2, 's1', {}, 'b')];
    const plan = calculate(
      input({ ports, observation: { networks: [{ id: 'net-b', mtu: 9000 }] } }),
    );
    expect(plan.nodes[0]?.interfaces.map(({ portId }) => portId)).toEqual(['p2']);
    expect(plan.problems).toEqual([
      {
        reason: 'NeutronPortError',
        subject: 'port p1',
        message: 'port p1 is not delivered yet: network net-a could not be read',
      },
    ]);
  });

  it('a port with an unreadable subnet gets no NIC yet', () => {
    const plan = calculate(
      input({ ports: [port(1, 's1')], observation: { subnets: [subnet('b')] } }),
    );
    expect(plan.nodes[0]).toMatchObject({ action: 'none', interfaces: [] });
  });

  it('a port whose MAC is already on the node is reported, and the other ports are delivered', () => {
    const twin = port(2, 's1', { macAddress: port(1, 's1').macAddress }, 'b');
    const plan = calculate(input({ ports: [port(1, 's1'), twin, port(3, 's1')] }));
    expect(plan.nodes[0]?.interfaces.map(({ portId }) => portId)).toEqual(['p1', 'p3']);
    expect(plan.problems).toMatchObject([
      { reason: 'InvalidPort', subject: 'port p2', field: 'macAddress' },
    ]);
  });
});

describe('delivered NIC', () => {
  const delivered = [existingNode(1, [entry(5, 0)])];

  it('[RW-83] a delivered NIC keeps its name when a port with a lower MAC is attached', () => {
    const ports = [port(1, 's1'), port(5, 's1')];
    expect(namesOf({ ports, held: delivered })).toEqual(['multinic0=p5', 'multinic1=p1']);
  });

  it('[RW-84] a delivered NIC keeps its name when the preceding NIC is detached', () => {
    const evidence = [evidenceOf(5, 'attachedElsewhere')];
    const two = [existingNode(1, [entry(5, 0), entry(6, 1)])];
    expect(namesOf({ ports: [port(6, 's1')], held: two, evidence })).toEqual(['multinic1=p6']);
  });

  it('a delivered NIC is never removed by the baseline', () => {
    const ports = [port(5, 's1', { createdAt: '2020-01-01T00:00:00Z' })];
    expect(namesOf({ ports, held: delivered })).toEqual(['multinic0=p5']);
  });

  it("a delivered NIC stays unchanged while its port's status is not allowed or its subnet unreadable", () => {
    const changed = { fixedIps: [{ subnetId: 'sub-a', ipAddress: '10.0.10.77' }] };
    const building = port(5, 's1', { ...changed, status: 'BUILD' });
    expect(nicsOf({ ports: [building], held: delivered })).toEqual([entry(5, 0)]);
    const unread = { ports: [port(5, 's1', changed)], observation: { subnets: [subnet('b')] } };
    expect(nicsOf({ ...unread, held: delivered })).toEqual([entry(5, 0)]);
    const migrating = port(5, 's1', { fixedIps: [], status: 'BUILD' });
    expect(nicsOf({ ports: [migrating], held: delivered })).toEqual([entry(5, 0)]);
  });

  it('a delivered NIC keeps its main address while the main subnet is unreadable', () => {
    const fixedIps = [
      { subnetId: 'sub-a', ipAddress: '10.0.10.1' },
      { subnetId: 'sub-c', ipAddress: '10.0.30.1' },
    ];
    const third = { ...subnet('a'), id: 'sub-c', cidr: '10.0.30.0/24' };
    const plan = calculate(
      input({
        ports: [port(1, 's1', { fixedIps })],
        selection: { subnetIds: ['sub-a', 'sub-c'], subnetsComplete: false },
        observation: { subnets: [third] },
        held: [existingNode(1, [entry(1, 0)])],
      }),
    );
    expect(plan.nodes[0]).toMatchObject({ action: 'none', interfaces: [entry(1, 0)] });
  });

  it('[RW-86] a delivered NIC keeps its MTU while the network is unreadable', () => {
    const sample = { ports: [port(5, 's1')], observation: { networks: [] }, held: delivered };
    const plan = calculate(input(sample));
    expect(plan.nodes[0]).toMatchObject({ action: 'none', interfaces: [entry(5, 0)] });
    expect(plan.problems).toEqual([]);
  });

  it('a delivered NIC gets a changed address under the same name', () => {
    const fixedIps = [{ subnetId: 'sub-a', ipAddress: '10.0.10.77' }];
    const plan = calculate(input({ ports: [port(5, 's1', { fixedIps })], held: delivered }));
    expect(plan.nodes[0]).toMatchObject({
      action: 'post',
      base: { uid: 'uid-1', generation: 1 },
      interfaces: [{ name: 'multinic0', address: '10.0.10.77' }],
    });
  });

  it('a delivered NIC keeps its main address when Neutron reorders addresses', () => {
    const ips = [
      { subnetId: 'sub-a', ipAddress: '10.0.10.9' },
      { subnetId: 'sub-a', ipAddress: '10.0.10.5' },
    ];
    expect(nicsOf({ ports: [port(5, 's1', { fixedIps: ips })], held: delivered })[0]).toMatchObject(
      {
        address: '10.0.10.5',
        addresses: ['10.0.10.5/24', '10.0.10.9/24'],
      },
    );
  });

  it('an entry without port id is matched by MAC and keeps its index', () => {
    const { portId, networkId, subnetId, addresses, gateway, ...bare } = entry(5, 3);
    const deployed = existingNode(1, [bare]);
    const plan = calculate(input({ ports: [port(1, 's1'), port(5, 's1')], held: [deployed] }));
    expect(plan.nodes[0]?.interfaces).toEqual([entry(1, 0), entry(5, 3)]);
    expect([portId, networkId, subnetId, addresses, gateway]).toHaveLength(5);
  });

  it('an entry without port id never matches a port named by another entry', () => {
    const { portId: _, ...bare } = entry(5, 3, { address: '10.0.10.99' });
    const twin = port(6, 's1', { macAddress: port(5, 's1').macAddress });
    const named = entry(6, 0, { macAddress: twin.macAddress });
    const plan = calculate(
      input({ ports: [port(5, 's1'), twin], held: [existingNode(1, [named, bare])] }),
    );
    expect(plan.nodes[0]?.interfaces.map(({ name, portId }) => `${name}=${portId}`)).toEqual([
      'multinic0=p6',
      'multinic3=p5',
    ]);
  });

  it('an entry with an unusable index gets a free index', () => {
    const strange = existingNode(1, [entry(5, 12), entry(6, 0), entry(7, 0)]);
    const ports = [port(5, 's1'), port(6, 's1'), port(7, 's1')];
    expect(namesOf({ ports, held: [strange] })).toEqual([
      'multinic0=p6',
      'multinic1=p5',
      'multinic2=p7',
    ]);
  });
});

describe('NIC limit', () => {
  const ports = Array.from({ length: 4 }, (_, n) => port(n + 1, 's1'));

  it('the NIC limit stops new ports; delivered NICs stay', () => {
    const plan = calculate(
      input({ ports, held: [existingNode(1, [entry(4, 0)])], selection: { maxInterfaces: 2 } }),
    );
    expect(plan.nodes[0]?.interfaces.map(({ name, portId }) => `${name}=${portId}`)).toEqual([
      'multinic0=p4',
      'multinic1=p1',
    ]);
    expect(plan.problems).toEqual([
      {
        reason: 'InterfaceLimitExceeded',
        subject: 'node worker-1',
        field: 'spec.settings.maxInterfaces',
        value: '2',
        message:
          'node worker-1 has 2 ports above spec.settings.maxInterfaces (2); not delivered: p2, p3; detach ports, or raise the limit (at most 10)',
      },
    ]);
  });

  it('the NIC limit message lists ten ports and a count', () => {
    const many = Array.from({ length: 300 }, (_, at) =>
      port(at % 250, 's1', {
        id: `p${at}`,
        macAddress: `fa:16:3e:00:0${at >> 6}:${10 + (at & 63)}`,
      }),
    );
    const [problem] = calculate(input({ ports: many })).problems;
    expect(problem?.message).toMatch(
      /has 290 ports above spec.settings.maxInterfaces \(10\);.* and 280 more; detach/,
    );
    expect(problem?.message.length).toBeLessThan(1_000);
  });

  it('an invalid port does not count towards the NIC limit', () => {
    const [first, ...others] = ports;
    const infiniband = { ...(first ?? port(1, 's1')), macAddress: 'a0:00:02:20:fe:80:00:01' };
    const sample = { ports: [infiniband, ...others], selection: { maxInterfaces: 2 } };
    const plan = calculate(input(sample));
    expect(namesOf(sample)).toEqual(['multinic0=p2', 'multinic1=p3']);
    expect(plan.problems).toMatchObject([
      { reason: 'InvalidPort', subject: 'port p1' },
      {
        reason: 'InterfaceLimitExceeded',
        message:
          'node worker-1 has 1 port above spec.settings.maxInterfaces (2); not delivered: p4; detach ports, or raise the limit (at most 10)',
      },
    ]);
  });

  it('a port with an unreadable network keeps its slot under the NIC limit', () => {
    const [first = port(1, 's1'), ...others] = ports;
    const unread = {
      ...first,
      networkId: 'net-b',
      fixedIps: [{ subnetId: 'sub-b', ipAddress: '10.0.20.1' }],
    };
    const sample: Sample = {
      ports: [unread, ...others],
      selection: { maxInterfaces: 2, subnetIds: ['sub-b', 'sub-a'] },
      observation: { networks: networks.filter(({ id }) => id === 'net-a') },
    };
    expect(namesOf(sample)).toEqual(['multinic0=p2']);
    expect(namesOf({ ...sample, observation: {} })).toEqual(['multinic0=p1', 'multinic1=p2']);
  });

  it('a lowered NIC limit removes no delivered NIC', () => {
    const nics = [entry(1, 0), entry(2, 1), entry(3, 2)];
    const plan = calculate(
      input({
        ports: ports.slice(0, 3),
        held: [existingNode(1, nics)],
        selection: { maxInterfaces: 1 },
      }),
    );
    expect(plan.nodes[0]).toMatchObject({ action: 'none', interfaces: nics });
    expect(plan.problems).toEqual([]);
  });
});

describe('released name', () => {
  const evidence = [evidenceOf(1, 'portGone')];

  it('a name is not reused in the plan that removes its NIC', () => {
    const sample = { ports: [port(2, 's1')], held: [existingNode(1, [entry(1, 0)])], evidence };
    expect(namesOf(sample)).toEqual(['multinic1=p2']);
  });

  it("a name is not reused while the node's status contains it", () => {
    const status = { interfaceStatuses: [{ id: 0, name: 'multinic0', portId: 'p1' }] };
    const sample = { ports: [port(2, 's1')], held: [existingNode(1, [], { status })] };
    expect(namesOf(sample)).toEqual(['multinic1=p2']);
  });

  it('a name in the status returns to its former port', () => {
    const status = { interfaceStatuses: [{ id: 0, name: 'multinic0', portId: 'p1' }] };
    const sample = {
      ports: [port(1, 's1'), port(2, 's1')],
      held: [existingNode(1, [], { status })],
    };
    expect(namesOf(sample)).toEqual(['multinic0=p1', 'multinic1=p2']);
  });

  it('a status entry reserves both its id and its kernel name', () => {
    const status = { interfaceStatuses: [{ id: 0, name: 'multinic1', portId: 'p9' }] };
    const sample = { ports: [port(2, 's1')], held: [existingNode(1, [], { status })] };
    expect(namesOf(sample)).toEqual(['multinic2=p2']);
  });

  it('a shortage of names delays only the last NIC', () => {
    const names = Array.from({ length: 9 }, (_, index) => ({ id: index, portId: `gone-${index}` }));
    const sample: Sample = {
      ports: [port(1, 's1'), port(2, 's1')],
      held: [existingNode(1, [], { status: { interfaceStatuses: names } })],
    };
    const [node] = calculate(input(sample)).nodes;
    expect(node?.interfaces.map(({ name, portId }) => `${name}=${portId}`)).toEqual([
      'multinic9=p1',
    ]);
    expect(node?.waiting).toBe(true);
  });
});

describe('recorded name without an object', () => {
  const recorded = [{ instanceId: 'S1', interfaces: [entry(1, 1), entry(2, 4)] }];
  const ports = [port(1, 's1'), port(2, 's1'), port(3, 's1')];

  it('recorded names return to their ports and to no other port', () => {
    expect(namesOf({ ports, input: { recorded } })).toEqual([
      'multinic0=p3',
      'multinic1=p1',
      'multinic4=p2',
    ]);
  });

  it('a recorded name stays reserved for a port that is missing now', () => {
    const one = [{ instanceId: 's1', interfaces: [entry(1, 0)] }];
    expect(namesOf({ ports: [port(3, 's1')], input: { recorded: one } })).toEqual(['multinic1=p3']);
  });

  it('a recorded name without port id is matched by MAC', () => {
    const { portId: _portId, ...bare } = entry(1, 7);
    const one = [{ instanceId: 's1', interfaces: [bare] }];
    expect(namesOf({ ports: [port(1, 's1')], input: { recorded: one } })).toEqual(['multinic7=p1']);
  });

  it('a port older than the OpenstackConfig regains its recorded name', () => {
    const old = [port(1, 's1', { createdAt: '2020-01-01T00:00:00Z' })];
    expect(namesOf({ ports: old })).toEqual([]);
    expect(namesOf({ ports: old, input: { recorded } })).toEqual(['multinic1=p1']);
  });

  it("the host's name is used when the record has none", () => {
    const [, second] = ports;
    const knownInterfaces = [
      { id: 6, macAddress: entry(2, 0).macAddress.toUpperCase() },
      { id: 0, macAddress: 'fa:16:3e:00:00:99', portId: 'p99' },
    ];
    const sample = {
      ports: second ? [second, port(3, 's1')] : [],
      held: [existingNode(1, [], { status: { knownInterfaces } })],
    };
    expect(namesOf(sample)).toEqual(['multinic1=p3', 'multinic6=p2']);
    expect(namesOf({ ...sample, input: { recorded } })).toEqual(['multinic1=p3', 'multinic4=p2']);
  });

  it("the spec's name wins over the recorded name", () => {
    const sample = {
      ports: [port(1, 's1')],
      held: [existingNode(1, [entry(1, 2)])],
      input: { recorded },
    };
    expect(namesOf(sample)).toEqual(['multinic2=p1']);
  });
});

it('a server without deliverable ports gets no post', () => {
  const plan = calculate(input({ servers: [server(1)] }));
  expect(plan.nodes).toMatchObject([{ action: 'none', base: null, why: 'no port to deliver' }]);
});
