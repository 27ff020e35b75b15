import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type LegacyNode, LegacyOperator } from '../../../test/fixtures/legacy-operator.ts';
import { type RunningViola, runViola } from '../../../test/fixtures/running-viola.ts';
import { namespace, postedNode, ViolaFixture } from '../../../test/fixtures/viola.ts';
import { nodeConfigsPath } from '../../api/node-configs-http.ts';
import { events } from '../../kube/core-resources.ts';
import { readSettings } from '../../process/settings.ts';
import { nodeConfigs } from '../node-configs/node-config.ts';
import { violaSettings } from '../settings.ts';
import { legacyListenerOf } from './listener.ts';

let bed: ViolaFixture;
let viola: RunningViola;
let legacyUrl: string;
const pod = { name: 'viola-api-1', namespace, uid: 'pod-uid' };

async function run(flags: Readonly<Record<string, string>>, own?: typeof pod) {
  const kubeconfig = await bed.api.kubeconfig();
  return runViola({ kubeconfig, 'tokens-file': bed.tokensFile, ...flags }, own);
}

beforeAll(async () => {
  bed = await ViolaFixture.start();
  const flags = { 'legacy-listener': '[::]:0', 'legacy-allow-from': '127.0.0.0/30, ::1/128' };
  viola = await run(flags, pod);
  const url = new URL(viola.url('without a token'));
  legacyUrl = `http://127.0.0.1:${url.port}`;
  await vi.waitFor(async () => {
    expect((await fetch(`${viola.url('viola started')}/readyz`)).status).toBe(200);
  });
});

afterAll(async () => {
  await viola[Symbol.asyncDispose]();
  await bed[Symbol.asyncDispose]();
});

beforeEach(async () => bed.reset());

const nic = (id: number) => ({
  id,
  portId: `port-${id}`,
  macAddress: `fa:16:3e:00:00:0${id}`,
  address: `10.0.0.1${id}`,
  cidr: '10.0.0.0/24',
  mtu: 1450,
});
const node = (name: string, ...interfaces: LegacyNode['interfaces']): LegacyNode => ({
  nodeName: name,
  instanceId: `server-of-${name}`,
  interfaces,
});

interface Call {
  readonly method?: string;
  readonly path?: string;
  /** Source address for the socket. */
  readonly from?: string;
  readonly to?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

async function call({
  method = 'POST',
  path = nodeConfigsPath,
  from,
  to,
  headers,
  body,
}: Call = {}) {
  return new Promise<{ status: number; body: unknown }>((resolve, reject) => {
    const sent = { 'content-type': 'application/json', 'x-provider-id': 'biz-1', ...headers };
    const url = `${to ?? legacyUrl}${path}`;
    const outgoing = request(
      url,
      { method, headers: sent, ...(from ? { localAddress: from } : {}) },
      (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) }));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(method.startsWith('P') ? JSON.stringify(body ?? [postedNode]) : undefined);
  });
}

async function nicsOf(name: string): Promise<(number | undefined)[]> {
  const object = await bed.admin.find(nodeConfigs, { namespace, name });
  return object?.spec.interfaces?.map(({ id }) => id) ?? [];
}

async function eventsOfPods(): Promise<unknown[]> {
  const { items } = await bed.admin.list(events, { namespace });
  return items.map(({ involvedObject, type, reason }) => [involvedObject.uid, type, reason]);
}

