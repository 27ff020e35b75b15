import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namespace, ViolaFixture } from '../../../test/fixtures/viola.ts';
import { nodeConfigsPath } from '../../api/node-configs-http.ts';
import { listen } from '../../http/server.ts';
import { nodeConfigs } from '../node-configs/node-config.ts';

let bed: ViolaFixture;
let url: URL;
const stop = new AbortController();

beforeAll(async () => {
  bed = await ViolaFixture.start();
  url = new URL((await listen(bed.app, { host: '127.0.0.1', port: 0 }, stop.signal)).url);
});

afterAll(async () => {
  stop.abort(new Error('done'));
  await bed[Symbol.asyncDispose]();
});

/** Opens a connection with an unfinished request: the head and one body byte are sent. */
async function startRequest(token: string): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname);
  const head = [
    `POST ${nodeConfigsPath} HTTP/1.1`,
    'host: viola',
    `authorization: Bearer ${token}`,
    'x-provider-id: biz-1',
    'content-type: application/json',
    'content-length: 1000',
    'connection: close',
  ];
  await new Promise((resolve) => socket.write(`${head.join('\r\n')}\r\n\r\n[`, resolve));
  return socket;
}

async function statusOfGet(token = 'rw'): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'x-provider-id': 'biz-1' };
  return (await fetch(new URL(nodeConfigsPath, url), { headers })).status;
}

describe('caller without a known token', () => {
  it('a caller without a known token gets 401 before its body is read', async () => {
    const socket = await startRequest('guess');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 401 /);
    const headers = { 'content-type': 'application/json' };
    const wrong = await fetch(new URL(nodeConfigsPath, url), {
      method: 'POST',
      headers,
      body: '{"a":',
    });
    expect(wrong.status).toBe(401);
  });

  it('a caller without a known token occupies no slots with 300 unfinished requests', async () => {
    const sockets = await Promise.all(Array.from({ length: 300 }, () => startRequest('guess')));
    try {
      expect(await statusOfGet()).toBe(200);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});

describe('caller using all its slots', () => {
  it('a caller with all slots in use gets 429, while other callers are served', async () => {
    const sockets = await Promise.all(Array.from({ length: 32 }, () => startRequest('rw')));
    try {
      await expect.poll(() => statusOfGet('rw')).toBe(429);
      expect(await statusOfGet('ro')).toBe(200);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    await expect.poll(() => statusOfGet('rw')).toBe(200);
  });
});

describe('disconnecting caller', () => {
  it("a caller's disconnect stops the writes for its remaining nodes", async () => {
    const resource = 'multinicnodeconfigs.multinic.io';
    bed.api.faults.delay({ verb: 'patch', resource, ms: 50, times: 999 });
    const nodes = Array.from({ length: 60 }, (_, i) => ({ nodeName: `n${i}`, interfaces: [] }));
    const leave = new AbortController();
    const headers = {
      authorization: 'Bearer rw',
      'x-provider-id': 'biz-1',
      'content-type': 'application/json',
    };
    const post = (body: object, signal: AbortSignal) =>
      fetch(new URL(nodeConfigsPath, url), {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        signal,
      });
    const left = post(nodes, leave.signal);
    await expect.poll(() => bed.writes.length).toBeGreaterThan(0);
    leave.abort();
    await expect(left).rejects.toThrow();
    // Three more requests take longer than the first node of each worker.
    for (const nodeName of ['a', 'b', 'c']) await post([{ nodeName }], stop.signal);
    expect(bed.writes.length).toBeLessThan(nodes.length / 2);
  });

  it("a list after a caller's disconnect contains the nodes written for this caller", async () => {
    const headers = {
      authorization: 'Bearer rw',
      'x-provider-id': 'biz-1',
      'content-type': 'application/json',
    };
    const list = async (): Promise<string> =>
      (await fetch(new URL(nodeConfigsPath, url), { headers })).text();
    await bed.reset();
    // Cached before the write.
    await bed.call('GET', '?fresh=true');
    const resource = 'multinicnodeconfigs.multinic.io';
    bed.api.faults.delay({ verb: 'get', resource, name: 'slow', ms: 3_000 });
    const leave = new AbortController();
    const { signal } = leave;
    const body = JSON.stringify([{ nodeName: 'quick' }, { nodeName: 'slow' }]);
    const left = fetch(new URL(nodeConfigsPath, url), { method: 'POST', headers, body, signal });
    await expect
      .poll(() => bed.admin.find(nodeConfigs, { namespace, name: 'quick' }))
      .toBeDefined();
    leave.abort();
    await expect(left).rejects.toThrow();
    await expect.poll(list).toContain('"quick"');
  });
});
