import { readFileSync, writeFileSync } from 'node:fs';
import { familyOf } from '../../api/address.ts';
import type { Effect } from '../../api/effects.ts';
import type { NicReason } from '../../api/job.ts';
import type { Perform } from '../../process/effects.ts';
import type { KernelDump } from '../ip/kernel.ts';
import type { Ip } from '../ip/session.ts';
import { sysctlPath } from '../observe/host.ts';
import { batchLine, type Change, type Operation } from '../planning/operation.ts';
import { settingName } from '../planning/settings.ts';

/** Access to the kernel state in the agent's network namespace. */
export interface Kernel {
  readonly ip: Ip;
  readonly ipv6: boolean;
  readonly sysctls: string;
  readonly perform: Perform<Effect>;
}

/** Why a change stopped; `busy` if the kernel cannot rename a link in state up. */
export interface KernelFailure {
  /** `ApplyFailed`, or a refusal's reason: the kernel then received no request. */
  readonly reason: NicReason;
  readonly message: string;
  readonly busy: boolean;
}

export interface KernelOutcome<K> {
  /** Failures by change key. */
  readonly failures: Map<K, KernelFailure>;
  /** Kernel state right after the last change; absent after a failure, or without changes. */
  readonly seen?: KernelDump;
}

function isRuleOfIPv6({ operation }: Line<unknown>): boolean {
  return 'rule' in operation && familyOf(operation.rule.from) === 6;
}

interface Line<K> {
  readonly key: K;
  readonly operation: Operation;
}

/**
 * Makes all changes in one `ip -batch`, then reads the resulting state. After a failed operation the rest of its change
 * is skipped. Other changes continue until `maxFailures`: each failure costs another `ip` process.
 */
export async function changeKernel<K>(
  changes: ReadonlyMap<K, Change>,
  kernel: Kernel,
  maxFailures = Number.POSITIVE_INFINITY,
): Promise<KernelOutcome<K>> {
  const entries = [...changes];
  const lines: Line<K>[] = [
    ...entries.flatMap(([key, { eviction }]) => (eviction ? [{ key, operation: eviction }] : [])),
    ...entries.flatMap(([key, { operations }]) =>
      operations.map((operation) => ({ key, operation })),
    ),
    // IPv6 rules go to a second `ip`, run after the first.
  ].toSorted((a, b) => Number(isRuleOfIPv6(a)) - Number(isRuleOfIPv6(b)));
  const failures = new Map<K, KernelFailure>();
  const writes = entries.some(([, { sysctls }]) => sysctls.length > 0);
  if (!writes && lines.length === 0) return { failures };
  return kernel.perform('agent.kernel.batch', async () => {
    for (const [key, change] of entries) {
      const failure = writeSysctls(change, kernel);
      if (failure) failures.set(key, failure);
    }
    const undo = promoteSecondaries(
      entries.map(([, change]) => change),
      kernel,
    );
    const seen = await runLines(lines, failures, kernel, maxFailures).finally(undo);
    return seen ? { failures, seen } : { failures };
  });
}

/**
 * Sets `promote_secondaries` on links that lose an address: otherwise the kernel deletes a subnet's other addresses
 * with the first one, and with the last address all routes of the link. Returns the function that restores the
 * settings; after a SIGKILL they stay set, which most systems do by default.
 */
function promoteSecondaries(changes: readonly Change[], { sysctls }: Kernel): () => void {
  const changed = changes.flatMap(({ eviction, operations }) => {
    const removal = operations.find(({ kind }) => kind === 'address.delete');
    const first = eviction ?? operations.find((operation) => 'dev' in operation);
    if (!removal || !('dev' in removal) || !first || !('dev' in first)) return [];
    const path = sysctlPath(sysctls, first.dev, 'ipv4.promote_secondaries');
    const before = setTo(path, '1');
    const after = sysctlPath(sysctls, removal.dev, 'ipv4.promote_secondaries');
    return before === undefined || before === '1' ? [] : [{ before, paths: [after, path] }];
  });
  return () => {
    for (const { before, paths } of changed) {
      if (setTo(paths[0] as string, before) === undefined) setTo(paths[1] as string, before);
    }
  };
}

/** Sets a setting and returns the value before; undefined if the link is gone or the setting cannot be written. */
function setTo(path: string, value: string): string | undefined {
  try {
    const before = readFileSync(path, 'utf8').trim();
    if (before !== value) writeFileSync(path, value);
    return before;
  } catch {
    return undefined;
  }
}

/** Writes synchronously: the kernel takes the value at once, and a thread pool round trip costs more. */
function writeSysctls({ sysctls }: Change, kernel: Kernel): KernelFailure | undefined {
  for (const { dev, key, value } of sysctls) {
    try {
      writeFileSync(sysctlPath(kernel.sysctls, dev, key), value);
    } catch (error) {
      const message = `${settingName(dev, key)}: ${(error as Error).message}`;
      return { reason: 'ApplyFailed', message, busy: false };
    }
  }
  return undefined;
}

async function runLines<K>(
  lines: readonly Line<K>[],
  failures: Map<K, KernelFailure>,
  { ip, ipv6 }: Kernel,
  maxFailures: number,
): Promise<KernelDump | undefined> {
  let rest = lines.filter(({ key }) => !failures.has(key));
  while (rest.length > 0 && failures.size < maxFailures) {
    const answer = await ip.run(
      rest.map(({ operation }) => batchLine(operation)),
      ipv6,
    );
    if ('seen' in answer) return answer.seen;
    const { failedAt, words } = answer;
    const failed = rest[failedAt];
    if (failed && !isGoneAlready(failed.operation, words)) {
      failures.set(failed.key, failureOf(failed.operation, words));
    }
    rest = rest.slice(failedAt + 1).filter(({ key }) => !failures.has(key));
  }
  return undefined;
}

/**
 * True if a deletion failed because the target is gone: a starting manager deletes rules and sets its own. ENOENT for a
 * rule, ESRCH for a route, EADDRNOTAVAIL for an address (net/core/fib_rules.c, fib_frontend.c, devinet.c).
 */
function isGoneAlready({ kind }: Operation, words: string): boolean {
  const deletes = kind === 'rule.delete' || kind === 'route.delete' || kind === 'address.delete';
  return deletes && goneWords.test(words);
}

const goneWords =
  /No such file or directory|No such process|Cannot assign requested address|Address not found/;

function failureOf(operation: Operation, words: string): KernelFailure {
  const plain = words.replaceAll(/RTNETLINK answers: |Error: /g, '').replaceAll(/\s+/g, ' ');
  return {
    reason: operation.kind === 'link.mac' ? 'MACChanged' : 'ApplyFailed',
    message: `${plain || 'failed'}: ${batchLine(operation)}`,
    busy: operation.kind === 'link.rename' && /resource busy/i.test(words),
  };
}
