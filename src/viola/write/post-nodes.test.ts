import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { namespace, postedNode as node, ViolaFixture } from '../../../test/fixtures/viola.ts';
import { annotations, labels } from '../../api/names.ts';
import { postAnswer, problem } from '../../api/node-configs-http.ts';
import { nodeConfigs } from '../node-configs/node-config.ts';

const kind = 'multinicnodeconfigs.multinic.io';
const results = { prefer: 'multinic-results' };
let bed: ViolaFixture;

beforeAll(async () => {
  bed = await ViolaFixture.start();
});

afterEach(() => bed.reset());

afterAll(() => bed[Symbol.asyncDispose]());

const [nic] = node.interfaces;
const changed = { ...node, interfaces: [] };
const kubectl = 'kubectl-client-side-apply';
/** The same object written by another field manager. */
const theirs = {
  metadata: { name: 'worker-1', namespace },
  spec: { nodeName: 'Worker_1', interfaces: [] },
};

describe('POST node-configs', () => {
  it("[RW-87] POST accepts the legacy operator's body", async () => {
    const { status, answer } = await bed.post([node]);
    expect(status).toBe(200);
    expect(answer).toMatchObject({
      applied: 1,
      results: [{ nodeName: 'Worker_1', status: 'created' }],
    });
    const { spec, metadata } = await bed.stored();
    expect(spec).toMatchObject({ nodeName: 'Worker_1', providerId: 'biz-1' });
    expect(spec.specHash).toMatch(/^[0-9a-f]{64}$/);
    expect(spec.interfaces).toEqual([
      {
        id: 0,
        name: 'multinic0',
        portId: 'p0',
        macAddress: 'fa:16:3e:00:00:01',
        address: '10.0.0.10',
        cidr: '10.0.0.0/24',
        mtu: 1450,
        networkId: 'n0',
        subnetId: 's0',
      },
    ]);
    expect(metadata.labels).toMatchObject({
      [labels.nodeName]: 'worker_1',
      [labels.instanceId]: node.instanceId,
      [labels.providerId]: 'biz-1',
    });
  });

  it('POST stores the form read by the legacy controller: network cidr, IPv4 address, matching id', async () => {
    const { address: _a, cidr: _c, ...bare } = { ...nic, cidr: '10.0.0.10/24' };
    const second = {
      name: 'multinic4',
      id: 1,
      macAddress: 'fa:16:3e:00:00:02',
      addresses: ['10.1.0.7/16'],
    };
    await bed.post([{ nodeName: 'a', interfaces: [{ ...nic, cidr: '10.0.0.10/24' }, second] }]);
    expect((await bed.stored('a')).spec.interfaces).toMatchObject([
      { cidr: '10.0.0.0/24' },
      { id: 4, name: 'multinic4', address: '10.1.0.7', cidr: '10.1.0.0/16' },
    ]);
    const { answer } = await bed.post([{ nodeName: 'b', interfaces: [bare] }]);
    expect(answer.errors).toMatchObject([{ code: 'Invalid', field: 'interfaces[0].address' }]);
  });

  it('POST stores further subnets, does not rewrite equal content, and names an invalid field', async () => {
    const addresses = ['10.0.0.10/24', '10.1.0.7/16'];
    const subnets = [{ cidr: '10.1.0.0/16', gateway: '10.1.0.1', routes: [] }];
    const two = { ...node, interfaces: [{ ...nic, addresses, subnets }] };
    await bed.post([two]);
    expect((await bed.stored()).spec.interfaces).toMatchObject([{ addresses, subnets }]);
    bed.writes.length = 0;
    expect((await bed.post([two])).answer.results).toMatchObject([{ status: 'unchanged' }]);
    expect(bed.writes).toEqual([]);
    const wrong = { ...node, interfaces: [{ ...nic, subnets }] };
    expect((await bed.post([wrong], results)).answer.errors).toMatchObject([
      { code: 'Invalid', field: 'interfaces[0].subnets[0].cidr' },
    ]);
  });

  it('POST writes nothing when the same node is posted again', async () => {
    await bed.post([node]);
    bed.writes.length = 0;
    for (let round = 0; round < 3; round++) {
      const { status, answer } = await bed.post([node]);
      expect([status, answer.results[0]?.status, answer.results[0]?.generation]).toEqual([
        200,
        'unchanged',
        1,
      ]);
    }
    expect(bed.writes).toEqual([]);
  });

  it('POST answers unchanged for equal content, whatever the base', async () => {
    await bed.post([{ ...node, base: null }]);
    bed.writes.length = 0;
    const stale = { uid: 'another', generation: 7 };
    for (const base of [null, stale, undefined]) {
      const { status, answer } = await bed.post([base === undefined ? node : { ...node, base }]);
      expect([status, answer.results[0]?.status]).toEqual([200, 'unchanged']);
    }
    expect(bed.writes).toEqual([]);
  });

  it('POST answers unchanged when only the source differs and the caller may not write', async () => {
    const source = { namespace: 'ns', name: 'demo', uid: 'u', generation: 3 };
    await bed.post([{ ...node, base: null, source }]);
    bed.writes.length = 0;
    const another = { ...node, source: { ...source, name: 'another' } };
    for (const body of [another, { ...another, base: { uid: 'another', generation: 7 } }]) {
      const { status, answer } = await bed.post([body]);
      expect([status, answer.results[0]?.status]).toEqual([200, 'unchanged']);
    }
    expect(bed.writes).toEqual([]);
  });

  it('POST writes valid nodes beside invalid nodes and names the invalid fields', async () => {
    const bad = { nodeName: 'bad', interfaces: [{ ...nic, address: '10.9.9.9' }] };
    const body = [bad, node, { nodeName: ' ' }, { nodeName: 'w1\nlevel=error' }, 7];
    const { status, answer } = await bed.post(body, results);
    expect(status).toBe(200);
    expect(answer.results).toMatchObject([{ nodeName: 'Worker_1', status: 'created' }]);
    expect(answer.errors).toMatchObject([
      { nodeName: 'bad', code: 'Invalid', field: 'interfaces[0].address' },
      { code: 'Invalid', field: 'nodeName' },
      { code: 'Invalid', field: 'nodeName' },
      { code: 'Invalid', field: '' },
    ]);
    expect(answer.errors[2]?.message).toContain('"w1\\nlevel=error"');
  });

  it("a refused POST answers problem JSON with each node's result", async () => {
    const bad = { nodeName: 'bad', interfaces: [{ ...nic, mtu: 9 }] };
    const { status, headers, answer } = await bed.post([bad, node]);
    expect(status).toBe(422);
    expect(headers['content-type']).toContain('application/problem+json');
    expect(problem.parse(answer)).toMatchObject({ status: 422, code: 'NodesRefused' });
    expect(problem.parse(answer).detail).toContain('"bad" interfaces[0].mtu');
    expect(postAnswer.parse(answer).results).toMatchObject([{ nodeName: 'Worker_1' }]);
  });

  it.each([
    [
      'interfaces[2].address',
      [
        nic,
        {
          ...nic,
          id: 1,
          name: 'multinic1',
          macAddress: 'fa:16:3e:00:00:0b',
          portId: 'b',
          address: '10.0.0.11',
        },
        {
          ...nic,
          id: 2,
          name: 'multinic2',
          macAddress: 'fa:16:3e:00:00:0c',
          portId: 'c',
          address: '10.9.9.9',
        },
      ],
    ],
    [
      'interfaces[0].macAddress',
      [nic, { ...nic, id: 1, name: 'multinic1', portId: 'p1', address: '10.0.0.11' }],
    ],
    ['interfaces[0].macAddress', [{ ...nic, macAddress: 'fa-16-3e-00-00-01' }]],
    ['interfaces[0].name', [{ ...nic, name: 'eth0' }]],
    ['interfaces[0].name', [{ ...nic, name: 'multinic12' }]],
    ['interfaces[0].cidr', [{ ...nic, cidr: '' }]],
    ['interfaces', Array.from({ length: 11 }, () => nic)],
  ])('POST names the invalid field %s', async (field, interfaces) => {
    const { status, answer } = await bed.post([{ nodeName: 'n', interfaces }]);
    expect([status, answer.errors[0]?.code, answer.errors[0]?.field]).toEqual([
      422,
      'Invalid',
      field,
    ]);
    expect(bed.writes).toEqual([]);
  });

  it('POST refuses two entries for one object', async () => {
    const { answer } = await bed.post([node, { ...node, nodeName: 'worker-1' }]);
    expect(answer.errors.map(({ field }) => field)).toEqual(['nodeName', 'nodeName']);
  });

  it('POST refuses an object name in use by another node, but accepts a renamed or rebuilt node', async () => {
    await bed.post([node]);
    const another = { nodeName: 'worker-1', instanceId: 'another', interfaces: [] };
    const { status, answer } = await bed.post([another]);
    expect([status, answer.errors[0]?.field]).toEqual([422, 'nodeName']);
    expect(answer.errors[0]?.message).toContain('belongs to node "Worker_1"');
    expect(answer.errors[0]?.args).toBe('owner=Worker_1');
    expect((await bed.post([{ ...another, instanceId: node.instanceId }])).status).toBe(200);
    expect((await bed.post([{ ...another, instanceId: 'rebuilt' }])).status).toBe(200);
  });

  it('POST with base null names the node that owns the object name', async () => {
    await bed.post([node]);
    const { answer } = await bed.post([{ nodeName: 'worker-1', interfaces: [], base: null }]);
    expect(answer.errors).toMatchObject([{ code: 'Invalid', field: 'nodeName' }]);
  });

  it('POST refuses a body without a list of nodes', async () => {
    for (const body of [{ nodeName: 'n' }, []]) {
      expect((await bed.call('POST', '', {}, body)).status).toBe(400);
    }
  });
});

