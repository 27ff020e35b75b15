import { createHash } from 'node:crypto';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { about } from '../../../../test/fixtures/about.ts';
import { planView } from '../../../api/read-http.ts';
import type { HttpServer } from '../../../http/app.ts';
import { createHttpServer } from '../../../http/server.ts';
import { createHealth } from '../../../process/health.ts';
import { createLogger } from '../../../process/log.ts';
import { systemClock } from '../../../time/clock.ts';
import { attach, delivered, type Scene, serverIds, setScene } from '../../testing/scene.ts';
import { servePlans } from './routes.ts';

const url = '/v1/plan/multinic-system/osc';
const cleanup = 'multinic.example.com/cleanup';
const json = { 'content-type': 'application/json' };
const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
const grant = (name: string, providers: string[], verbs: ('read' | 'write' | 'plan')[]) => ({
  name,
  sha256: sha256(name),
  providers,
  verbs,
});
const grants = [
  grant('planner', ['biz-1'], ['plan']),
  grant('reader', ['biz-1'], ['read', 'write']),
  grant('stranger', ['biz-2'], ['read', 'plan']),
];

let scene: Scene;
let app: HttpServer;
let unavailable: string | undefined;

beforeEach(async () => {
  scene = await setScene();
  unavailable = undefined;
  app = await createHttpServer({
    title: 'test',
    clock: systemClock,
    log: createLogger({ part: 'test', level: 'silent' }),
    health: createHealth(),
    registry: new Registry(),
    about,
    guardsHost: true,
  });
  servePlans(app, {
    ...scene.planRoutes(),
    tokens: { current: async () => grants },
    unavailable: () => unavailable,
  });
  await app.ready();
});

afterEach(async () => {
  await app.close();
  await scene[Symbol.asyncDispose]();
});

interface Request {
  readonly headers?: Readonly<Record<string, string>>;
  readonly from?: string;
  readonly at?: string;
  readonly body?: unknown;
}

async function send(
  method: 'GET' | 'POST',
  { headers = json, from = '127.0.0.1', at = url, body = {} }: Request = {},
) {
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await app.inject({
    method,
    url: at,
    remoteAddress: from,
    headers: { host: 'localhost:18081', ...headers },
    ...(method === 'POST' ? { payload } : {}),
  });
  const { code, errors, ...rest } = answer.json<{ code?: string; errors?: { field: string }[] }>();
  const fields = errors?.map(({ field }) => field);
  return { status: answer.statusCode, headers: answer.headers, code, fields, body: rest };
}

const what = async (body: unknown) => planView.parse((await send('POST', { body })).body);

