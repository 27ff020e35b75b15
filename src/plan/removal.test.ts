import { describe, expect, it } from 'vitest';
import { calculate } from './calculate.ts';
import type { MissingPortState } from './observation.ts';
import {
  entry,
  evidence as evidenceOf,
  existingNode,
  input,
  owner,
  port,
  type Sample,
  server,
  withConsent,
} from './sample.ts';

const delivered = [existingNode(1, [entry(1, 0)])];

function evidence(verdict: MissingPortState) {
  return [evidenceOf(1, verdict)];
}

function planOf(sample: Sample) {
  return calculate(input({ held: delivered, ...sample }));
}

describe('delivered NIC whose port is missing from the list', () => {
  it('a NIC whose port is missing stays, is reported, and evidence is requested', () => {
    const plan = planOf({});
    expect(plan.nodes[0]).toMatchObject({
      action: 'none',
      interfaces: [entry(1, 0)],
      removals: { confirmed: [], unconfirmed: [{ name: 'multinic0', cause: 'unconfirmed' }] },
    });
    expect(plan.problems).toEqual([
      {
        reason: 'RemovalUnconfirmed',
        subject: 'node worker-1',
        message:
          'node worker-1: multinic0 (port p1) is missing among the ports of the server, but nothing confirms its removal; the NIC stays',
      },
    ]);
    const { macAddress } = entry(1, 0);
    expect(plan.ask).toEqual([{ portId: 'p1', macAddress, serverId: 's1' }]);
  });

  it('a NIC with verdict unconfirmed stays, and evidence is not requested again', () => {
    const plan = planOf({ evidence: evidence('unconfirmed') });
    expect(plan.nodes[0]).toMatchObject({ action: 'none', interfaces: [entry(1, 0)] });
    expect(plan.problems).toMatchObject([{ reason: 'RemovalUnconfirmed' }]);
    expect(plan.ask).toEqual([]);
  });

  it('a NIC with verdict stillAttached stays without a problem report', () => {
    const plan = planOf({ evidence: evidence('stillAttached') });
    expect(plan.nodes[0]).toMatchObject({ action: 'none', interfaces: [entry(1, 0)] });
    expect(plan).toMatchObject({ problems: [], ask: [] });
  });

  it.each(['attachedElsewhere', 'portGone', 'serverDeleted'] as const)(
    'a NIC is removed with verdict %s',
    (verdict) => {
      const [node] = planOf({ evidence: evidence(verdict) }).nodes;
      expect(node).toMatchObject({
        action: 'post',
        base: { uid: 'uid-1', generation: 1 },
        interfaces: [],
        removals: {
          confirmed: [{ name: 'multinic0', portId: 'p1', cause: verdict, basis: 'evidence' }],
          unconfirmed: [],
        },
      });
    },
  );

  it('a NIC is removed when its server is listed as DELETED', () => {
    const plan = planOf({ servers: [server(1, { status: 'DELETED' })] });
    expect(plan.nodes[0]).toMatchObject({ action: 'post', interfaces: [] });
    expect(plan.problems).toMatchObject([{ reason: 'ServerNotFound', value: 's1' }]);
  });

  it('evidence about another server does not remove a NIC', () => {
    const other = [evidenceOf(1, 'portGone', 's2')];
    expect(planOf({ evidence: other }).nodes[0]).toMatchObject({ action: 'none' });
  });

  it('an entry without port id is searched by MAC, and removed with evidence', () => {
    const { portId: _portId, ...bare } = entry(1, 0);
    const plan = planOf({ held: [existingNode(1, [bare])] });
    const { macAddress } = bare;
    const question = { portId: undefined, macAddress, serverId: 's1' };
    expect(plan).toMatchObject({ problems: [{ reason: 'RemovalUnconfirmed' }], ask: [question] });
    expect(plan.nodes[0]?.interfaces).toEqual([bare]);
    const verdict = { ...question, verdict: 'portGone' } as const;
    expect(planOf({ held: [existingNode(1, [bare])], evidence: [verdict] }).nodes[0]).toMatchObject(
      {
        action: 'post',
        interfaces: [],
      },
    );
  });

  it('an entry without port id stays when several ports share its MAC and none has its address', () => {
    const { portId: _portId, ...bare } = entry(1, 0);
    const { macAddress } = bare;
    const twins = [port(2, 's1', { macAddress }), port(3, 's1', { macAddress }, 'b')];
    const servers = [server(1, { status: 'DELETED' })];
    const plan = planOf({ held: [existingNode(1, [bare])], ports: twins, servers });
    expect(plan.nodes[0]?.interfaces).toEqual([bare]);
  });

  it("a removed NIC does not delay the node's other NICs", () => {
    const two = [existingNode(1, [entry(1, 0), entry(2, 1)])];
    const plan = planOf({ held: two, ports: [port(2, 's1')], evidence: evidence('portGone') });
    expect(plan.nodes[0]).toMatchObject({ action: 'post', interfaces: [entry(2, 1)] });
  });
});

