import type { DefinitionName } from '../api/crd/schema-numbers.ts';
import type { metricTable } from '../api/metrics.ts';
import type { PartReason } from '../api/reasons.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { createEventRecorder } from '../kube/events.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Claim, RightsTable } from '../kube/rights.ts';
import type { PartContext } from '../process/part.ts';
import { jittered } from '../time/backoff.ts';
import { passed } from '../time/clock.ts';
import { type Installed, readDefinition } from './definition.ts';
import type { MissingRight } from './missing-right.ts';
import { type RightsChange, RightsState } from './rights-state.ts';

/** How often a part looks whether it has what it needs. */
const usualMs = 600_000;
/** And while something is missing, or nobody answers: what was put right is to be noticed without a restart. */
const hurriedMs = 30_000;

export interface SelfCheckOptions {
  readonly client: Pick<KubeClient, 'mayI' | 'find' | 'create' | 'patch'>;
  readonly context: PartContext<typeof metricTable>;
  /** Name of the part in Events. */
  readonly component: string;
  readonly table: RightsTable;
  readonly claims: readonly Claim[];
  /** The definition of the part's own kind, when it may look at it. */
  readonly definition?: DefinitionName | undefined;
}

/** Looks until the signal aborts; nothing that it finds, or cannot find out, ends it. */
export type SelfCheck = (signal: AbortSignal) => Promise<void>;

/**
 * Looks whether a part has its rights and its kind in its own cluster, and tells people what is missing: in the log, in an
 * Event on its Pod, in metrics and in readiness. Undefined when the part was told not to.
 */
export function createSelfCheck(options: SelfCheckOptions): SelfCheck | undefined {
  const { client, context, component, table, claims, definition } = options;
  const { clock, random, log, metrics, health, pod, selfCheck = true } = context;
  const rights = new RightsState(table, claims);
  // Also of a part that does not look: 0 would be a lie.
  metrics.sample('multinic_rights_missing', {}, () => rights.missing?.length);
  if (!selfCheck) return undefined;
  let installed: Installed | undefined;
  let silent: string | undefined;
  // Not in the list of effects: this Event is about the process, which after a death is another one and looks again.
  const recorder = createEventRecorder({
    client,
    component,
    clock,
    random,
    onError: (error) => log.warn({ err: error }, 'event about what is missing not written'),
  });
  health.ready('rights', () => {
    const { missing = [] } = rights;
    return missing.length === 0 ? undefined : sentence(missing);
  });
  if (definition) {
    health.ready('crd', () => (installed?.reason === 'CRDTooOld' ? installed.message : undefined));
    const labels = { crd: definition };
    metrics.sample('multinic_crd_schema_behind', labels, () => installed?.behind);
  }

  /** Looks once; answers whether to look again soon. */
  async function look(signal: AbortSignal): Promise<boolean> {
    const looked = await rights.look({ client, clock, signal });
    tellRights(looked);
    if (definition && looked.silence?.kind !== 'away') {
      tellDefinition(await readDefinition(definition, { client, clock, signal }));
    }
    const { missing = [] } = rights;
    return (
      missing.length > 0 || installed?.reason === 'CRDTooOld' || looked.silence?.kind === 'away'
    );
  }

  function tellRights({ lost, gained, silence }: RightsChange): void {
    const reason: PartReason = 'RightsMissing';
    for (const right of lost) log.error({ reason, ...right }, `may not ${right.what}`);
    for (const { what, role } of gained) log.info({ what, role }, 'a missing right was granted');
    if (silence && silence.kind !== silent) {
      log.warn({ err: silence.error }, 'cannot find out which rights there are');
    }
    silent = silence?.kind;
    const { missing = [] } = rights;
    if (missing.length > 0) tell(reason, sentence(missing));
  }

  function tellDefinition(now: Installed | undefined): void {
    if (!now) return;
    const { reason, message } = now;
    if (reason && reason !== installed?.reason) {
      log[reason === 'CRDTooOld' ? 'error' : 'warn']({ reason }, message);
    }
    if (!reason && installed?.reason) log.info({ definition }, 'the definition fits by now');
    if (reason) tell(reason, message);
    installed = now;
  }

  function tell(reason: PartReason, message: string): void {
    if (!pod) return;
    const { name, namespace, uid } = pod;
    const metadata = { name, namespace, ...(uid === undefined ? {} : { uid }) };
    const involved: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata };
    recorder.record(involved, { type: 'Warning', reason, message });
  }

  return async (signal) =>
    recorder.during(signal, async () => {
      let pauseMs = 0;
      while (await passed(clock, pauseMs, signal)) {
        const soon = await look(signal).catch((error: unknown) => {
          // The part works without it.
          if (!signal.aborted) log.error({ err: error }, 'the look at rights failed');
          return false;
        });
        pauseMs = jittered(soon ? hurriedMs : usualMs, random);
      }
    });
}

/** For an Event and for /readyz, which have room for less than the log. */
function sentence(missing: readonly MissingRight[]): string {
  const [first, ...others] = missing;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return `may not ${first?.what} (${first?.role})${more}; the log has a command for each`;
}
