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
          confirmed: [{ name: 'multinic0', portId: 'p1', cause: verdict, basis: 'proven' }],
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
    ['removals are allowed', { input: { removals: 'allowed' } }],
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
    const sample: Sample = {
      ports: [port(1, 's1', { fixedIps: [] })],
      input: { removals: 'allowed' },
    };
    expect(planOf(sample).nodes[0]).toMatchObject({ action: 'none', interfaces: [entry(1, 0)] });
    const [node] = planOf({ ...sample, evidence: evidence('stillAttached') }).nodes;
    expect(node?.removals.confirmed).toMatchObject([{ cause: 'notSelected', basis: 'named' }]);
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

describe('large removal', () => {
  const nics = Array.from({ length: 10 }, (_, n) => entry(n + 1, n));
  const second = nics.map((nic, n) => ({
    ...nic,
    portId: `q${n}`,
    macAddress: `fa:16:3e:01:00:0${n}`,
  }));
  const sample: Sample = {
    selection: { serverIds: ['s1', 's2'] },
    servers: [server(1), server(2)],
    held: [existingNode(1, nics), existingNode(2, second)],
    evidence: [
      ...nics.map((_, n) => evidenceOf(n + 1, 'portGone')),
      { ...evidenceOf(1, 'portGone', 's2'), portId: 'q0' },
    ],
    ports: second
      .slice(1)
      .map((nic, n) => port(n + 2, 's2', { id: nic.portId ?? '', macAddress: nic.macAddress })),
  };

  it('a large removal is held, while everything else is delivered', () => {
    const fresh = port(99, 's2');
    const plan = planOf({ ...sample, ports: [...(sample.ports ?? []).slice(1), fresh] });
    expect(plan.problems.map(({ reason }) => reason)).toContain('RemovalHeld');
    expect(plan.nodes[0]).toMatchObject({ action: 'none', interfaces: nics });
    expect(plan.nodes[1]?.interfaces).toHaveLength(10);
  });

  it('a large removal prevents taking over an object without source, whose NICs the takeover would remove', () => {
    const { source: _source, ...legacy } = existingNode(3, [entry(20, 0, { subnetId: 'sub-c' })]);
    const moved = port(20, 's3', { fixedIps: [{ subnetId: 'sub-c', ipAddress: '10.0.30.20' }] });
    const plan = planOf({
      ...sample,
      selection: { serverIds: ['s1', 's2', 's3'] },
      servers: [server(1), server(2), server(3)],
      held: [...(sample.held ?? []), legacy],
      ports: [...(sample.ports ?? []), moved],
    });
    expect(plan.nodes[2]).toMatchObject({ action: 'none', why: 'removals wait for consent' });
  });

  it("a large removal's problem states the count and the remedy", () => {
    expect(planOf(sample).problems[0]).toEqual({
      reason: 'RemovalHeld',
      subject: 'spec',
      message:
        '11 NICs would be removed at once, more than the 10 that need no consent; to remove them, set the annotation multinic.io/allow-removals to a new value',
    });
  });

  it('a large removal proceeds after consent, or when small relative to the cloud', () => {
    for (const change of [{ removals: 'allowed' as const }, { cloudInterfaces: 55 }]) {
      const plan = planOf({ ...sample, input: change });
      expect(plan.problems).toEqual([]);
      expect(plan.nodes[0]).toMatchObject({ action: 'post', interfaces: [] });
    }
    const stillHeld = planOf({ ...sample, input: { cloudInterfaces: 54 } });
    expect(stillHeld.problems).toMatchObject([{ reason: 'RemovalHeld' }]);
  });

  it('a held removal stays held in a partial plan', () => {
    const part = planOf({ ...sample, input: { scope: ['s1'], removals: 'held' as const } });
    expect(part.nodes[0]).toMatchObject({ action: 'none' });
  });

  it('unproven removals count towards a large removal, which prevents removal in portions', () => {
    const plan = planOf({ ...sample, evidence: sample.evidence?.slice(0, 2) ?? [] });
    expect(plan.ask.length).toBeGreaterThan(0);
    expect(plan.problems.map(({ reason }) => reason)).toContain('RemovalHeld');
    expect(plan.nodes[0]).toMatchObject({ action: 'none' });
  });

  it('removals by an edit count towards a large removal', () => {
    const edited = { ...sample, selection: { serverIds: ['s3'] }, servers: [server(3)] };
    expect(planOf(edited).problems).toMatchObject([{ reason: 'RemovalHeld' }]);
    expect(planOf(edited).nodes.map(({ action }) => action)).toEqual(['none', 'none', 'none']);
    const plan = planOf({ ...edited, input: { removals: 'allowed' } });
    expect(plan.nodes.map(({ action }) => action)).toEqual(['delete', 'delete', 'none']);
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
    const plan = planOf({ ...sample, input: { removals: 'allowed' } });
    expect(plan.nodes).toMatchObject([
      { interfaces: [], removals: { confirmed: [{ cause: 'notPlugged' }] } },
    ]);
  });
});

describe('consent', () => {
  it('consent is posted with nodes, including unchanged nodes whose removal the business cluster holds', () => {
    const status = {
      conditions: [{ type: 'Ready', status: 'False' as const, reason: 'RemovalHeld' }],
    };
    const waiting = { held: [existingNode(1, [entry(1, 0)], { status })], ports: [port(1, 's1')] };
    expect(planOf(waiting).nodes).toMatchObject([{ action: 'none' }]);
    expect(planOf({ ...waiting, input: { removals: 'allowed' } }).nodes).toMatchObject([
      { action: 'post', why: 'removals allowed', removalsAllowed: true },
    ]);
  });
});