describe('POST fence', () => {
  it('POST refuses a stale base, and base null for an existing object', async () => {
    const created = (await bed.post([{ ...node, base: null }])).answer.results[0];
    const base = { uid: created?.uid ?? '', generation: 1 };
    const updated = await bed.post([{ ...changed, base }]);
    expect(updated.answer.results).toMatchObject([{ status: 'updated', generation: 2 }]);
    const stale = await bed.post([{ ...node, base }]);
    expect(stale.status).toBe(409);
    expect(stale.answer.errors).toMatchObject([{ code: 'StaleBase', field: 'base' }]);
    const exists = await bed.post([{ ...node, base: null }]);
    expect(exists.answer.errors).toMatchObject([{ code: 'StaleBase' }]);
    expect((await bed.stored()).spec.interfaces).toEqual([]);
  });

  it('POST without base is refused for a fenced object', async () => {
    await bed.post([{ ...node, base: null }]);
    const { status, answer } = await bed.post([changed]);
    expect([status, answer.errors[0]?.code]).toEqual([409, 'Fenced']);
  });

  it("POST updates a fenced node's source annotation without a new generation", async () => {
    const source = { namespace: 'ns', name: 'demo', uid: 'u', generation: 3 };
    const created = (await bed.post([{ ...node, base: null, source }])).answer.results[0];
    const base = { uid: created?.uid ?? '', generation: 1 };
    const next = { ...source, generation: 4 };
    const { answer } = await bed.post([{ ...node, base, source: next }]);
    expect(answer.results).toMatchObject([{ status: 'updated', generation: 1 }]);
    const { metadata } = await bed.stored();
    expect(JSON.parse(metadata.annotations?.[annotations.source] ?? '')).toEqual(next);
  });

  it('POST retries after a concurrent status write by the controller', async () => {
    await bed.post([node]);
    bed.api.faults.answer({ verb: 'patch', resource: kind, status: 409, reason: 'Conflict' });
    expect((await bed.post([changed])).answer.results).toMatchObject([{ status: 'updated' }]);
  });

  it('POST takes over fields that the legacy Viola wrote with kubectl', async () => {
    await bed.admin.create(nodeConfigs, theirs, { fieldManager: kubectl });
    expect((await bed.post([node])).answer.results).toMatchObject([{ status: 'updated' }]);
  });

  it.each<[string, string, object]>([
    ['made from a MultiNicBizConfig', 'biz-config', {}],
    [
      'with kubectl fields and the take-over annotation',
      kubectl,
      { [annotations.takeOver]: 'true' },
    ],
  ])('POST takes over an object %s', async (_what, also, noted) => {
    await bed.post([node]);
    const ref = { namespace, name: 'worker-1' };
    const expanded = { metadata: { annotations: noted }, spec: { interfaces: [] } };
    await bed.admin.patch(nodeConfigs, ref, expanded, { fieldManager: 'biz-config' });
    await bed.admin.patch(nodeConfigs, ref, { spec: { specHash: 'x' } }, { fieldManager: also });
    expect((await bed.post([node])).answer.results).toMatchObject([{ status: 'updated' }]);
    expect((await bed.stored()).spec.interfaces).toHaveLength(1);
  });

  it('POST takes nothing over when a further field manager owns a field', async () => {
    await bed.admin.create(nodeConfigs, theirs, { fieldManager: kubectl });
    const ref = { namespace, name: 'worker-1' };
    const kims = { spec: { instanceId: 'kims' } };
    await bed.admin.patch(nodeConfigs, ref, kims, { fieldManager: 'kim' });
    const { answer } = await bed.post([node]);
    expect(answer.errors).toMatchObject([{ code: 'FieldConflict' }]);
    expect((await bed.stored()).spec).toMatchObject({ interfaces: [], instanceId: 'kims' });
  });

  it.each(['kim', kubectl])(
    'POST does not overwrite fields that %s changed in our object',
    async (manager) => {
      await bed.post([node]);
      const { spec } = theirs;
      const ref = { namespace, name: 'worker-1' };
      await bed.admin.patch(nodeConfigs, ref, { spec }, { fieldManager: manager });
      const { status, answer } = await bed.post([node]);
      expect([status, answer.errors[0]?.code]).toEqual([409, 'FieldConflict']);
      expect(answer.errors[0]?.field).toContain('interfaces');
      expect(answer.errors[0]?.message).toContain(manager);
    },
  );
});

