import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, test } from 'vitest';
import { decryptPassword } from '../../src/openstack/aes-cbc.ts';

const entry = new URL('main.ts', import.meta.url).pathname;
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function run(...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [entry, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  return child;
}

async function outcome(child: ChildProcess): Promise<{ code: unknown; out: string; err: string }> {
  let out = '';
  let err = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [unknown];
  return { code, out, err };
}

async function readyLine(child: ChildProcess): Promise<Record<string, string>> {
  if (child.stdout === null) throw new Error('no output');
  for await (const line of createInterface({ input: child.stdout })) {
    return JSON.parse(line) as Record<string, string>;
  }
  throw new Error('it ended without a ready line');
}

describe('rig/cloud/main.ts', () => {
  test('--help explains itself', async () => {
    const { code, out } = await outcome(run('--help'));
    expect(code).toBe(0);
    for (const word of ['--port', '--latency', '--contrabass-only', 'Exit codes'])
      expect(out).toContain(word);
  });

  test('prints its URLs without the key, serves, and ends cleanly on SIGTERM', async () => {
    const child = run('--encrypt-key', 'secret-key-16byt');
    const ready = await readyLine(child);
    expect(Object.keys(ready)).toEqual(
      expect.arrayContaining([
        'contrabassUrl',
        'keystoneUrl',
        'neutronUrl',
        'novaUrl',
        'controlUrl',
      ]),
    );
    expect(JSON.stringify(ready)).not.toContain('secret-key');
    expect((await fetch(`${ready['neutronUrl']}/`)).status).toBe(200);
    child.kill('SIGTERM');
    const [code] = (await once(child, 'close')) as [unknown];
    expect(code).toBe(0);
  });

  test('Contrabass alone leads to the given Keystone', async () => {
    const child = run(
      '--contrabass-only',
      '--keystone',
      'http://keystone:5000',
      '--admin-password',
      'pw',
    );
    const { contrabassUrl, providerId } = await readyLine(child);
    const url = `${contrabassUrl}/v1/contrabass/admin/infra/provider/${providerId}`;
    const { data } = (await (await fetch(url)).json()) as {
      data: { url: string; attributes: { adminPw: string } };
    };
    expect(data.url).toBe('http://keystone:5000');
    expect(decryptPassword(data.attributes.adminPw, 'multinic-rig-key')).toBe('pw');
  });

  test('a port that is taken is one sentence and exit code 2', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => {
      holder.listen(0, '127.0.0.1', resolve);
    });
    const { port } = holder.address() as { port: number };
    const { code, err } = await outcome(run('--port', String(port)));
    await new Promise((resolve) => holder.close(resolve));
    expect([code, err]).toEqual([
      2,
      'cloud: the port is taken by another process: choose another with --port, or leave it out\n',
    ]);
  });

  test('wrong arguments are one sentence and exit code 2', async () => {
    const { code, err } = await outcome(run('--port', 'x'));
    expect([code, err.split('\n')]).toEqual([2, [expect.stringContaining('cloud: --port'), '']]);
  });
});
