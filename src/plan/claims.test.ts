import { describe, expect, it } from 'vitest';
import type { ExistingNodeConfig } from '../api/node-configs-http.ts';
import { calculate } from './calculate.ts';
import {
  entry,
  existingNode,
  input,
  owner,
  port,
  type Sample,
  server,
  withConsent,
} from './sample.ts';

function planOf(sample: Sample) {
  return calculate(input({ ports: [port(1, 's1')], ...sample }));
}

function actionsOf(sample: Sample) {
  return planOf(sample).nodes.map(({ nodeName, action }) => `${action} ${nodeName}`);
}

function reasonsOf(sample: Sample) {
  return planOf(sample).problems.map(({ reason }) => reason);
}

const foreign: Partial<ExistingNodeConfig> = {
  source: { namespace: 'team-b', name: 'other', uid: 'other-uid', generation: 1 },
};
const { source: _ours, ...unowned } = existingNode(1, [entry(1, 0)]);

describe('node name', () => {
  const key = { nodeNameKey: 'k8s-node' };

  it('a node is named after the server metadata value, in lower case, when a key is configured', () => {
    const servers = [server(1, { metadata: { 'k8s-node': ' Node-A ' } })];
    expect(actionsOf({ servers, selection: key })).toEqual(['post node-a']);
  });

  it('a node is named after its server when the key is unset or the value blank', () => {
    const servers = [server(1, { name: 'Worker-1', metadata: { 'k8s-node': ' ' } })];
    expect(actionsOf({ servers, selection: key })).toEqual(['post worker-1']);
    expect(actionsOf({ servers })).toEqual(['post worker-1']);
  });

  it('a node delivered under the server id keeps this name', () => {
    const servers = [server(1, { name: ' ' })];
    expect(actionsOf({ servers })).toEqual(['post s1']);
    const before = [existingNode(1, [entry(1, 0)], { nodeName: 's1' })];
    const named = [server(1)];
    expect(actionsOf({ servers: named, held: before })).toEqual(['none s1']);
    const mapped = [server(1, { metadata: { 'k8s-node': 'node-a' } })];
    const moved = { servers: mapped, held: before, selection: key };
    expect(actionsOf(moved)).toEqual(['none s1']);
  });

  it("a node keeps its object's name when Nova fails, and is never named after an unread server's id", () => {
    expect(actionsOf({ servers: [], held: [existingNode(1, [])] })).toEqual(['post worker-1']);
    expect(planOf({ servers: [] })).toMatchObject({
      nodes: [],
      problems: [{ reason: 'NovaServerError', subject: 'server s1' }],
    });
  });

  it('a node keeps its name when the server is renamed, because its object is found by id', () => {
    const servers = [server(1, { name: 'renamed' })];
    const sample = { servers, held: [existingNode(1, [entry(1, 0)])] };
    expect(actionsOf(sample)).toEqual(['none worker-1']);
  });

  it("[W11] a node keeps its object's name when its metadata value changes", () => {
    const servers = [server(1, { metadata: { 'k8s-node': 'node-a' } })];
    const before = [existingNode(1, [entry(1, 0)])];
    const sample = { servers, selection: key };
    expect(actionsOf({ ...sample, held: before })).toEqual(['none worker-1']);
    expect(reasonsOf({ ...sample, held: before })).toEqual([]);
    expect(actionsOf(sample)).toEqual(['post node-a']);
  });

  const long = `${'x'.repeat(63)}.`.repeat(4);

  it.each(['한글노드', 'my_node', '-x', 'a..b', 'x'.repeat(254), `${long}x`])(
    '"%s" is an invalid node name',
    (name) => {
      const plan = planOf({ servers: [server(1, { name })] });
      expect(plan.problems).toMatchObject([
        { reason: 'InvalidNodeName', value: name.toLowerCase() },
      ]);
      expect(plan.nodes.filter(({ action }) => action !== 'none')).toEqual([]);
    },
  );
});

/** Returns an object posted for server `s1` whose instanceId was edited. */
function edited(instanceId: string, change: Partial<ExistingNodeConfig> = {}): ExistingNodeConfig {
  const node = existingNode(1, [entry(1, 0)]);
  return { ...node, labelledInstanceId: 's1', spec: { ...node.spec, instanceId }, ...change };
}