describe('POST /v1/plan', () => {
  it('a what-if names each NIC that it would add, with the cause and the Jobs, and changes nothing', async () => {
    await delivered(scene);
    attach(scene.cloud, 3, 3);
    const effects = [...scene.effects];
    const plan = await what({ vmNames: serverIds });
    expect(plan).toMatchObject({
      config: 'multinic-system/osc',
      generation: 1,
      servers: 3,
      ports: 3,
      unchanged: 2,
      agentJobs: 1,
      heldRemovals: 0,
      problems: [],
      dryRun: { validated: true, message: '', answer: { applied: 1 } },
    });
    expect(plan.nodes).toMatchObject([
      {
        nodeName: 'worker-3',
        action: 'create',
        why: 'new',
        nics: [{ name: 'multinic0', change: 'add', portId: 'p3', after: { mtu: 1450 } }],
      },
    ]);
    expect([scene.effects, scene.viola.nodes.has('worker-3')]).toEqual([effects, false]);
    expect(scene.cloudEvent({ servers: [serverIds[2] ?? ''] })).toBe(false);
  });

  it('a what-if shows the planned mode, and an earlier Viola beside the plan', async () => {
    await delivered(scene);
    expect((await what({})).mode).toBeUndefined();
    const settings = { mode: 'Observe' };
    const [node] = (await what({ settings })).nodes;
    expect([node?.action, node?.nics, node?.why]).toEqual([
      'update',
      [],
      'mode Apply becomes Observe',
    ]);
    expect(scene.viola.dryRuns.at(-1)?.map(({ mode }) => mode)).toEqual(['Observe', 'Observe']);
    scene.viola.features = [];
    expect(await what({ settings })).toMatchObject({
      mode: 'Observe',
      dryRun: {
        validated: false,
        message: expect.stringContaining('does not list the feature observe') as unknown,
      },
    });
    expect(scene.viola.dryRuns).toHaveLength(1);
  });

  it('a what-if shows the fields that differ, and the cause of each removal', async () => {
    await delivered(scene);
    const changed = await what({ settings: { routing: 'main' } });
    expect(changed.nodes[0]?.nics).toEqual([
      {
        name: 'multinic0',
        change: 'change',
        portId: 'p1',
        macAddress: 'fa:16:3e:00:00:01',
        before: {},
        after: { routing: 'main' },
      },
    ]);
    const fewer = await what({ vmNames: serverIds.slice(0, 1) });
    expect(fewer.nodes).toMatchObject([
      {
        nodeName: 'worker-2',
        action: 'delete',
        nics: [{ change: 'remove', cause: 'deselected', basis: 'named' }],
      },
    ]);
    expect(fewer.budgets).toEqual([
      { scope: 'clusterNodes', used: 1, total: 2, allowed: 3 },
      { scope: 'clusterNics', used: 1, total: 2, allowed: 10 },
      { scope: 'configNics', used: 1, total: 2, allowed: 10 },
    ]);
  });

  it('a what-if names the NICs whose removal is above the budget, with basis and code', async () => {
    for (let n = 1; n <= 20; n++) attach(scene.cloud, n, n <= 10 ? 1 : 2);
    scene.create();
    await scene.look();
    const plan = await what({ vmNames: [serverIds[2] ?? ''] });
    const held = plan.nodes.flatMap(({ heldNics = [] }) => heldNics);
    expect([plan.heldRemovals, held.length]).toEqual([20, 20]);
    expect(held[0]).toEqual({
      name: 'multinic0',
      macAddress: 'fa:16:3e:00:00:01',
      basis: 'named',
      code: 'OverBudget',
    });
    expect(plan.budgets?.[1]).toEqual({ scope: 'clusterNics', used: 20, total: 20, allowed: 10 });
  });

  it('a hash is the same for the same inputs, and another after an edit, a change of cloud or of cluster', async () => {
    await delivered(scene);
    const hash = async (body: unknown = {}) => {
      await scene.clock.advance(1);
      return (await what(body)).hash;
    };
    const first = await hash();
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(await hash()).toBe(first);
    expect(await hash({ settings: {} })).toBe(first);
    const hashes = [first, await hash({ settings: { routing: 'main' } })];
    attach(scene.cloud, 3, 1);
    hashes.push(await hash());
    const node = scene.viola.nodes.get('worker-1');
    if (node) scene.viola.put({ ...node, generation: 7 });
    hashes.push(await hash());
    scene.edit({ settings: { pollFastInterval: '25s' } });
    hashes.push(await hash());
    expect(new Set(hashes).size).toBe(5);
  });

  it.each([
    ['credentials', { credentials: { authURL: 'https://evil.test' } }],
    ['secrets', { secrets: {} }],
    ['settings.contrabassEndpoint', { settings: { contrabassEndpoint: 'https://evil.test' } }],
    ['settings.contrabassEncryptKey', { settings: { contrabassEncryptKey: 'x' } }],
    ['settings.violaEndpoint', { settings: { violaEndpoint: 'https://evil.test' } }],
    ['settings.violaCompatibility', { settings: { violaCompatibility: 'legacy' } }],
    ['settings.openstackNeutronEndpoint', { settings: { openstackNeutronEndpoint: 'x' } }],
    ['settings.openstackInsecureTLS', { settings: { openstackInsecureTLS: true } }],
    ['settings.openstackEndpointRegion', { settings: { openstackEndpointRegion: 'x' } }],
    ['settings.openstackTimeout', { settings: { openstackTimeout: '1s' } }],
    ['spec', { spec: {} }],
    ['vmName', { vmName: ['x'] }],
    ['settings', { settings: 3 }],
    ['subnetIDs', { subnetIDs: 'sub-a' }],
    ['vmNames.0', { vmNames: [3] }],
    ['settings.maxInterfaces', { settings: { maxInterfaces: 11 } }],
    ['settings.routing', { settings: { routing: 'none' } }],
    ['spec.settings.portBaseline', { settings: { portBaseline: 'yesterday' } }],
    ['spec.vmNames', { vmNames: [] }],
    ['subnetIDs, subnetID or subnetName', { subnetIDs: null }],
    ['', []],
  ])('an edit of "%s" is refused by its name, and nothing is read', async (field, body) => {
    await delivered(scene);
    const before = scene.cloud.calls;
    const { status, fields } = await send('POST', { body });
    expect([status, fields]).toEqual([422, [field]]);
    expect(scene.cloud.calls).toBe(before);
  });

  it.each([
    ['text/plain', { headers: { 'content-type': 'text/plain' } }, 415, 'UnsupportedMediaType'],
    ['no media type', { headers: {} }, 415, 'UnsupportedMediaType'],
    ['a form', { headers: { 'content-type': 'multipart/form-data' } }, 415, 'UnsupportedMediaType'],
    ['an Origin', { headers: { ...json, origin: 'https://evil.test' } }, 403, 'ForeignOrigin'],
    ['an opaque Origin', { headers: { ...json, origin: 'null' } }, 403, 'ForeignOrigin'],
    ['another Host', { headers: { ...json, host: 'evil.test' } }, 421, 'HostNotLoopback'],
    ['broken JSON', { body: '{' }, 400, 'InvalidRequest'],
    ['another address', { from: '10.0.0.9' }, 401, 'TokenRequired'],
    ['an unknown object', { at: '/v1/plan/multinic-system/no' }, 404, 'NoSuchOpenstackConfig'],
  ] as const)('a what-if with %s is refused', async (_, request, status, code) => {
    await delivered(scene);
    const answer = await send('POST', request);
    expect([answer.status, answer.code]).toEqual([status, code]);
  });

  it('a page of the own host may send a what-if', async () => {
    await delivered(scene);
    const headers = { ...json, origin: 'http://localhost:18081' };
    expect((await send('POST', { headers })).status).toBe(200);
  });

  it.each([
    ['planner', 'POST', 200],
    ['reader', 'POST', 403],
    ['stranger', 'POST', 404],
    ['planner', 'GET', 403],
    ['reader', 'GET', 200],
    ['stranger', 'GET', 404],
  ] as const)('token %s: %s is answered with %i', async (token, method, status) => {
    await delivered(scene);
    const headers = { ...json, authorization: `Bearer ${token}` };
    expect((await send(method, { from: '10.0.0.9', headers })).status).toBe(status);
  });

  it('a second what-if of the same cloud gets 429 with Retry-After', async () => {
    await delivered(scene);
    const held = Promise.withResolvers<void>();
    scene.viola.beforeList = held.promise;
    const first = send('POST');
    const second = await send('POST');
    expect([second.status, second.code, second.headers['retry-after']]).toEqual([
      429,
      'WhatIfInProgress',
      '3',
    ]);
    held.resolve();
    expect((await first).status).toBe(200);
    expect((await send('POST')).status).toBe(200);
  });

  it('a failing service is a 503 with the reason of the sync, and the next what-if works', async () => {
    await delivered(scene);
    scene.cloud.fail('portsOf', 'timeout');
    await scene.clock.advance(1);
    const failed = await send('POST');
    expect([failed.status, failed.code]).toEqual([503, 'NeutronPortError']);
    scene.cloud.heal();
    expect((await send('POST')).status).toBe(200);
  });

  it('a paused OpenstackConfig without a sync is planned, a deleted one is not', async () => {
    attach(scene.cloud, 1, 1);
    scene.create({}, { annotations: { 'multinic.io/paused': 'true' }, finalizers: [cleanup] });
    expect((await what({})).nodes).toMatchObject([{ nodeName: 'worker-1', action: 'create' }]);
    expect(scene.memory()).toBeUndefined();
    scene.kube.delete();
    expect(await send('POST')).toMatchObject({ status: 409, code: 'Deleting' });
  });

  it('with a Viola without dry run the plan is not validated', async () => {
    await delivered(scene);
    scene.viola.isCurrent = false;
    const { dryRun } = await what({ settings: { routing: 'main' } });
    expect(dryRun).toEqual({
      validated: false,
      message: 'not validated by Viola: it has no dry run; upgrade Viola',
    });
  });

  it('nodes that Viola refuses are in the answer of the dry run', async () => {
    await delivered(scene);
    scene.viola.refused.set('worker-1', 'FieldConflict');
    const { dryRun } = await what({ settings: { routing: 'main' } });
    expect(dryRun).toMatchObject({ validated: true, answer: { applied: 1 } });
    expect(dryRun?.answer?.errors).toMatchObject([{ nodeName: 'worker-1' }]);
  });
});

