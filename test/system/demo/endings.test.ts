import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { root } from '../../repo/tree.ts';
import { sampleOf } from '../../rotation.ts';
import { scaled } from '../../speed.ts';

const portBase = 18_200;
let directory: string;
/** Namespaces from other tests. */
let namespacesBefore: readonly string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'multinic-endings-'));
  namespacesBefore = namespaces();
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** `make demo` on a terminal of its own. */
interface Terminal {
  type(text: string): void;
  close(): void;
}

const endings: Readonly<Record<string, (terminal: Terminal) => unknown>> = {
  'Ctrl-C twice': async (terminal) => {
    terminal.type('\u0003');
    await sleep(300);
    terminal.type('\u0003');
  },
  'the end of the terminal': (terminal) => terminal.close(),
  'SIGHUP to its process group': () => signal('SIGHUP', isMake, groupOf),
  'SIGTERM to make': () => signal('SIGTERM', isMake),
  'SIGKILL to the demo': () => signal('SIGKILL', isDemo),
};

const instants = [0.5, 2, 4, 7, 12];
const all = Object.keys(endings).flatMap((ending) => instants.map((s) => [ending, s] as const));

it.each(sampleOf(all, process.env['MULTINIC_TEST_DEPTH'] === 'all' ? all.length : 4))(
  'make demo leaves no process, namespace or file after %s at %s s',
  async (ending, seconds) => {
    const terminal = startDemo();
    await sleep(seconds * 1_000);
    expect(terminal.processes()).not.toEqual([]);
    await endings[ending]?.(terminal);
    await expect.poll(left).toEqual({ processes: [], namespaces: [], files: [] });
  },
  scaled(120_000),
);

function startDemo(): Terminal & { processes(): readonly string[] } {
  // The bundle exists: another test may be running it.
  const command = `make --old-file=build demo ARGS=--port-base=${portBase}`;
  const env = { PATH: process.env['PATH'], TERM: 'xterm', TMPDIR: directory };
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: root,
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin.on('error', () => undefined);
  return {
    type: (text) => child.stdin.write(text),
    close: () => child.kill('SIGKILL'),
    processes: ownProcesses,
  };
}

function left() {
  return {
    processes: ownProcesses().map((pid) => commandOf(pid).join(' ')),
    namespaces: namespaces().filter((name) => !namespacesBefore.includes(name) && !isOfTest(name)),
    files: readdirSync(directory),
  };
}

/** Host namespaces; the suffix is the creator's process id. */
function namespaces(): string[] {
  return readdirSync('/run/netns').filter((name) => /^multinic-(host|fabric)-/.test(name));
}

/** Whether the namespace's creator is alive. */
function isOfTest(namespace: string): boolean {
  return commandOf(namespace.split('-').at(-1) ?? '').length > 0;
}

/** Process ids with this test's folder in environment or command: Pods have only the latter. */
function ownProcesses(): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) =>
    [...wordsOf(pid, 'environ'), ...commandOf(pid)].some((word) => word.includes(directory)),
  );
}

/** Signals the process with this command; none: it has not started yet. */
function signal(
  name: NodeJS.Signals,
  isWanted: (command: readonly string[]) => boolean,
  idOf: (pid: string) => number = Number,
): void {
  const pid = ownProcesses().find((each) => isWanted(commandOf(each)));
  if (pid !== undefined) process.kill(idOf(pid), name);
}

function isMake([program]: readonly string[]): boolean {
  return program === 'make';
}

function isDemo(command: readonly string[]): boolean {
  return command[1] === 'rig/demo/main.ts';
}

/** Returns the process group's id, negative for kill. */
function groupOf(pid: string): number {
  const [, , group] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return -Number(group);
}

function commandOf(pid: string): string[] {
  return wordsOf(pid, 'cmdline');
}

/** Words in a process's file; none: the process has ended. */
function wordsOf(pid: string, file: 'environ' | 'cmdline'): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0').filter(Boolean);
  } catch {
    return [];
  }
}
