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

/** Runs the program to its end; after 15 s the program is killed. */
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

/** Returns Viola flags with an unreachable management cluster. */
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

/** Returns a loader hook: `module` replaces the module SLOW. */
function hookFor(module: string): string {
  return `import { registerHooks } from 'node:module';
      const source = ${JSON.stringify(module)};
      registerHooks({
        load: (url, context, next) => url.endsWith(process.env.SLOW)
          ? { format: 'module', source, shortCircuit: true }
          : next(url, context),
      })`;
}

describe('process signalled while loading its part', () => {
  /** An endlessly loading module; the module sends the signal. */
  const source = `process.kill(process.pid, process.env.SIGNAL);
    setInterval(() => undefined, 1000);
    await new Promise(() => undefined);`;
  const signalled = async (signal: NodeJS.Signals, at: string, args: readonly string[]) => {
    const options = `--import=${file('slow.mjs', hookFor(source))}`;
    return run(args, { NODE_OPTIONS: options, SIGNAL: signal, SLOW: at });
  };

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'a part exits with status 0 after %s during loading',
    async (signal) => {
      const ended = await signalled(signal, '/src/viola/start.ts', viola('127.0.0.1:0'));
      expect(ended).toMatchObject({ status: 0, signal: null });
    },
  );

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'a part exits with status 0 after %s while a module blocks the event loop',
    async (signal) => {
      const blocking = `process.kill(process.pid, process.env.SIGNAL);
        const end = performance.now() + 200;
        while (performance.now() < end);
        export const startViola = () => new Promise(() => setInterval(() => undefined, 1000));`;
      const options = `--import=${file('blocking.mjs', hookFor(blocking))}`;
      const env = { NODE_OPTIONS: options, SIGNAL: signal, SLOW: '/src/viola/start.ts' };
      expect(await run(viola('127.0.0.1:0'), env)).toMatchObject({ status: 0, signal: null });
    },
  );

  it('a running part stops in order after SIGTERM', async () => {
    const child = spawn(process.execPath, [main, ...viola('127.0.0.1:0')]);
    const ended = once(child, 'close');
    const messages: string[] = [];
    createInterface(child.stdout).on('line', (line) => {
      const { msg } = JSON.parse(line) as { msg: string };
      messages.push(msg);
      if (msg === 'viola started') child.kill('SIGTERM');
    });
    expect(await ended).toEqual([0, null]);
    expect(messages).toContain('stopping');
    expect(messages.at(-1)).toBe('stopped');
  });

  it('an agent exits with status 1 after SIGTERM during loading', async () => {
    const ended = await signalled('SIGTERM', '/src/agent/main-agent.ts', ['agent', '--dry-run']);
    expect(ended).toMatchObject({ status: 1, signal: null });
  });
});

describe('failing part', () => {
  it('a part logs the reason and exits with status 1 when its port is in use', async () => {
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

it('part metrics contain the build info and the heap limit', async () => {
  const limits = ['--max-old-space-size=99', '--max-semi-space-size=1'];
  const child = spawn(process.execPath, [...limits, main, ...viola('127.0.0.1:0')]);
  const ended = once(child, 'close');
  const url = Promise.withResolvers<string>();
  const lines = createInterface(child.stdout);
  lines.on('line', (line) => {
    const entry = JSON.parse(line) as { msg: string; url?: string };
    if (entry.msg === 'viola started' && entry.url) url.resolve(entry.url);
  });
  lines.on('close', () => url.reject(new Error('it ended')));
  const metrics = await (await fetch(`${await url.promise}/metrics`)).text();
  child.kill('SIGKILL');
  await ended;
  expect(metrics).toMatch(
    /^multinic_build_info\{part="viola",version="[^"]+",commit="source"\} 1$/m,
  );
  const limit = /^multinic_heap_limit_bytes\{part="viola"\} (\d+)$/m.exec(metrics)?.[1];
  expect(Number(limit)).toBeGreaterThan(99 * 2 ** 20);
  expect(Number(limit)).toBeLessThan(110 * 2 ** 20);
});

describe('part settings', () => {
  it('an unknown log level is reported as an invalid setting, without a stack trace', async () => {
    const { status, err } = await run(viola('127.0.0.1:0'), { LOG_LEVEL: 'verbose' });
    expect(status).toBe(2);
    expect(err).toContain('LOG_LEVEL: "verbose" must be one of trace, debug, info');
    expect(err).not.toContain('    at ');
  });

  it('a part with removed settings starts and warns about each', async () => {
    const args = [...viola('256.0.0.1:0'), '--parallel', '4'];
    const { out } = await run(args, { VIOLA_CACHE_FOR: 'soon' });
    expect(out).toContain('--parallel is removed and has no effect: Viola always writes 8 nodes');
    expect(out).toContain('VIOLA_CACHE_FOR is removed and has no effect: ');
    expect(out).toMatch(/"level":"warn"[^\n]*VIOLA_CACHE_FOR/);
  });

  it('--help shows each default and no removed setting', async () => {
    const { out, status } = await run(['viola', '--help']);
    const words = out.replaceAll(/\s+/g, ' ');
    expect(status).toBe(0);
    expect(words).toContain('Default: 30s. [VIOLA_CLUSTER_TIMEOUT, KUBECTL_TIMEOUT]');
    expect(words).toContain('Default: required. [VIOLA_TOKENS_FILE]');
    expect(words).toContain('Default: none. [VIOLA_TLS_KEY]');
    expect(words).not.toContain('--parallel');
  });

  it('an unsupported proxy variable is logged as unused', async () => {
    const { out } = await run(viola('256.0.0.1:0'), { HTTPS_PROXY: 'http://proxy:3128' });
    expect(out).toContain('this part connects without them');
  });
});
