import { describe, expect, it } from 'vitest';
import type { BizInterface, BizNode } from '../api/multinicbizconfig.ts';
import { type BizConfig, readBizConfig } from './biz-config.ts';
import { entriesOf } from './entries.ts';
import type { IndexHolder } from './indexes.ts';

const nic = (n: number, change: BizInterface = {}): BizInterface => ({
  portId: `port-${n}`,
  macAddress: `02:00:00:00:01:${String(n).padStart(2, '0')}`,
  address: `192.168.100.${n}`,
  cidr: `192.168.100.${n}/24`,
  mtu: 1500,
  ...change,
});

const entry = (name: string, interfaces: BizInterface[], change: BizNode = {}): BizNode => ({
  attachedNodeId: `i-${name}`,
  attachedNodeName: name,
  interfaces,
  ...change,
});

function source(nodeConfigs?: unknown): BizConfig {
  return readBizConfig({ metadata: { name: 'all' }, spec: { providerId: 'p', nodeConfigs } });
}

const none = () => undefined;

function refusals(nodes: BizNode[]) {
  return entriesOf(source(nodes), none).map((one) =>
    one.kind === 'refused' ? one.refusal : undefined,
  );
}

describe('entry', () => {
  it('a MultiNicBizConfig entry becomes the node config Viola would store', () => {
    const [one] = entriesOf(
      source([entry(' Worker-1 ', [nic(10)], { attachedNodeId: ' I-1 ' })]),
      none,
    );
    expect(one).toMatchObject({
      kind: 'usable',
      node: {
        name: 'worker-1',
        labels: { 'multinic.io/instance-id': 'i-1', 'multinic.io/provider-id': 'p' },
        spec: {
          nodeName: 'Worker-1',
          instanceId: 'I-1',
          providerId: 'p',
          interfaces: [{ id: 0, name: 'multinic0', portId: 'port-10', cidr: '192.168.100.0/24' }],
        },
      },
    });
  });

  it.each<[string, BizNode, string]>([
    ['neither name nor id', entry('', [nic(1)], { attachedNodeId: '' }), 'attachedNodeName'],
    ['a name without a letter', entry('한글', [nic(1)]), 'attachedNodeName'],
    ['a name of 300 characters', entry('n'.repeat(300), [nic(1)]), 'attachedNodeName'],
    [
      'an id of 300 characters',
      entry('a', [], { attachedNodeId: 'i'.repeat(300) }),
      'attachedNodeId',
    ],
    [
      'eleven NICs',
      entry(
        'a',
        Array.from({ length: 11 }, (_, n) => nic(n + 1)),
      ),
      'interfaces',
    ],
    ['mtu 9001', entry('a', [nic(1), nic(2, { mtu: 9001 })]), 'interfaces[1].mtu'],
    ['mtu 67', entry('a', [nic(1, { mtu: 67 })]), 'interfaces[0].mtu'],
    ['no MAC', entry('a', [nic(1, { macAddress: '' })]), 'interfaces[0].macAddress'],
    ['an invalid MAC', entry('a', [nic(1, { macAddress: 'x' })]), 'interfaces[0].macAddress'],
    [
      'an IP outside its CIDR',
      entry('a', [nic(1, { cidr: '10.0.0.0/24' })]),
      'interfaces[0].address',
    ],
    [
      'a duplicate MAC',
      entry('a', [nic(1), nic(2, { macAddress: '02:00:00:00:01:01' })]),
      'interfaces[0].macAddress',
    ],
  ])(
    'an entry with %s is refused with the field name; other entries stay usable',
    (_what, bad, field) => {
      const [first, second] = refusals([bad, entry('good', [nic(20)])]);
      expect(first?.field).toBe(field);
      expect(first?.message).toMatch(/\S{2}/);
      expect(second).toBeUndefined();
    },
  );

  it.each<[string, BizNode, BizNode, string]>([
    [
      'the same name',
      entry('a', [nic(1)]),
      entry('a', [nic(2)], { attachedNodeId: 'i-b' }),
      'attachedNodeName',
    ],
    ['the same object name', entry('a_1', [nic(1)]), entry('a-1', [nic(2)]), 'attachedNodeName'],
    [
      'the same id',
      entry('a', [nic(1)]),
      entry('b', [nic(2)], { attachedNodeId: 'I-A' }),
      'attachedNodeId',
    ],
    ['the same MAC', entry('a', [nic(1)]), entry('b', [nic(1)]), 'interfaces[0].macAddress'],
  ])('two entries with %s are both refused', (_what, a, b, field) => {
    const found = refusals([a, b, entry('good', [nic(20)])]);
    expect(found.map((one) => one?.field)).toEqual([field, field, undefined]);
    expect(found[0]?.message).toContain('nodeConfigs[1]');
  });

  it('an entry without a name uses its server id as the name', () => {
    const [one] = entriesOf(source([{ attachedNodeId: 'I-1', interfaces: [] }]), none);
    expect(one).toMatchObject({ kind: 'usable', node: { name: 'i-1', spec: { nodeName: 'I-1' } } });
  });

  it.each([[undefined], [[]]])('entriesOf returns no entries for the node list %j', (list) => {
    expect(entriesOf(source(list), none)).toEqual([]);
  });
});