describe('GET /v1/plan', () => {
  it('an OpenstackConfig created again has no plan of the one before', async () => {
    await delivered(scene);
    expect((await send('GET')).status).toBe(200);
    scene.create({}, { uid: 'cr-uid-2' });
    expect(await send('GET')).toMatchObject({ status: 404, code: 'NotPlannedYet' });
  });

  it('the plan of the last sync of all servers is answered, also when the delivery failed', async () => {
    attach(scene.cloud, 1, 1);
    scene.create();
    expect(await send('GET')).toMatchObject({ status: 404, code: 'NotPlannedYet' });
    scene.viola.refused.set('worker-1', 'Invalid');
    await scene.look();
    const plan = planView.parse((await send('GET')).body);
    expect(plan).toMatchObject({ generation: 1, agentJobs: 1, servers: 2, unchanged: 0 });
    expect(plan.nodes).toMatchObject([{ nodeName: 'worker-1', action: 'create' }]);
    expect(plan.verdicts).toMatchObject([{ portId: 'p1', nic: 'multinic0' }]);
    expect(plan.dryRun).toBeUndefined();
  });

  it('an unchanged plan has the time of the last sync', async () => {
    await delivered(scene);
    await scene.look(200_000);
    const first = planView.parse((await send('GET')).body);
    await scene.look(200_000);
    const second = planView.parse((await send('GET')).body);
    expect({ ...second, calculatedAt: first.calculatedAt }).toEqual(first);
    expect(second.calculatedAt).not.toBe(first.calculatedAt);
  });

  it('a replica that does not lead, and one whose term has just begun, answer no plan', async () => {
    await delivered(scene);
    unavailable = 'another replica leads';
    expect(await send('GET')).toMatchObject({ status: 503, code: 'NotLeading' });
    expect(await send('POST')).toMatchObject({ status: 503, code: 'NotLeading' });
    unavailable = undefined;
    scene.leadAgain();
    expect(await send('GET')).toMatchObject({ status: 404, code: 'NotPlannedYet' });
  });
});