describe('object whose label and spec name different servers', () => {
  it('an edited instanceId is restored from the label', () => {
    const plan = planOf({ held: [edited('s9')] });
    expect(plan.nodes).toMatchObject([
      { action: 'post', nodeName: 'worker-1', instanceId: 's1', why: 'instanceId differs' },
    ]);
    expect(plan.nodes[0]?.base).toEqual({ uid: 'uid-1', generation: 1 });
  });

  it('an object with an edited instanceId is deleted when a correct object exists', () => {
    const right = existingNode(1, [entry(1, 0)], { labelledInstanceId: 's1' });
    const wrong = edited('s9', { nodeName: 'worker-0', uid: 'uid-0' });
    expect(actionsOf({ held: [right, wrong] })).toEqual(['delete worker-0', 'none worker-1']);
  });

  it("an object's spec decides when the labelled server is not selected", () => {
    const sample = { held: [edited('s1', { labelledInstanceId: 's7' })] };
    expect(actionsOf(sample)).toEqual(['none worker-1']);
  });

  it('an edited object owned by another OpenstackConfig is ignored', () => {
    const sample = { held: [edited('s9', { ...foreign, nodeName: 'elsewhere' })] };
    expect(actionsOf(sample)).toEqual(['post worker-1']);
    expect(reasonsOf(sample)).toEqual([]);
  });
});

describe('two claims on one node', () => {
  const twins: Sample = {
    selection: { serverIds: ['s1', 's2'] },
    servers: [server(1), server(2, { name: 'WORKER-1' })],
    ports: [port(1, 's1'), port(2, 's2')],
  };

  it('two servers with one name: both get NameConflict and neither is posted', () => {
    expect(actionsOf(twins)).toEqual(['none worker-1', 'none worker-1']);
    expect(reasonsOf(twins)).toEqual(['NameConflict', 'NameConflict']);
  });

  it('two servers with one name: the delivered server continues, the other server gets NameConflict', () => {
    const sample = { ...twins, held: [existingNode(1, [])] };
    expect(planOf(sample).nodes).toMatchObject([
      { action: 'post', instanceId: 's1', interfaces: [entry(1, 0)] },
      { action: 'none', instanceId: 's2' },
    ]);
    expect(planOf(sample).problems).toMatchObject([
      { reason: 'NameConflict', message: expect.stringContaining('servers s1 and s2') as unknown },
    ]);
  });

  it('thousands of servers with one name: each message lists five servers and a count', () => {
    const servers = Array.from({ length: 2_000 }, (_, at) => {
      const id = `s${String(at).padStart(4, '0')}`;
      return server(at, { id, metadata: { pool: 'workers' } });
    });
    const serverIds = servers.map(({ id }) => id);
    const { problems } = planOf({ servers, selection: { serverIds, nodeNameKey: 'pool' } });
    expect(problems).toHaveLength(2_000);
    expect(new Set(problems.map(({ message }) => message))).toEqual(
      new Set([
        'servers s0000 and s0001 and s0002 and s0003 and s0004 and 1995 more are all named workers; rename one of them or map names by openstackNodeNameMetadataKey',
      ]),
    );
  });

  it('two OpenstackConfigs: an object owned by the other OpenstackConfig stays untouched and NameConflict is reported', () => {
    const sample = { held: [existingNode(1, [entry(7, 3)], foreign)] };
    expect(actionsOf(sample)).toEqual(['none worker-1']);
    expect(planOf(sample).problems).toEqual([
      {
        reason: 'NameConflict',
        subject: 'node worker-1',
        message:
          'node worker-1 is configured by OpenstackConfig team-b/other and selected by multinic-system/osc too; select server s1 in only one of them, or, if team-b/other is deleted or has the annotation multinic.io/hand-over-to: multinic-system/osc, set multinic.io/take-over-from: team-b/other',
      },
    ]);
  });

  it('two OpenstackConfigs: takeOverFrom moves the object to this OpenstackConfig', () => {
    const follows = { takeOverFrom: 'team-b/other' };
    const before = [existingNode(1, [entry(1, 3)], foreign)];
    expect(planOf({ held: before, input: follows })).toMatchObject({
      nodes: [{ action: 'post', why: 'taken over', interfaces: [entry(1, 3)] }],
      problems: [],
    });
    // The account does not see the server.
    const sample = { held: before, input: follows, servers: [] };
    expect(actionsOf(sample)).not.toContain('post worker-1');
    const another = { takeOverFrom: 'team-b/another' };
    expect(reasonsOf({ held: before, input: another })).toEqual(['NameConflict']);
  });

  it('two OpenstackConfigs with different node names for one server: NameConflict is reported', () => {
    const other = existingNode(1, [], { ...foreign, nodeName: 'elsewhere' });
    expect(reasonsOf({ held: [other] })).toEqual(['NameConflict']);
  });

  it("a name used by another server's object is reported unless this plan deletes the object", () => {
    const rebuilt = existingNode(9, [], { nodeName: 'worker-1' });
    expect(actionsOf({ held: [rebuilt] })).toEqual(['none worker-1', 'delete worker-1']);
    expect(reasonsOf({ held: [rebuilt] })).toEqual([]);
    const { source: _source, ...loose } = rebuilt;
    expect(actionsOf({ held: [loose] })).toEqual(['none worker-1']);
    expect(reasonsOf({ held: [loose] })).toEqual(['NameConflict']);
  });
});

