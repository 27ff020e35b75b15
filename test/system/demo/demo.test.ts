import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
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

it(
  'the demo prints kubectl commands that work until Ctrl-C, and removes the namespaces',
  async () => {
    const { lines, pid } = await demo();
    const commands = lines.filter((line) => line.startsWith('  kubectl '));
    expect(commands).toHaveLength(5);
    const kubectl = await toolPath('kubectl');
    const outputs = await Promise.all(
      commands.map(async (command) => {
        const line = command.replace('kubectl', kubectl);
        return (await promisify(execFile)('sh', ['-c', line])).stdout;
      }),
    );
    const [configs, explained, nodes, described, jobs] = outputs;
    expect(configs).toMatch(/NAME +READY +REASON .*\ndemo +True /);
    expect(explained).toContain('vmNames');
    expect(nodes).toMatch(/worker-1 +.*AllInterfacesConfigured/);
    expect(described).toContain('multinic0');
    expect(jobs).toMatch(/multinic-agent/);
    await stop?.();
    stop = undefined;
    const left = readdirSync('/run/netns').filter((name) => name.endsWith(`-${pid}`));
    expect(left).toEqual([]);
  },
  scaled(180_000),
);