describe('delivered NIC outside the selected subnets', () => {
  it('a NIC is removed when the OpenstackConfig deselects its subnet', () => {
    const selection = { subnetIds: ['sub-b'] };
    expect(planOf({ selection, ports: [port(1, 's1')] }).nodes[0]).toMatchObject({
      action: 'post',
      interfaces: [],
      removals: { confirmed: [{ cause: 'notSelected', basis: 'named' }] },
    });
  });

  it('a NIC stays while a selected subnet does not exist, because the id may be mistyped', () => {
    const selection = { subnetIds: ['sub-b', 'sub-typo'], subnetsComplete: false };
    const moved = port(2, 's1', { fixedIps: [{ subnetId: 'sub-x', ipAddress: '10.1.1.1' }] });
    const two = [existingNode(1, [entry(1, 0), entry(2, 1)])];
    const plan = planOf({ selection, held: two, ports: [port(1, 's1'), moved] });
    expect(plan.nodes[0]).toMatchObject({
      action: 'none',
      interfaces: [entry(1, 0), entry(2, 1)],
      removals: { confirmed: [] },
    });
  });

  it.each(['ACTIVE', 'ERROR'])(
    'a NIC from a recreated OpenstackConfig (port %s) stays until consent when its subnet is not selected',
    (status) => {
      const again = existingNode(1, [entry(1, 0)], {
        source: { ...owner, uid: 'older-uid', generation: 4 },
      });
      const plan = planOf({
        selection: { subnetIds: ['sub-b'] },
        held: [again],
        ports: [port(1, 's1', { status })],
      });
      // A takeover would make the object this OpenstackConfig's own, and the next plan would remove the NIC.
      expect(plan.nodes[0]).toMatchObject({ action: 'none', why: 'removals wait for consent' });
      expect(plan.nodes[0]).toMatchObject({
        interfaces: [entry(1, 0)],
        removals: { confirmed: [] },
      });
    },
  );

  it('a NIC whose port is missing needs evidence even when its subnet is deselected', () => {
    const plan = planOf({ selection: { subnetIds: ['sub-b'] } });
    expect(plan.nodes[0]).toMatchObject({ action: 'none', interfaces: [entry(1, 0)] });
    expect(plan.ask).toHaveLength(1);
  });

  it.each<[string, Sample]>([
    ['was listed without addresses', { ports: [port(1, 's1', { fixedIps: [] })] }],
    [
      'moved to another subnet',
      { ports: [port(1, 's1', { fixedIps: [{ subnetId: 'sub-x', ipAddress: '10.1.1.1' }] })] },
    ],
    [
      'has a subnet whose name now resolves to another subnet',
      {
        ports: [port(1, 's1')],
        selection: { subnetIds: ['sub-b'], pinned: { servers: true, subnets: false } },
      },
    ],
    [
      'belongs to an object being taken over',
      {
        ports: [port(1, 's1')],
        selection: { subnetIds: ['sub-b'] },
        held: [
          existingNode(1, [entry(1, 0)], { source: { ...owner, uid: 'older', generation: 1 } }),
        ],
      },
    ],
  ])('a NIC stays, is reported and read by id when its port %s', (_what, sample) => {
    const plan = planOf(sample);
    expect(plan.nodes[0]).toMatchObject({ action: 'none', interfaces: [entry(1, 0)] });
    expect(plan.ask).toMatchObject([{ portId: 'p1', serverId: 's1' }]);
    expect(plan.problems).toMatchObject([
      {
        reason: 'RemovalUnconfirmed',
        message: expect.stringContaining(
          'multinic0 (port p1) has no address in a selected',
        ) as unknown,
      },
    ]);
    const read = planOf({ ...sample, evidence: evidence('stillAttached') });
    expect(read.nodes[0]).toMatchObject({ action: 'none', interfaces: [entry(1, 0)] });
    expect(read).toMatchObject({ ask: [], problems: [{ reason: 'RemovalUnconfirmed' }] });
  });

  it.each<[string, Sample]>([
    ['is not listed', {}],
    ['has a subnet that was deselected', { selection: { subnetIds: ['sub-b'] } }],
    ['counts as detached', { evidence: evidence('attachedElsewhere') }],
    ['removals are allowed', withConsent({ ports: [port(1, 's1', { fixedIps: [] })] })],
  ])(
    'a NIC stays without requesting evidence when its port is unreadable and %s',
    (_what, sample) => {
      const observation = { unreadablePorts: ['p1'] };
      const plan = planOf({ ports: [], observation, ...sample });
      expect(plan.nodes[0]).toMatchObject({ action: 'none', interfaces: [entry(1, 0)] });
      expect(plan).toMatchObject({ ask: [], problems: [] });
    },
  );

  it('a NIC without address in a selected subnet is removed after consent and a read by id', () => {
    const sample = withConsent({
      held: [existingNode(1, [entry(1, 0)])],
      ports: [port(1, 's1', { fixedIps: [] })],
    });
    expect(planOf(sample).nodes[0]).toMatchObject({ action: 'none', interfaces: [entry(1, 0)] });
    const [node] = planOf({ ...sample, evidence: evidence('stillAttached') }).nodes;
    expect(node?.removals.confirmed).toMatchObject([{ cause: 'notSelected', basis: 'consent' }]);
  });
});

