import { writeFileSync } from 'node:fs';
import { familyOf } from '../../api/address.ts';
import type { Effect } from '../../api/effects.ts';
import type { NicReason } from '../../api/job.ts';
import type { Perform } from '../../process/effects.ts';
import type { Ip } from '../ip-session.ts';
import { sysctlPath } from '../observe/host.ts';
import type { KernelDump } from '../observe/kernel.ts';
import { batchLine, type Change, type Operation } from '../planning/operation.ts';
import { settingName } from '../planning/settings.ts';

/** What changes the state of the agent's network namespace. */
export interface Kernel {
  readonly ip: Ip;
  readonly ipv6: boolean;
  readonly sysctls: string;
  readonly perform: Perform<Effect>;
}

/** Why a change stopped; `busy` when the kernel cannot rename a link that is up. */
export interface KernelFailure {
  /** `ApplyFailed`, or why the NIC must not be touched: the kernel was not asked then. */
  readonly reason: NicReason;
  readonly message: string;
  readonly busy: boolean;
}

export interface KernelOutcome<K> {
  /** Failures by key of the change. */
  readonly failures: Map<K, KernelFailure>;
  /** The kernel's state right after the last change; not known after a failure, nor when there was nothing to do. */
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
 * Makes all changes in one `ip -batch`, which is then asked for the state it led to. Where an operation fails, the rest of
 * that change is left out and the others go on, until so many have failed: each takes an `ip` more.
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
    // Rules of IPv6 go to another `ip`, which has its turn when this one is done.
  ].toSorted((a, b) => Number(isRuleOfIPv6(a)) - Number(isRuleOfIPv6(b)));
  const failures = new Map<K, KernelFailure>();
  const writes = entries.some(([, { sysctls }]) => sysctls.length > 0);
  if (!writes && lines.length === 0) return { failures };
  return kernel.perform('agent.kernel.batch', async () => {
    for (const [key, change] of entries) {
      const failure = writeSysctls(change, kernel);
      if (failure) failures.set(key, failure);
    }
    const seen = await runLines(lines, failures, kernel, maxFailures);
    return seen ? { failures, seen } : { failures };
  });
}

/** Synchronous: the kernel takes the value at once, and a round through the thread pool costs more than that. */
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
 * What was to be deleted may go by itself meanwhile: a manager that starts takes rules away and sets its own. ENOENT of a
 * rule, ESRCH of a route, EADDRNOTAVAIL of an address (net/core/fib_rules.c, fib_frontend.c, devinet.c).
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
    reason: 'ApplyFailed',
    message: `${plain || 'failed'}: ${batchLine(operation)}`,
    busy: operation.kind === 'link.rename' && /resource busy/i.test(words),
  };
}
