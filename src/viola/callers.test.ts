import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namespace, ViolaFixture } from '../../test/fixtures/viola.ts';
import { nodeConfigsPath } from '../api/node-configs-http.ts';
import { listen } from '../http/server.ts';
import { nodeConfigs } from './node-config.ts';

/** Vitest's second is too short on a machine that is busy with other tests. */

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

/** A connection on which a request was begun: its head is sent, of its body one byte. */
async function begun(token: string): Promise<Socket> {
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

describe('a caller without a known token', () => {
  it('is answered before its body is read, whatever the body', async () => {
    const socket = await begun('guess');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 401 /);
    const headers = { 'content-type': 'application/json' };
    const wrong = await fetch(new URL(nodeConfigsPath, url), {
      method: 'POST',
      headers,
      body: '{"a":',
    });
    expect(wrong.status).toBe(401);
  });

  it('takes no slot from others, however many bodies it sends however slowly', async () => {
    const sockets = await Promise.all(Array.from({ length: 300 }, () => begun('guess')));
    try {
      expect(await statusOfGet()).toBe(200);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});

describe('a caller that fills its slots towards one cluster', () => {
  it('takes none from other callers', async () => {
    const sockets = await Promise.all(Array.from({ length: 32 }, () => begun('rw')));
    try {
      await expect.poll(() => statusOfGet('rw')).toBe(429);
      expect(await statusOfGet('ro')).toBe(200);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    await expect.poll(() => statusOfGet('rw')).toBe(200);
  });
});

describe('a caller that leaves', () => {
  it('takes the writing of its nodes with it', async () => {
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

  it('leaves no list behind that lacks what was written for it', async () => {
    const headers = {
      authorization: 'Bearer rw',
      'x-provider-id': 'biz-1',
      'content-type': 'application/json',
    };
    const list = async (): Promise<string> =>
      (await fetch(new URL(nodeConfigsPath, url), { headers })).text();
    await bed.reset();
    // Read and kept before it was written.
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