describe('ids in upper case', () => {
  it.each([
    ['server', { instanceId: 'S1' }, {}],
    ['port', {}, { portId: 'P1' }],
    ['subnet', {}, { subnetId: 'SUB-A' }],
    ['server, port and subnet', { instanceId: 'S1' }, { portId: 'P1', subnetId: 'SUB-A' }],
  ])('upper-case ids match the same %s', (_, spec, nic) => {
    const node = existingNode(1, [entry(1, 0, nic)]);
    const plan = planOf({
      held: [{ ...node, spec: { ...node.spec, ...spec } }],
      ports: [port(1, 's1')],
    });
    expect(plan).toMatchObject({ problems: [], ask: [] });
    expect(plan.nodes).toMatchObject([{ action: 'none', interfaces: [entry(1, 0)] }]);
  });

  it('an upper-case subnet id does not count as deselected', () => {
    const upper = entry(1, 0, { subnetId: 'SUB-A' });
    const port1 = port(1, 's1', { fixedIps: [] });
    const [node] = planOf({ held: [existingNode(1, [upper])], ports: [port1] }).nodes;
    expect(node?.removals.confirmed).toEqual([]);
  });
});

it('a migrating port without addresses requests no evidence', () => {
  const moving = port(1, 's1', { status: 'BUILD', fixedIps: [] });
  const plan = planOf({ ports: [moving] });
  expect(plan).toMatchObject({ problems: [], ask: [] });
  expect(plan.nodes[0]).toMatchObject({ action: 'none', interfaces: [entry(1, 0)] });
});

describe('[W4] port not plugged by Nova', () => {
  const vip = port(1, 's1', { deviceOwner: 'network:vip' });
  const sample = { held: [existingNode(1, [entry(1, 0)])], ports: [vip] };

  it('a port not plugged by Nova keeps its NIC until consent', () => {
    expect(planOf(sample).nodes).toMatchObject([{ interfaces: [entry(1, 0)] }]);
    const plan = planOf(withConsent(sample));
    expect(plan.nodes).toMatchObject([
      { interfaces: [], removals: { confirmed: [{ cause: 'notPlugged' }] } },
    ]);
  });
});
