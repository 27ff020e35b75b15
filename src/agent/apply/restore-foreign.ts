import { linkOf } from '../identity.ts';
import { observeLinks } from '../observe/host.ts';
import { type ForeignOnNic, restoringOperations } from '../planning/foreign-on-nic.ts';
import type { RecordedNic } from '../planning/nic-state.ts';
import type { KernelSnapshot } from '../snapshot.ts';
import type { Context } from './context.ts';
import { changeNics } from './gate.ts';

/** Changed NIC, with the foreign state on its link before the change. */
export interface ChangedNic {
  readonly nic: RecordedNic;
  readonly had: ForeignOnNic;
}

/** Limit for failed operations: thousands of routes may depend on the same missing state. */
const maxRefused = 20;

/**
 * Restores foreign state deleted by a change, on the changed NICs only. A NIC taken by foreign software meanwhile stays
 * unchanged. `seen` is the kernel after the change; undefined: not read since. Never rejects: the change is complete.
 */
export async function restoreForeign(
  changed: readonly ChangedNic[],
  context: Context,
  seen?: KernelSnapshot,
): Promise<void> {
  const atRisk = changed.filter(({ had }) => Object.values(had).some(({ length }) => length > 0));
  if (atRisk.length === 0) return;
  try {
    await restore(atRisk, seen ?? (await observeLinks(context, context.macs)), context);
  } catch (error) {
    context.log.warn({ err: error }, 'foreign state not restored');
  }
}

async function restore(
  changed: readonly ChangedNic[],
  kernel: KernelSnapshot,
  context: Context,
): Promise<void> {
  const changes = new Map(
    changed.flatMap(({ nic, had }) => {
      const link = linkOf(kernel, nic.mac);
      const operations = link?.up ? restoringOperations(had, kernel, link.name) : [];
      return operations.map((operation) => {
        const change = { sysctls: [], operations: [operation] };
        return [{ nic, operation }, change] as const;
      });
    }),
  );
  if (changes.size === 0) return;
  context.log.warn({ count: changes.size }, 'restoring foreign state');
  const { failures } = await changeNics(changes, kernel, context, maxRefused);
  for (const [{ operation }, { message }] of failures)
    context.log.warn({ operation, message }, 'foreign state not restored');
}