describe('object from the legacy operator', () => {
  it.each(['Worker-1', 'worker_1'])('a legacy object named %s keeps its name', (name) => {
    const legacy = { ...unowned, nodeName: name, spec: { ...unowned.spec, nodeName: name } };
    const plan = planOf({ held: [legacy], servers: [server(1, { name })] });
    expect(plan.problems).toEqual([]);
    expect(plan.nodes).toMatchObject([{ nodeName: name, action: 'post', why: 'taken over' }]);
    const servers = [server(1, { name, metadata: { k: name.toLowerCase() } })];
    const mapped = planOf({ held: [legacy], servers, selection: { nodeNameKey: 'k' } });
    expect(mapped.nodes).toMatchObject([{ nodeName: name, action: 'post' }]);
  });
});

describe('object without source', () => {
  it('an object without source is taken over for a selected server', () => {
    expect(planOf({ held: [unowned] }).nodes).toMatchObject([
      { action: 'post', why: 'taken over', base: { uid: 'uid-1' }, interfaces: [entry(1, 0)] },
    ]);
  });

  it('an object without source and instanceId is taken over by node name', () => {
    const { instanceId: _id, ...spec } = unowned.spec;
    expect(planOf({ held: [{ ...unowned, spec }] }).nodes).toMatchObject([
      { action: 'post', instanceId: 's1', base: { uid: 'uid-1' } },
    ]);
  });

  it('an object without source for an unselected server stays untouched', () => {
    const { source: _source, ...loose } = existingNode(9, []);
    expect(actionsOf({ held: [loose] })).toEqual(['post worker-1']);
  });

  it("an object without source keeps its name, whatever the server's metadata contain", () => {
    const servers = [server(1, { metadata: { k: 'node-a' } })];
    const sample = { servers, selection: { nodeNameKey: 'k' }, held: [unowned] };
    expect(actionsOf(sample)).toEqual(['post worker-1']);
  });
});

describe('object from a recreated OpenstackConfig', () => {
  const restored = { ...owner, uid: 'older-uid', generation: 4 };

  it('a recreated OpenstackConfig takes its former object over while the server is selected', () => {
    const again = existingNode(1, [entry(1, 0)], { source: restored });
    expect(planOf({ held: [again] }).nodes).toMatchObject([{ action: 'post', why: 'taken over' }]);
  });

  it("[W5] a recreated OpenstackConfig keeps its former objects' NICs until consent: another management cluster may own them", () => {
    const left = existingNode(9, [entry(9, 0)], { source: restored });
    expect(actionsOf({ held: [left] })).toEqual(['post worker-1', 'none worker-9']);
    expect(planOf({ held: [left] }).problems).toMatchObject([
      { reason: 'RemovalHeld', subject: 'node worker-9' },
    ]);
    const allowed = withConsent({ ports: [port(1, 's1')], held: [left] });
    expect(actionsOf(allowed)).toEqual(['post worker-1', 'delete worker-9']);
    expect(reasonsOf(allowed)).toEqual([]);
  });

  it('[W5] a recreated OpenstackConfig removes its former object without consent when the server is deleted', () => {
    const left = existingNode(9, [entry(9, 0)], { source: restored });
    const selection = { pinned: { servers: false, subnets: true } };
    const serverEvidence = [{ serverId: 's9', verdict: 'deleted' as const }];
    const sample = { held: [left], selection, input: { serverEvidence } };
    expect(actionsOf(sample)).toEqual(['post worker-1', 'delete worker-9']);
  });

  it('[W22] an object taken by a namesake stays with the namesake until a forced sync takes it back', () => {
    const theirs = { ...owner, uid: 'namesake', generation: 1, replaces: [owner.uid] };
    const taken = existingNode(1, [], { source: theirs });
    expect(actionsOf({ held: [taken] })).toEqual(['none worker-1']);
    expect(planOf({ held: [taken] }).problems).toMatchObject([{ reason: 'NameConflict' }]);
    expect(planOf({ held: [taken], input: { force: true } }).nodes).toMatchObject([
      { action: 'post', why: 'interfaces differ', replaces: ['namesake'] },
    ]);
    // The taken object stays even when no server is selected.
    expect(actionsOf({ held: [taken], selection: { serverIds: [] } })).toEqual([]);
  });

  it('[W22] an object taken by a namesake stays with the namesake after the namesake was recreated', () => {
    const again = { ...owner, uid: 'made-again', generation: 1, replaces: ['namesake', owner.uid] };
    expect(actionsOf({ held: [existingNode(1, [], { source: again })] })).toEqual([
      'none worker-1',
    ]);
    const theirs = { ...owner, uid: 'namesake', generation: 1, replaces: ['first'] };
    const taken = { held: [existingNode(1, [], { source: theirs })] };
    expect(planOf(taken).nodes).toMatchObject([{ replaces: ['namesake', 'first'] }]);
  });

  it('[W22] a posted object keeps the list of replaced uids', () => {
    const first = existingNode(1, [entry(1, 0)], { source: restored });
    expect(planOf({ held: [first] }).nodes).toMatchObject([{ replaces: ['older-uid'] }]);
    const later = existingNode(1, [], {
      source: { ...owner, generation: 1, replaces: ['older-uid'] },
    });
    expect(planOf({ held: [later] }).nodes).toMatchObject([
      { action: 'post', replaces: ['older-uid'] },
    ]);
  });
});