describe('NIC index', () => {
  const holder: IndexHolder = {
    spec: { interfaces: [{ id: 3, portId: 'port-1', macAddress: '02:00:00:00:01:01' }] },
    status: {
      interfaceStatuses: [{ id: 0, macAddress: '02:00:00:00:01:09', status: 'Configured' }],
      knownInterfaces: [{ id: 5, macAddress: '02:00:00:00:01:02' }],
    },
  };

  it.each<[string, BizInterface[], number[]]>([
    [
      'keeps its index when the port id matches and the MAC differs',
      [nic(1, { macAddress: '02:00:00:00:01:77' })],
      [3],
    ],
    ['without port id keeps its index by MAC', [nic(1, { portId: '' })], [3]],
    ['gets its index from the host record (knownInterfaces)', [nic(2)], [5]],
    ['keeps its index in any list order', [nic(7), nic(1)], [1, 3]],
    ['without a previous index gets the lowest free index', [nic(7), nic(8), nic(6)], [1, 2, 4]],
    ['returning during its removal gets its old index', [nic(9, { portId: '' })], [0]],
  ])('a NIC %s', (_what, interfaces, wanted) => {
    const [one] = entriesOf(source([entry('a', interfaces)]), () => holder);
    const ids = one?.kind === 'usable' ? one.node.spec.interfaces?.map(({ id }) => id) : undefined;
    expect(ids).toEqual(wanted);
  });

  it('no two NICs share an index when an earlier spec assigned the index to another NIC', () => {
    const spec = { interfaces: [{ id: 1, portId: 'port-3', macAddress: '02:00:00:00:01:03' }] };
    const interfaceStatuses = [
      { id: 1, macAddress: '02:00:00:00:01:02' },
      { id: 2, macAddress: '02:00:00:00:01:03' },
    ];
    const moved = { spec, status: { interfaceStatuses } };
    const [one] = entriesOf(source([entry('a', [nic(2), nic(3)])]), () => moved);
    expect(one).toMatchObject({
      kind: 'usable',
      node: {
        spec: {
          interfaces: [
            { id: 0, portId: 'port-2' },
            { id: 1, portId: 'port-3' },
          ],
        },
      },
    });
  });

  it('a NIC without a free index waits alone while all ten indexes are in use', () => {
    const interfaceStatuses = Array.from({ length: 10 }, (_, id) => ({
      id,
      macAddress: `old-${id}`,
    }));
    const full = { status: { interfaceStatuses: interfaceStatuses.slice(1) } };
    const [one] = entriesOf(source([entry('a', [nic(1), nic(2)])]), () => full);
    expect(one).toMatchObject({
      kind: 'usable',
      node: { spec: { interfaces: [{ id: 0, portId: 'port-1' }] } },
      waiting: [{ portId: 'port-2' }],
    });
  });
});
