import { describe, expect, it } from 'vitest';
import { calculate } from './calculate.ts';
import type { Port } from './observation.ts';
import { entry, evidence as evidenceOf, existingNode, input, port, type Sample } from './sample.ts';

const { macAddress } = port(5, 's1');

/** Port `pN` with the MAC of port p5. */
function again(n: number, change: Partial<Port> = {}, letter = 'a'): Port {
  return port(n, 's1', { macAddress, ...change }, letter);
}

/** Plans a node that has p5 as multinic0. */
function planOf(sample: Sample) {
  return calculate(input({ held: [existingNode(1, [entry(5, 0)])], ...sample }));
}

function nicsOf(sample: Sample) {
  return planOf(sample).nodes[0]?.interfaces.map(
    ({ name, portId, address }) => `${name}=${portId} ${address}`,
  );
}

const unchanged = ['multinic0=p5 10.0.10.5'];
const twoNics = ['multinic0=p6 10.0.10.6', 'multinic1=p1 10.0.10.1'];

function upperCase(made: Port): Port {
  return { ...made, macAddress: made.macAddress.toUpperCase() };
}

describe('port made again with the MAC of a delivered NIC', () => {
  it('a port made again takes its NIC over with index and name, without a removal or a question', () => {
    const plan = planOf({ ports: [again(6)] });
    expect(plan.nodes).toMatchObject([
      {
        action: 'post',
        interfaces: [entry(6, 0, { macAddress })],
        removals: { confirmed: [], unconfirmed: [] },
      },
    ]);
    expect(plan).toMatchObject({ ask: [], problems: [] });
    expect(plan.ports).toMatchObject([{ portId: 'p6', nic: 'multinic0' }]);
  });

  const moved = port(5, 's2');
  const inB = { ports: [again(6, {}, 'b')] };
  it.each<[string, string[], Sample]>([
    ['is DOWN', ['multinic0=p6 10.0.10.6'], { ports: [again(6, { status: 'DOWN' })] }],
    ['spells the MAC in upper case', ['multinic0=p6 10.0.10.6'], { ports: [upperCase(again(6))] }],
    ['comes beside a port with a lower MAC', twoNics, { ports: [port(1, 's1'), again(6)] }],
    ['follows a port on another server', ['multinic0=p6 10.0.10.6'], { ports: [moved, again(6)] }],
    ['has a status that is not allowed', unchanged, { ports: [again(6, { status: 'BUILD' })] }],
    ['was not plugged by Nova', unchanged, { ports: [again(6, { deviceOwner: 'network:vip' })] }],
    [
      'replaces an unreadable port',
      unchanged,
      { ports: [again(6)], observation: { unreadablePorts: ['p5'] } },
    ],
    [
      'exists in two networks',
      ['multinic0=p6 10.0.10.6'],
      { ports: [again(6), again(7, {}, 'b')] },
    ],
    ['is in another network, without evidence', unchanged, inB],
    [
      'is in another network, and p5 is gone',
      ['multinic0=p6 10.0.20.6'],
      { ...inB, evidence: [evidenceOf(5, 'portGone')] },
    ],
    [
      'is in another network, and p5 is attached elsewhere',
      ['multinic0=p6 10.0.20.6'],
      { ...inB, evidence: [evidenceOf(5, 'attachedElsewhere')] },
    ],
    [
      'is in another network, and p5 is still attached',
      unchanged,
      { ...inB, evidence: [evidenceOf(5, 'stillAttached')] },
    ],
    [
      'has no address in a selected subnet, and p5 is gone',
      unchanged,
      {
        ports: [again(6, { fixedIps: [{ subnetId: 'sub-x', ipAddress: '10.1.1.1' }] })],
        evidence: [evidenceOf(5, 'portGone')],
      },
    ],
    [
      'has another MAC',
      ['multinic0=p5 10.0.10.5', 'multinic1=p6 10.0.10.6'],
      { ports: [port(6, 's1')] },
    ],
  ])('a port made again that %s gives NICs %j', (_, nics, sample) => {
    expect(nicsOf(sample)).toEqual(nics);
  });

  it('a port in another network requests evidence about the former port', () => {
    expect(planOf(inB).ask).toEqual([{ portId: 'p5', macAddress, serverId: 's1' }]);
  });

  it('two ports made again with swapped MACs follow their MACs', () => {
    const held = [existingNode(1, [entry(5, 0), entry(6, 1)])];
    const ports = [again(8), port(7, 's1', { macAddress: entry(6, 1).macAddress })];
    expect(nicsOf({ held, ports })).toEqual(['multinic0=p8 10.0.10.8', 'multinic1=p7 10.0.10.7']);
  });

  it('a port that another entry names is no successor, and a successor is used once', () => {
    const named = [existingNode(1, [entry(5, 0), entry(6, 1)])];
    expect(planOf({ held: named, ports: [again(6)] }).ask).toMatchObject([{ portId: 'p5' }]);
    const twice = [existingNode(1, [entry(5, 0), entry(9, 1, { macAddress })])];
    expect(planOf({ held: twice, ports: [again(6)] }).ask).toMatchObject([{ portId: 'p9' }]);
  });
});

describe('port made again after its NIC was removed', () => {
  const former = { id: 3, name: 'multinic3', portId: 'p5', macAddress };
  const emptied = existingNode(1, []);
  it.each<[string, Sample]>([
    ['status', { held: [{ ...emptied, status: { interfaceStatuses: [former] } }] }],
    ['host', { held: [{ ...emptied, status: { knownInterfaces: [former] } }] }],
    ['inventory', { input: { recorded: [{ instanceId: 's1', interfaces: [entry(5, 3)] }] } }],
  ])(
    'a port made again gets the former index that the %s names, though lower ones are free',
    (_, sample) => {
      expect(nicsOf({ held: [emptied], ports: [again(6)], ...sample })).toEqual([
        'multinic3=p6 10.0.10.6',
      ]);
      const twin = again(6, {}, 'b');
      expect(nicsOf({ held: [emptied], ports: [port(5, 's1'), twin], ...sample })).toEqual([
        'multinic3=p5 10.0.10.5',
      ]);
    },
  );
});
