import type { DefinitionName } from '../api/crd/schema-numbers.ts';
import type { metricTable } from '../api/metrics.ts';
import { namedSome } from '../api/named-some.ts';
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

/** Interval for a part's self-check. */
const intervalMs = 600_000;
/** Shorter interval after a finding or without an answer: users fix rights without restarting the part. */
const retryMs = 30_000;

export interface SelfCheckOptions {
  readonly client: Pick<KubeClient, 'mayI' | 'find' | 'create' | 'patch'>;
  readonly context: PartContext<typeof metricTable>;
  /** The part's name in Events. */
  readonly component: string;
  readonly table: RightsTable;
  readonly claims: readonly Claim[];
  /** The part's own CRD, if the part may read CRDs. */
  readonly definition?: DefinitionName | undefined;
}

/** Checks until the signal aborts; findings and failures never end the loop. */
export type SelfCheck = (signal: AbortSignal) => Promise<void>;

/**
 * Checks a part's rights and CRD in its own cluster. Reports findings in the log, an Event on its Pod, metrics and
 * readiness. undefined when the self-check is disabled.
 */
export function createSelfCheck(options: SelfCheckOptions): SelfCheck | undefined {
  const { client, context, component, table, claims, definition } = options;
  const { clock, random, log, metrics, health, pod, selfCheck = true } = context;
  const rights = new RightsState(table, claims);
  // Registered even when disabled: the value 0 would be wrong.
  metrics.sample('multinic_rights_missing', {}, () => rights.missing?.length);
  if (!selfCheck) return undefined;
  let installed: Installed | undefined;
  let lastSilence: string | undefined;
  // Not in the effects list: this Event is about the process, and a restarted process checks again.
  const recorder = createEventRecorder({
    client,
    component,
    clock,
    random,
    onError: (error) => log.warn({ err: error }, 'Event about missing rights or CRD not written'),
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

  /** Checks once; returns true if the next check must be soon. */
  async function check(signal: AbortSignal): Promise<boolean> {
    const rightsChange = await rights.look({ client, clock, signal });
    reportRights(rightsChange);
    if (definition && rightsChange.silence?.kind !== 'away') {
      reportDefinition(await readDefinition(definition, { client, clock, signal }));
    }
    const { missing = [] } = rights;
    return (
      missing.length > 0 ||
      installed?.reason === 'CRDTooOld' ||
      rightsChange.silence?.kind === 'away'
    );
  }

  function reportRights({ lost, gained, silence }: RightsChange): void {
    const reason: PartReason = 'RightsMissing';
    for (const right of lost) log.error({ reason, ...right }, `missing right: ${right.what}`);
    for (const { what, role } of gained) log.info({ what, role }, 'missing right granted');
    if (silence && silence.kind !== lastSilence) {
      log.warn({ err: silence.error }, 'own rights cannot be read');
    }
    lastSilence = silence?.kind;
    const { missing = [] } = rights;
    if (missing.length > 0) recordEvent(reason, sentence(missing));
  }

  function reportDefinition(now: Installed | undefined): void {
    if (!now) return;
    const { reason, message } = now;
    if (reason && reason !== installed?.reason) {
      log[reason === 'CRDTooOld' ? 'error' : 'warn']({ reason }, message);
    }
    if (!reason && installed?.reason) log.info({ definition }, 'CRD fits this version now');
    if (reason) recordEvent(reason, message);
    installed = now;
  }

  function recordEvent(reason: PartReason, message: string): void {
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
        const soon = await check(signal).catch((error: unknown) => {
          // The part works without the self-check.
          if (!signal.aborted) log.error({ err: error }, 'self-check failed');
          return false;
        });
        pauseMs = jittered(soon ? retryMs : intervalMs, random);
      }
    });
}

/** Returns a short text for the Event and /readyz, shorter than the log. */
function sentence(missing: readonly MissingRight[]): string {
  const rights = missing.map(({ what, role }) => `${what} (${role})`);
  return `missing right: ${namedSome(rights, 1, { before: ', and ' })}; the log has a kubectl command for each`;
}