describe('server removed from the OpenstackConfig', () => {
  const gone: Sample = { selection: { serverIds: [] }, held: [existingNode(1, [entry(1, 0)])] };

  it("a deselected server's object is deleted", () => {
    expect(planOf(gone).nodes).toMatchObject([
      {
        action: 'delete',
        base: { uid: 'uid-1', generation: 1 },
        removals: { confirmed: [{ cause: 'deselected', basis: 'named' }] },
      },
    ]);
  });

  it("a deselected server's object stays when owned by another OpenstackConfig or without source", () => {
    expect(actionsOf({ ...gone, held: [existingNode(1, [], foreign), unowned] })).toEqual([]);
  });

  it("a deselected server's object stays while a server name is unresolved", () => {
    const selection = {
      serverIds: [],
      serversComplete: false,
      pinned: { servers: false, subnets: true },
    };
    expect(actionsOf({ ...gone, selection })).toEqual(['none worker-1']);
  });

  it('a plan limited to some servers leaves other objects untouched', () => {
    const scope = ['s2'];
    const selection = { serverIds: ['s1', 's2'] };
    const before = [existingNode(1, []), existingNode(9, [])];
    const ports = [port(1, 's1'), port(2, 's2')];
    const servers = [server(1), server(2)];
    expect(actionsOf({ input: { scope }, selection, held: before, ports, servers })).toEqual([
      'post worker-2',
    ]);
  });

  it('an object that is being deleted is not deleted again', () => {
    const leaving = existingNode(1, [entry(1, 0)], { deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(planOf({ ...gone, held: [leaving] }).nodes).toMatchObject([
      { action: 'none', waiting: true },
    ]);
  });
});

it('an object that is being deleted receives no post', () => {
  const leaving = existingNode(1, [], { deletionTimestamp: '2026-01-01T00:00:00Z' });
  expect(planOf({ held: [leaving] }).nodes).toMatchObject([{ action: 'none', waiting: true }]);
});

it('the second object for a server is deleted', () => {
  const twin = { ...existingNode(1, []), nodeName: 'worker-x', uid: 'uid-x' };
  expect(actionsOf({ held: [existingNode(1, [entry(1, 0)]), twin] })).toEqual([
    'none worker-1',
    'delete worker-x',
  ]);
});

it('a server unknown to Nova is reported once, as ServerNotFound', () => {
  const sample = { servers: [], observation: { missingServers: ['s1'] }, ports: [] };
  expect(planOf(sample)).toMatchObject({
    nodes: [],
    problems: [{ reason: 'ServerNotFound', field: 'spec.vmNames', value: 's1' }],
  });
});

it('a forced sync posts every node', () => {
  const forced = { held: [existingNode(1, [entry(1, 0)])], input: { force: true } };
  expect(planOf(forced).nodes).toMatchObject([{ action: 'post', why: 'requested' }]);
});

it('an object keeps its name though another OpenstackConfig delivers a node under the new name', () => {
  const theirs = { namespace: 'ns', name: 'other', uid: 'u', generation: 1 };
  const taken = existingNode(2, [entry(2, 0)], { nodeName: 'k8s-1', source: theirs });
  const plan = planOf({
    selection: { nodeNameKey: 'node' },
    servers: [server(1, { metadata: { node: 'k8s-1' } })],
    ports: [port(1, 's1')],
    held: [existingNode(1, [entry(1, 0)]), taken],
  });
  expect(plan.problems).toEqual([]);
  expect(plan.nodes).toMatchObject([{ nodeName: 'worker-1', action: 'none' }]);
});
