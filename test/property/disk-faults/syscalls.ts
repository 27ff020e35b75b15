import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { NamespaceHost } from '../../../rig/hosts/namespace/host.ts';
import type { JobRequest } from '../../../src/api/job.ts';
import { type AgentRun, runAgent } from '../../host/agent-process.ts';
import type { Fault } from './failing-disk.ts';

/** One call of the real agent by which it changes its host: the so-manieth of its kind on this path, counted from 1. */
export interface Syscall {
  readonly call: string;
  /** Nothing for a message to the kernel, which only `ip` sends. */
  readonly path: string;
  readonly nth: number;
}

export interface SyscallFault {
  readonly syscall: Syscall;
  readonly fault: Fault;
}

const onPaths = ['openat', 'write', 'pwrite64', 'fsync', 'rename', 'unlink', 'link', 'mkdir'];
const onDescriptors = new Set(['write', 'pwrite64', 'fsync']);
const toKernel = 'sendmsg';

/**
 * One thread beside the first, as strace counts the calls of each by itself. Not with --seccomp-bpf, which is faster: it
 * injects no signals (strace 6.1).
 */
function strace(...options: readonly string[]): readonly string[] {
  return ['env', 'UV_THREADPOOL_SIZE=1', 'strace', '-f', '-qq', ...options];
}

/** Runs the agent and tells by which calls it changed the host, in order. */
export async function trace(host: NamespaceHost, asked: JobRequest) {
  const file = join(host.root, 'trace');
  const calls = [...onPaths, toKernel].join(',');
  const run = await runAgent(host, asked, {
    under: strace('-y', '-s', '0', '-o', file, '-e', `trace=${calls}`),
  });
  const lines = (await readFile(file, 'utf8')).split('\n');
  await rm(file);
  return { run, syscalls: syscallsIn(lines, host.root) };
}

function syscallsIn(lines: readonly string[], root: string): Syscall[] {
  const counts = new Map<string, number>();
  return lines.flatMap((line) => {
    const [, pid = '', call = '', rest = ''] = /^(\d+) +(\w+)\((.*)/.exec(line) ?? [];
    // Each `ip` counts its messages by itself; the first one says most.
    const key = call === toKernel ? '' : pathIn(call, rest, root);
    if (call === '' || key === undefined) return [];
    const counted = `${call} ${call === toKernel ? pid : key}`;
    const nth = (counts.get(counted) ?? 0) + 1;
    counts.set(counted, nth);
    return [{ call, path: key, nth }];
  });
}

/** The path of the host that a call is about, when the call can change it. */
function pathIn(call: string, rest: string, root: string): string | undefined {
  if (call === 'openat' && !/O_WRONLY|O_RDWR/.test(rest)) return undefined;
  const [, path = ''] = (onDescriptors.has(call) ? /^\d+<([^>]*)>/ : /"([^"]*)"/).exec(rest) ?? [];
  const below = ['etc', 'var', 'proc'].some((top) => path.startsWith(join(root, top)));
  // Through /proc/sys of a host the kernel's own is reached.
  return below || path.startsWith('/proc/sys/net/') ? path : undefined;
}

/** Runs the agent, one call of which fails. */
export function runFailing(
  host: NamespaceHost,
  asked: JobRequest,
  { syscall: { call, path, nth }, fault }: SyscallFault,
): Promise<AgentRun> {
  const what = fault === 'SIGKILL' ? 'signal=KILL' : `error=${fault}`;
  const of = path === '' ? [] : ['-P', path];
  const injected = `inject=${call}:${what}:when=${nth}`;
  const quiet = ['-o', '/dev/null'];
  return runAgent(host, asked, {
    under: strace(...quiet, ...of, '-e', `trace=${call}`, '-e', injected),
  });
}

const failing: Readonly<Record<Exclude<Fault, 'SIGKILL'>, ReadonlySet<string>>> = {
  ENOSPC: new Set(['openat', 'write', 'link', 'mkdir']),
  EIO: new Set(['openat', 'write', 'fsync', 'rename', 'unlink', 'link']),
  EROFS: new Set(['openat', 'rename', 'unlink', 'link', 'mkdir']),
};

/** All that can be done to a run with these calls. */
export function faultsOf(syscalls: readonly Syscall[]): SyscallFault[] {
  return syscalls.flatMap((syscall) => [
    { syscall, fault: 'SIGKILL' as const },
    ...(['ENOSPC', 'EIO', 'EROFS'] as const)
      .filter((fault) => failing[fault].has(syscall.call) && !syscall.path.includes('/proc/'))
      .map((fault) => ({ syscall, fault })),
  ]);
}

export function wordsOf({ syscall: { call, path, nth }, fault }: SyscallFault): string {
  return `${fault} at ${call} ${nth} ${path === '' ? 'of ip' : basename(path)}`;
}
