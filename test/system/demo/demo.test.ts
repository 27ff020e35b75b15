import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { toolPath } from '../../../rig/control-plane/control-plane.ts';
import { root } from '../../repo/tree.ts';
import { scaled } from '../../speed.ts';

let stop: (() => Promise<void>) | undefined;

afterEach(() => stop?.());

/** Runs the demo until Ctrl-C; resolves to the output and the process id, a suffix of the namespaces' names. */
async function demo() {
  const main = join(root, 'rig/demo/main.ts');
  const child = spawn(process.execPath, [main], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  stop = async () => {
    child.kill('SIGINT');
    expect(await exit).toEqual([0, null]);
  };
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    if (line.startsWith('Ctrl-C')) return { lines, pid: child.pid };
  }
  throw new Error(`the demo ended:\n${lines.join('\n')}`);
}

/** Returns a function that runs a command as a user in the checkout does. */
async function shellWithKubectl(): Promise<(command: string) => Promise<string>> {
  const env = {
    ...process.env,
    PATH: `${dirname(await toolPath('kubectl'))}:${process.env['PATH']}`,
  };
  return async (command) => {
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: root, env });
    return stdout;
  };
}

it(
  'the demo prints commands that work until Ctrl-C, and removes the namespaces',
  async () => {
    const { lines, pid } = await demo();
    const commands = lines.filter((line) => /^ {2}(kubectl|bin\/multinic) /.test(line));
    expect(commands).toHaveLength(7);
    const run = await shellWithKubectl();
    const outputs = await Promise.all(commands.map(run));
    const [status, why, configs, explained, nodes, described, jobs] = outputs;
    expect(status).toMatch(/^0 findings: /m);
    expect(why).toContain('multinic0');
    expect(configs).toMatch(/NAME +READY +REASON .*\ndemo +True /);
    expect(explained).toContain('vmNames');
    expect(nodes).toMatch(/worker-1 +.*AllInterfacesConfigured/);
    expect(described).toContain('multinic0');
    expect(jobs).toMatch(/multinic-agent/);
    const [management = ''] = /--kubeconfig \S+/.exec(commands[2] ?? '') ?? [];
    const patch =
      '[{"op":"add","path":"/spec/subnetIDs/-","value":"3f2a4f54-7f30-4d0f-9f6f-6f6f0f6e8f10"}]';
    const osc = `kubectl ${management} -n multinic-system patch osc demo --type json`;
    expect(await run(`${osc} --dry-run=server -o yaml -p '${patch}'`)).toContain('3f2a4f54');
    await stop?.();
    stop = undefined;
    const left = readdirSync('/run/netns').filter((name) => name.endsWith(`-${pid}`));
    expect(left).toEqual([]);
  },
  scaled(180_000),
);
