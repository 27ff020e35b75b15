import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Clock } from '../../src/time/clock.ts';

export interface ContainerSpec {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly netns: string | undefined;
  /** File that takes its output. */
  readonly logFile: string;
  readonly clock: Clock;
}

/** A running process that stands for a container. */
export interface Container {
  /** Its exit code; 128 and the signal's number when a signal ended it. */
  readonly exited: Promise<number>;
  /** SIGTERM, then SIGKILL when it has not ended within this time. */
  stop(graceMs: number): Promise<void>;
  kill(): void;
}

const signalNumbers: Readonly<Record<string, number>> = { SIGKILL: 9, SIGTERM: 15, SIGINT: 2 };

/** Starts a process in the host's network namespace; rejects when it cannot be started. */
export async function startContainer(spec: ContainerSpec): Promise<Container> {
  const inNamespace =
    spec.netns === undefined ? [] : ['nsenter', `--net=/run/netns/${spec.netns}`, '--'];
  const [program = '', ...args] = [...inNamespace, ...spec.command];
  const log = openSync(spec.logFile, 'a', 0o600);
  // A group of its own: what the process started ends with it, as in a container.
  const child = spawn(program, args, {
    stdio: ['ignore', log, log],
    env: { PATH: process.env['PATH'] ?? '', ...spec.env },
    detached: true,
  });
  closeSync(log);
  await started(child);
  const exited = exitCode(child);
  return {
    exited,
    kill: () => signalGroup(child, 'SIGKILL'),
    async stop(graceMs) {
      signalGroup(child, 'SIGTERM');
      const ended = new AbortController();
      const patience = spec.clock.sleep(graceMs, ended.signal).then(
        () => signalGroup(child, 'SIGKILL'),
        () => undefined,
      );
      await exited;
      ended.abort(new Error('the container has ended'));
      await patience;
    },
  };
}

function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
}

function exitCode(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signalNumbers[signal ?? ''] ?? 0)));
  });
}

function signalGroup(
  { pid, exitCode: code, signalCode }: ChildProcess,
  signal: NodeJS.Signals,
): void {
  if (pid === undefined || code !== null || signalCode !== null) return;
  process.kill(-pid, signal);
}
