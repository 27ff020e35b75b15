import { writeFile } from 'node:fs/promises';
import type { Effect } from '../../api/effects.ts';
import type { Perform } from '../../process/effects.ts';
import type { RunIp } from '../ip-command.ts';
import { sysctlPath } from '../observe/sysctls.ts';
import type { Change } from '../planning/diff.ts';
import { batchLine, type Operation } from '../planning/operation.ts';

/** What changes the kernel's state of this network namespace. */
export interface Kernel {
  readonly runIp: RunIp;
  readonly sysctls: string;
  readonly perform: Perform<Effect>;
}

/** Why a change stopped; `busy` when the kernel cannot rename a link that is up. */
export interface KernelFailure {
  readonly message: string;
  readonly busy: boolean;
}

interface Line<K> {
  readonly key: K;
  readonly operation: Operation;
}

/**
 * Makes all changes in one `ip -batch`. Where an operation fails, the rest of that change is left out and the others go
 * on. Resolves to the failures by key of the change.
 */
export async function changeKernel<K>(
  changes: ReadonlyMap<K, Change>,
  kernel: Kernel,
): Promise<Map<K, KernelFailure>> {
  const entries = [...changes];
  const lines: Line<K>[] = [
    ...entries.flatMap(([key, { eviction }]) => (eviction ? [{ key, operation: eviction }] : [])),
    ...entries.flatMap(([key, { operations }]) =>
      operations.map((operation) => ({ key, operation })),
    ),
  ];
  const failures = new Map<K, KernelFailure>();
  const writes = entries.some(([, { sysctls }]) => sysctls.length > 0);
  if (!writes && lines.length === 0) return failures;
  await kernel.perform('agent.kernel.batch', async () => {
    for (const [key, change] of entries) {
      const failure = await writeSysctls(change, kernel);
      if (failure) failures.set(key, failure);
    }
    await runLines(lines, failures, kernel);
  });
  return failures;
}

async function writeSysctls({ sysctls }: Change, kernel: Kernel) {
  for (const { dev, key, value } of sysctls) {
    try {
      await writeFile(sysctlPath(kernel.sysctls, 'ipv6', dev, key), value);
    } catch (error) {
      const message = `net.ipv6.conf.${dev}.${key}: ${(error as Error).message}`;
      return { message, busy: false };
    }
  }
  return undefined;
}

async function runLines<K>(
  lines: readonly Line<K>[],
  failures: Map<K, KernelFailure>,
  { runIp }: Kernel,
): Promise<void> {
  let rest = lines.filter(({ key }) => !failures.has(key));
  while (rest.length > 0) {
    const input = rest.map(({ operation }) => `${batchLine(operation)}\n`).join('');
    const { code, stderr } = await runIp(['-batch', '-'], input);
    if (code === 0) return;
    const at = failedLine(stderr);
    const failed = rest[at];
    if (!failed) throw new Error(`ip -batch ended with ${code}: ${stderr.trim()}`);
    failures.set(failed.key, failureOf(failed.operation, stderr));
    rest = rest.slice(at + 1).filter(({ key }) => !failures.has(key));
  }
}

/** `ip -batch` ends its complaint with `Command failed -:LINE`, counted from 1. */
function failedLine(stderr: string): number {
  return Number(/^Command failed -:(\d+)$/m.exec(stderr)?.[1] ?? 0) - 1;
}

function failureOf(operation: Operation, stderr: string): KernelFailure {
  const words = stderr
    .replaceAll(/^Command failed -:\d+$/gm, '')
    .replaceAll(/RTNETLINK answers: |Error: /g, '')
    .trim();
  return {
    message: `${words || 'failed'}: ${batchLine(operation)}`,
    busy: operation.kind === 'link.rename' && /resource busy/i.test(stderr),
  };
}
