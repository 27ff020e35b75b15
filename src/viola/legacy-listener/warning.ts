import type { metricTable } from '../../api/metrics.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { createEventRecorder } from '../../kube/events.ts';
import type { PartContext } from '../../process/part.ts';
import { type LegacyListener, legacyCondition, openToAll } from './listener.ts';

export interface LegacyWarningOptions {
  readonly client: Pick<KubeClient, 'create' | 'patch'>;
  readonly context: PartContext<typeof metricTable>;
}

/** Logs and records an Event on Viola's Pod: node configs are accepted without a token. */
export async function warnOfLegacyListener(
  listener: LegacyListener,
  url: string,
  { client, context: { clock, random, log, pod } }: LegacyWarningOptions,
  signal: AbortSignal,
): Promise<void> {
  const { reason, message } = legacyCondition(listener);
  log.warn({ reason, url, allowFrom: listener.allowFrom }, message);
  const all = openToAll(listener);
  if (all.length > 0) {
    log.warn({ networks: all }, 'the legacy listener accepts node configs from every address');
  }
  if (!pod) return;
  // Not a kill-point effect: the Event concerns this process, and a restarted process records its own.
  const recorder = createEventRecorder({
    client,
    component: 'viola',
    clock,
    random,
    onError: (error) => log.warn({ err: error }, 'event not written'),
  });
  const { name, namespace, uid } = pod;
  const metadata = { name, namespace, ...(uid === undefined ? {} : { uid }) };
  await recorder.during(signal, async () => {
    const note = { type: 'Warning', reason, message } as const;
    recorder.record({ apiVersion: 'v1', kind: 'Pod', metadata }, note);
  });
}
