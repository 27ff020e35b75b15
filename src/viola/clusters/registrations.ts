import type { metricTable } from '../../api/metrics.ts';
import { labels } from '../../api/names.ts';
import { Store } from '../../kube/cache/store.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { type Secret, secrets } from '../../kube/core-resources.ts';
import type { PartContext } from '../../process/part.ts';
import { createWatch } from '../../runtime/watch.ts';

/** Current registration Secrets for business clusters. */
export interface Registrations {
  readonly secrets: Store<Secret>;
  /** True once the Secrets were listed; before, registrations are unknown. */
  readonly listed: () => boolean;
  /** Watches the Secrets until the signal aborts. */
  readonly follow: (signal: AbortSignal) => Promise<void>;
}

/** Opens the registrations; Viola becomes ready after the first list. */
export function openRegistrations(
  management: KubeClient,
  namespace: string,
  context: PartContext<typeof metricTable>,
): Registrations {
  const store = new Store<Secret>();
  const reflector = createWatch(
    { resource: secrets, name: 'Registration', namespace, labelSelector: labels.providerId, store },
    { client: management, context },
  );
  let listed = false;
  void reflector.synced.then(() => {
    listed = true;
  });
  context.health.ready('clusters', () =>
    listed ? undefined : 'the registrations of business clusters are not read yet',
  );
  return { secrets: store, listed: () => listed, follow: async (signal) => reflector.run(signal) };
}