/** Posts our object, then overwrites its fields as the legacy Viola does. */
async function byKubectl(metadata: object = {}): Promise<void> {
  await bed.post([node]);
  const ref = { namespace, name: 'worker-1' };
  const patch = { metadata, spec: { interfaces: [] } };
  await bed.admin.patch(nodeConfigs, ref, patch, { fieldManager: kubectl });
}

describe('our object rewritten by kubectl', () => {
  it('an object rewritten by kubectl stays, and the refusal names both remedies', async () => {
    await byKubectl();
    const { answer } = await bed.post([node]);
    expect(answer.errors[0]?.code).toBe('FieldConflict');
    expect(answer.errors[0]?.message).toContain('--take-over true');
    expect(answer.errors[0]?.message).toContain(annotations.takeOver);
  });

  it('an object rewritten by kubectl is taken over with the take-over annotation', async () => {
    await byKubectl({ annotations: { [annotations.takeOver]: 'true' } });
    expect((await bed.post([node])).answer.results).toMatchObject([{ status: 'updated' }]);
    expect((await bed.stored()).spec.interfaces).toHaveLength(1);
  });

  it("--take-over takes kubectl's fields over, but no other manager's", async () => {
    await using willing = await ViolaFixture.start({ takeOver: true });
    const ref = { namespace, name: 'worker-1' };
    const write = (fieldManager: string) =>
      willing.admin.patch(nodeConfigs, ref, { spec: { interfaces: [] } }, { fieldManager });
    await willing.post([node]);
    await write(kubectl);
    expect((await willing.post([node])).status).toBe(200);
    await write('kim');
    const { answer } = await willing.post([node]);
    expect(answer.errors[0]?.message).toContain('make that field manager release the fields');
  });
});