describe('legacy operator at the legacy listener', () => {
  it("the legacy operator's nodes are written without token, id 0 or known mtu", async () => {
    const operator = new LegacyOperator(legacyUrl, 'biz-1');
    operator.change(node('worker-1', nic(0), nic(1)), node('worker-2', { ...nic(0), mtu: 0 }));
    await operator.poll();
    expect([operator.statuses, operator.pending]).toEqual([[200], []]);
    expect(await nicsOf('worker-1')).toEqual([0, 1]);
    expect(await nicsOf('worker-2')).toEqual([0]);
  });

  it('the legacy operator repeats all nodes until every node was accepted', async () => {
    const operator = new LegacyOperator(legacyUrl, 'biz-1');
    operator.change(node('worker-1', nic(0)), node('worker-2', { ...nic(0), cidr: '10.0.0.0/99' }));
    await operator.poll();
    expect(operator.pending).toEqual(['worker-1', 'worker-2']);
    expect(await nicsOf('worker-1')).toEqual([0]);
    operator.change(node('worker-2', nic(0)));
    await operator.poll();
    expect([operator.statuses, operator.pending]).toEqual([[422, 200], []]);
    expect(await nicsOf('worker-2')).toEqual([0]);
  });

  it('repeated equal posts from the legacy operator change nothing', async () => {
    const operator = new LegacyOperator(legacyUrl, 'biz-1');
    operator.change(node('worker-1', nic(0)));
    await operator.poll();
    const before = await bed.stored();
    for (let again = 0; again < 5; again++) {
      operator.change(node('worker-1', nic(0)));
      await operator.poll();
    }
    expect(operator.statuses).toEqual(Array(6).fill(200));
    expect(await bed.stored()).toEqual(before);
  });

  it('the legacy operator cannot overwrite a fenced object and keeps retrying', async () => {
    const fenced = {
      ...postedNode,
      nodeName: 'worker-1',
      instanceId: 'server-of-worker-1',
      base: null,
    };
    expect((await bed.post([fenced])).status).toBe(200);
    const operator = new LegacyOperator(legacyUrl, 'biz-1');
    operator.change(node('worker-1', nic(1)));
    await operator.poll();
    expect([operator.statuses, operator.pending]).toEqual([[409], ['worker-1']]);
    expect(await nicsOf('worker-1')).toEqual([0]);
  });
});

