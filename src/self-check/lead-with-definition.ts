import type { DefinitionName } from '../api/crd/schema-numbers.ts';
import type { PartReason } from '../api/reasons.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { together } from '../kube/reconcile/together.ts';
import type { Logger } from '../process/log.ts';
import { jittered } from '../time/backoff.ts';
import { type Clock, passed, type Random } from '../time/clock.ts';
import { readDefinition } from './definition.ts';

/** Pause between reads while the definition is too old. */
const retryMs = 30_000;
/** Pause between reads while this process leads. */
const recheckMs = 600_000;

export interface LeadOptions {
  readonly client: Pick<KubeClient, 'find'>;
  readonly definition: DefinitionName;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Pick<Logger, 'error' | 'info'>;
}

/** Error: the installed definition became too old while this process led. */
class DefinitionTooOld extends Error {
  override readonly name = 'DefinitionTooOld';
}

/**
 * Runs `lead` once the installed CustomResourceDefinition has every field this build writes. The API server would
 * drop missing fields, and the status would be written again and again. Throws DefinitionTooOld when an older
 * definition is applied later. An unreadable definition (no right, no answer) does not block leading.
 */
export async function leadWithDefinition(
  options: LeadOptions,
  signal: AbortSignal,
  lead: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { clock, random, log } = options;
  const reason: PartReason = 'CRDTooOld';
  let reported: string | undefined;
  for (;;) {
    const flaw = await flawOf(options, signal);
    if (flaw === undefined) break;
    if (flaw !== reported) log.error({ reason }, `not leading: ${flaw}`);
    reported = flaw;
    if (!(await passed(clock, jittered(retryMs, random), signal))) return;
  }
  if (reported !== undefined) log.info({ definition: options.definition }, 'CRD fits this version');
  await together(signal, clock, {
    lead,
    definition: async (end) => {
      while (await passed(clock, jittered(recheckMs, random), end)) {
        const flaw = await flawOf(options, end);
        if (flaw !== undefined) throw new DefinitionTooOld(flaw);
      }
    },
  });
}

/** Returns the installed definition's problem; undefined: none, or the read failed. */
async function flawOf(
  { client, definition, clock }: LeadOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const installed = await readDefinition(definition, { client, clock, signal });
  return installed?.reason === 'CRDTooOld' ? installed.message : undefined;
}
