import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let folder: string;
let server: Server;
let url: string;
let asked = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'helm-test-'));
  await writeFile(join(folder, 'token'), 'secret-word\n');
  server = createServer((request, response) => {
    asked += 1;
    const { url: path = '', headers } = request;
    const isWell = path === '/well' || (path === '/late' && asked > 1);
    const isKnown = path === '/guarded' && headers.authorization === 'Bearer secret-word';
    response.statusCode = isWell || isKnown ? 200 : 503;
    response.end(isWell ? '{"status":"ok"}' : '{"failing":{"clusters":"not read yet"}}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.close().closeAllConnections();
  await rm(folder, { recursive: true });
});

interface Check {
  readonly name: string;
  readonly url: string;
  readonly tokenFile?: string;
}

/** Exit status and output of the test script, run as in the Pod. */
async function run(checks: readonly Check[], tries = 1) {
  asked = 0;
  const env = { ...process.env, CHECKS: JSON.stringify(checks), TRIES: String(tries), PAUSE: '1' };
  const script = join(import.meta.dirname, '../../charts/multinic-operator/files/helm-test.mjs');
  const { promise, resolve } = Promise.withResolvers<{ status: number; said: string }>();
  const child = execFile(process.execPath, [script], { env }, (_error, stdout) =>
    resolve({ status: child.exitCode ?? -1, said: stdout }),
  );
  return promise;
}

describe('helm test', () => {
  it('helm test succeeds when all endpoints answer 200, with the token where required', async () => {
    const checks = [
      { name: 'operator', url: `${url}/well` },
      { name: 'viola', url: `${url}/guarded`, tokenFile: join(folder, 'token') },
    ];
    const { status, said } = await run(checks);
    expect(status).toBe(0);
    expect(said).toContain(`ok     operator: ${url}/well\n       200 {"status":"ok"}`);
    expect(said).not.toContain('secret-word');
  });

  it('helm test fails when an endpoint does not answer 200, and prints the answer', async () => {
    const checks = [
      { name: 'operator', url: `${url}/well` },
      { name: 'viola', url: `${url}/ill` },
    ];
    const { status, said } = await run(checks);
    expect(status).toBe(1);
    expect(said).toContain(`FAILED viola: ${url}/ill\n       503 {"failing":`);
  });

  it('helm test fails without the token, and without a server', async () => {
    const token = join(folder, 'gone');
    expect(await run([{ name: 'viola', url: `${url}/guarded` }])).toMatchObject({ status: 1 });
    const without = await run([{ name: 'viola', url: `${url}/guarded`, tokenFile: token }]);
    expect(without.status).toBe(1);
    expect(without.said).toContain('ENOENT');
    const nobody = await run([{ name: 'viola', url: 'http://127.0.0.1:1/' }]);
    expect(nobody.status).toBe(1);
    expect(nobody.said).toContain('FAILED viola');
  });

  it('helm test waits for a starting server', async () => {
    expect(await run([{ name: 'operator', url: `${url}/late` }], 3)).toMatchObject({ status: 0 });
  });
});