describe('legacy listener', () => {
  it.each([
    ['127.0.0.2', {}, 200],
    ['127.0.0.4', {}, 403],
    ['127.0.0.4', { 'x-forwarded-for': '127.0.0.1', forwarded: 'for=127.0.0.1' }, 403],
    ['127.0.0.4', { 'x-real-ip': '127.0.0.1', authorization: 'Bearer rw' }, 403],
  ])(
    'the legacy listener decides by socket address: %s with headers %o gets %i',
    async (from, headers, status) => {
      const answer = await call({ from, headers });
      expect(answer.status).toBe(status);
      if (status === 403) {
        expect(answer.body).toMatchObject({
          code: 'AddressDenied',
          detail: expect.stringMatching(`^${from} is not in --legacy-allow-from`) as string,
        });
      }
    },
  );

  it('the legacy listener accepts IPv6', async () => {
    expect((await call({ to: legacyUrl.replace('127.0.0.1', '[::1]') })).status).toBe(200);
  });

  it.each([
    ['GET', nodeConfigsPath],
    ['GET', `${nodeConfigsPath}/worker-1`],
    ['DELETE', `${nodeConfigsPath}/worker-1`],
    ['GET', '/v1/k8s/clusters'],
    ['GET', '/metrics'],
    ['GET', '/healthz'],
    ['GET', '/configz'],
    ['GET', '/docs'],
    ['GET', '/openapi.json'],
    ['PUT', nodeConfigsPath],
  ])('the legacy listener answers 404 to %s %s and names its only route', async (method, path) => {
    const { status, body } = await call({ method, path });
    expect(status).toBe(404);
    expect(body).toMatchObject({
      code: 'NoSuchRoute',
      detail: `no route ${method} ${path}; this listener accepts only POST ${nodeConfigsPath}; for other requests use the address of --listen, with a token`,
    });
  });

  it.each([
    [{ 'x-provider-id': '' }, 400, 'ProviderRequired'],
    [{ 'x-provider-id': 'biz-9' }, 404, 'UnknownProvider'],
  ])(
    'the legacy listener requires a registered provider: headers %o get %i',
    async (headers, status, code) => {
      // Checked before the body is parsed.
      const body = 'no list of nodes';
      expect(await call({ headers, body })).toMatchObject({ status, body: { code } });
    },
  );

  it('the legacy listener never answers 200 for a partly refused set, even with Prefer: multinic-results', async () => {
    const body = [postedNode, { nodeName: '' }];
    const headers = { prefer: 'multinic-results' };
    expect((await call({ headers, body })).status).toBe(422);
  });

  it('the API listener still requires a token beside the legacy listener', async () => {
    const to = viola.url('viola started');
    expect(await call({ to })).toMatchObject({ status: 401, body: { code: 'TokenRequired' } });
  });

  it('the legacy listener is reported in log, metrics, a Pod Event and the cluster list', async () => {
    await call({});
    const { level, msg } = viola.lines.find((line) => line.msg.includes('without a token')) ?? {};
    expect(level).toBe('warn');
    expect(msg).toContain('from 127.0.0.0/30, ::1/128; unset --legacy-listener');
    expect(viola.lines).toContainEqual(expect.objectContaining({ caller: 'legacy', status: 200 }));
    const text = await viola.metrics();
    expect(text).toContain('multinic_legacy_listener 1');
    expect(text).toMatch(
      /multinic_http_requests_total\{server="viola-legacy",method="POST".*status="200"/,
    );
    await expect.poll(eventsOfPods).toEqual([['pod-uid', 'Warning', 'LegacyListener']]);
    const headers = { authorization: 'Bearer rw' };
    const to = viola.url('viola started');
    const { body } = await call({ method: 'GET', path: '/v1/k8s/clusters', to, headers });
    expect(body).toMatchObject({
      conditions: [
        { type: 'LegacyListener', status: 'True', reason: 'LegacyListener', message: msg },
      ],
    });
  });

  it('the legacy listener is off by default', async () => {
    await using plain = await run({});
    expect(await plain.metrics()).toContain('multinic_legacy_listener 0');
    expect(plain.lines.some(({ msg }) => msg.includes('without a token'))).toBe(false);
    const answer = await fetch(`${plain.url('viola started')}/v1/k8s/clusters`, {
      headers: { authorization: 'Bearer rw' },
    });
    expect(await answer.json()).not.toHaveProperty('conditions');
  });

  it('the legacy listener warns about an allowed network 0.0.0.0/0, and works outside a Pod', async () => {
    const flags = { 'legacy-listener': '127.0.0.1:0', 'legacy-allow-from': '10.0.0.0/8,0.0.0.0/0' };
    await using open = await run(flags);
    expect(open.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', networks: ['0.0.0.0/0'] }),
    );
  });

  it('Viola does not start when the legacy port is in use', async () => {
    const taken = `127.0.0.1:${new URL(legacyUrl).port}`;
    const flags = { 'legacy-listener': taken, 'legacy-allow-from': '10.0.0.0/8' };
    await expect(run(flags)).rejects.toThrow(`${taken} is taken by another process`);
  });
});

function read(flags: Readonly<Record<string, string>>) {
  const all = { 'tokens-file': 'x', ...flags };
  return legacyListenerOf(readSettings(violaSettings, { env: {}, flags: all }));
}

describe('legacy listener settings', () => {
  it.each([
    [{ 'legacy-listener': ':8081' }, 'must be set together'],
    [{ 'legacy-allow-from': '10.0.0.0/8' }, 'must be set together'],
    [{ 'legacy-listener': ':8081', 'legacy-allow-from': ' , ' }, 'must be set together'],
    [
      { 'legacy-listener': ':8080', 'legacy-allow-from': '10.0.0.0/8' },
      'has the same port as --listen (8080)',
    ],
    [
      { 'legacy-listener': ':8081', 'legacy-allow-from': '10.0.0.0/8,10.0.0.1' },
      'one address is 10.0.0.1/32',
    ],
    [{ 'legacy-listener': 'here', 'legacy-allow-from': '10.0.0.0/8' }, 'must be an address'],
  ])('settings %o are refused', (flags, why) => {
    expect(() => read(flags)).toThrow(why);
  });

  it('legacy listener settings are read from the environment and default to off', () => {
    const env = { VIOLA_LEGACY_LISTENER: ':8081', VIOLA_LEGACY_ALLOW_FROM: '10.0.0.0/8, fd00::/8' };
    const settings = readSettings(violaSettings, { env, flags: { 'tokens-file': 'x' } });
    expect(legacyListenerOf(settings)).toMatchObject({
      listen: { host: '', port: 8081 },
      allowFrom: ['10.0.0.0/8', 'fd00::/8'],
    });
    expect(read({})).toBeUndefined();
  });
});
