import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const main = join(import.meta.dirname, 'main.ts');
let directory = '';

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'main-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the program to its end; one that does not end within 15 s is killed. */
async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...process.env, ...env },
    timeout: 15_000,
    killSignal: 'SIGKILL',
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (piece: Buffer) => (out += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (err += piece.toString()));
  const [status, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { status, signal, out, err } satisfies Ended;
}

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

/** Settings of a Viola whose management cluster is not there. */
function viola(listen: string): readonly string[] {
  const kubeconfig = JSON.stringify({
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  });
  const files = { kubeconfig: file('kubeconfig', kubeconfig), 'tokens-file': file('tokens', '[]') };
  const flags = Object.entries({ ...files, listen });
  return ['viola', ...flags.flatMap(([flag, value]) => [`--${flag}`, value])];
}

describe('a process that is told to end while it still loads its part', () => {
  /** A module that takes for ever to load, and a signal meanwhile. */
  const source = `process.kill(process.pid, process.env.SIGNAL);
    setInterval(() => undefined, 1000);
    await new Promise(() => undefined);`;
  const hook = `import { registerHooks } from 'node:module';
    const source = ${JSON.stringify(source)};
    registerHooks({
      load: (url, context, next) => url.endsWith(process.env.SLOW)
        ? { format: 'module', source, shortCircuit: true }
        : next(url, context),
    });`;
  const told = async (signal: NodeJS.Signals, at: string, args: readonly string[]) => {
    const options = `--import=${file('slow.mjs', hook)}`;
    return run(args, { NODE_OPTIONS: options, SIGNAL: signal, SLOW: at });
  };

  it.each(['SIGTERM', 'SIGINT'] as const)('ends in order after %s', async (signal) => {
    const ended = await told(signal, '/src/viola/start.ts', viola('127.0.0.1:0'));
    expect(ended).toMatchObject({ status: 0, signal: null });
  });

  it('ends its part in order once that runs', async () => {
    const child = spawn(process.execPath, [main, ...viola('127.0.0.1:0')]);
    const ended = once(child, 'close');
    const said: string[] = [];
    createInterface(child.stdout).on('line', (line) => {
      const { msg } = JSON.parse(line) as { msg: string };
      said.push(msg);
      if (msg === 'viola serves') child.kill('SIGTERM');
    });
    expect(await ended).toEqual([0, null]);
    expect(said).toContain('stopping');
    expect(said.at(-1)).toBe('stopped');
  });

  it('has not succeeded when it is an agent', async () => {
    const ended = await told('SIGTERM', '/src/agent/main-agent.ts', ['agent', '--dry-run']);
    expect(ended).toMatchObject({ status: 1, signal: null });
  });
});

describe('a part that fails', () => {
  it('says why and exits, when its port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const { status, signal, out } = await run(viola(`127.0.0.1:${port}`));
    taken.close();
    expect([status, signal]).toEqual([1, null]);
    expect(out).toContain('"level":"fatal"');
    expect(out).toContain('EADDRINUSE');
  });
});

it('a part says in its metrics what it is, and how large its heap may get', async () => {
  const limits = ['--max-old-space-size=99', '--max-semi-space-size=1'];
  const child = spawn(process.execPath, [...limits, main, ...viola('127.0.0.1:0')]);
  const ended = once(child, 'close');
  const url = Promise.withResolvers<string>();
  const lines = createInterface(child.stdout);
  lines.on('line', (line) => {
    const said = JSON.parse(line) as { msg: string; url?: string };
    if (said.msg === 'viola serves' && said.url) url.resolve(said.url);
  });
  lines.on('close', () => url.reject(new Error('it ended')));
  const metrics = await (await fetch(`${await url.promise}/metrics`)).text();
  child.kill('SIGKILL');
  await ended;
  expect(metrics).toMatch(
    /^multinic_build_info\{part="viola",version="[\d.]+",commit="source"\} 1$/m,
  );
  const limit = /^multinic_heap_limit_bytes\{part="viola"\} (\d+)$/m.exec(metrics)?.[1];
  expect(Number(limit)).toBeGreaterThan(99 * 2 ** 20);
  expect(Number(limit)).toBeLessThan(110 * 2 ** 20);
});

describe('what a part is told', () => {
  it('a log level that does not exist is named, not thrown', async () => {
    const { status, err } = await run(viola('127.0.0.1:0'), { LOG_LEVEL: 'verbose' });
    expect(status).toBe(2);
    expect(err).toContain('LOG_LEVEL: "verbose" must be one of trace, debug, info');
    expect(err).not.toContain('    at ');
  });

  it('removed settings are named in warnings, and the part starts', async () => {
    const args = [...viola('256.0.0.1:0'), '--parallel', '4'];
    const { out } = await run(args, { VIOLA_CACHE_FOR: 'soon' });
    expect(out).toContain('--parallel is removed and has no effect: Viola always writes 8 nodes');
    expect(out).toContain('VIOLA_CACHE_FOR is removed and has no effect: ');
    expect(out).toMatch(/"level":"warn"[^\n]*VIOLA_CACHE_FOR/);
  });

  it('help shows each default, and no removed setting', async () => {
    const { out, status } = await run(['viola', '--help']);
    const words = out.replaceAll(/\s+/g, ' ');
    expect(status).toBe(0);
    expect(words).toContain('Default: 30s. [VIOLA_CLUSTER_TIMEOUT, KUBECTL_TIMEOUT]');
    expect(words).toContain('Default: required. [VIOLA_TOKENS_FILE]');
    expect(words).toContain('Default: none. [VIOLA_TLS_KEY]');
    expect(words).not.toContain('--parallel');
  });

  it('a proxy in the environment is said to be of no use', async () => {
    const { out } = await run(viola('256.0.0.1:0'), { HTTPS_PROXY: 'http://proxy:3128' });
    expect(out).toContain('all is reached without these proxies');
  });
});
