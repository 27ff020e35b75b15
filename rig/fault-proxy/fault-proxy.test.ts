import { describe, expect, it } from 'vitest';
import {
  caCert,
  clientCert,
  clientKey,
  serverCert,
  serverKey,
} from '../../src/kube/testing/certificates.ts';
import { disposeAfterTest, startScriptedServer } from '../../src/kube/testing/scripted-server.ts';
import { startControl } from './control.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { clientOf, get, hello, setUp, setUpEcho } from './proxy-in-test.ts';
import type { RuleInput } from './rules.ts';

describe('a proxy without rules', () => {
  it('changes nothing, and knows what was asked', async () => {
    const { proxy, client } = await setUp();
    expect(await get(client, '/a?b=c')).toMatchObject({ status: 200, text: 'GET /a' });
    expect(proxy.requests).toMatchObject([{ method: 'GET', path: '/a?b=c' }]);
  });

  it('shows the identity it was given to a server that asks for client certificates', async () => {
    const tls = { cert: serverCert, key: serverKey, ca: caCert, requestCert: true };
    const server = await startScriptedServer(hello, tls);
    const identity = { ca: caCert, cert: clientCert, key: clientKey };
    const proxy = await startFaultProxy({ target: server.url, identity });
    const access = proxy.through({ server: server.url, ca: caCert, clientCert, clientKey });
    expect(access).toEqual({ server: proxy.url, ca: proxy.ca });
    disposeAfterTest(proxy, server);
    const client = clientOf(proxy);
    expect((await get(client)).text).toBe('GET /a');
    expect(server.requests[0]?.socket).toMatchObject({ authorized: true });
  });

  it('exchanges texts in answers', async () => {
    const { client } = await setUp((_, response) => response.end('see http://old/x'), {
      rewrite: { 'http://old': 'http://new' },
    });
    expect((await get(client)).text).toBe('see http://new/x');
  });
});

describe('a rule that the proxy could never meet', () => {
  it('is refused by a proxy of plain TCP: there are no requests', async () => {
    const { proxy } = await setUpEcho();
    for (const fault of ['hang', 'reset', 'lost-answer', 'endless-answer'] as const) {
      expect(() => proxy.add({ fault })).toThrow('plain TCP');
    }
    expect(() => proxy.add({ fault: 'delay', path: '^/a', ms: 1 })).toThrow('plain TCP');
    expect(proxy.rules).toEqual([]);
  });

  it('is refused by a proxy of HTTP: answers are not counted in bytes of a connection', async () => {
    const { proxy } = await setUp();
    expect(() => proxy.add({ fault: 'cut', bytes: 1 })).toThrow('HTTP');
  });

  it('is refused where a connection is met, of which no path is known', async () => {
    const { proxy } = await setUp();
    for (const fault of ['black-hole', 'no-backend'] as const) {
      expect(() => proxy.add({ fault, path: '/a' } as RuleInput)).toThrow('path');
    }
  });
});

it('is commanded over HTTP', async () => {
  const { proxy, client } = await setUp();
  const control = await startControl(proxy);
  disposeAfterTest(control);
  const added = await fetch(`${control.url}/rules`, {
    method: 'POST',
    body: JSON.stringify({ fault: 'answer', status: 503 }),
  });
  expect([added.status, await added.json()]).toEqual([201, { id: '1' }]);
  expect((await get(client)).status).toBe(503);
  expect(await (await fetch(`${control.url}/rules`)).json()).toMatchObject([{ id: '1', met: 1 }]);
  expect(await (await fetch(`${control.url}/requests`)).json()).toHaveLength(1);
  const refused = await fetch(`${control.url}/rules`, { method: 'POST', body: '{"fault":"no"}' });
  expect(refused.status).toBe(400);
  const unknown = await fetch(`${control.url}/rules/7`, { method: 'DELETE' });
  expect([unknown.status, proxy.rules.length]).toEqual([404, 1]);
  await fetch(`${control.url}/rules/1`, { method: 'DELETE' });
  expect((await get(client)).status).toBe(200);
});
