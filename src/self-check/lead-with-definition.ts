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

/** The installed definition became too old while this process led. */
export class DefinitionTooOld extends Error {
  override readonly name = 'DefinitionTooOld';
}

/**
 * Runs `lead` once the installed CustomResourceDefinition has every field of this build: a status that the API server stores
 * without some of its fields would be written again and again. Throws DefinitionTooOld when an older definition is applied
 * later. A definition that cannot be read (no right, no answer) holds nothing up.
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
    if (flaw !== reported) log.error({ reason }, `does not lead: ${flaw}`);
    reported = flaw;
    if (!(await passed(clock, jittered(retryMs, random), signal))) return;
  }
  if (reported !== undefined) log.info({ definition: options.definition }, 'the definition fits');
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

/** Resolves to what is wrong with the installed definition; undefined: nothing, or it could not be read. */
async function flawOf(
  { client, definition, clock }: LeadOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const installed = await readDefinition(definition, { client, clock, signal });
  return installed?.reason === 'CRDTooOld' ? installed.message : undefined;
}
