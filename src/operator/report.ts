import type { Effect } from '../api/effects.ts';
import { fieldManagers } from '../api/names.ts';
import type { OpenstackConfigStatus } from '../api/openstackconfig.ts';
import { isNewer } from '../kube/cache/resource-version.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isNotFound } from '../kube/errors.ts';
import type { EventRecorder } from '../kube/events.ts';
import { keyOf } from '../kube/object.ts';
import type { Perform } from '../process/effects.ts';
import { recordReady } from './events.ts';
import { type ConfigObject, openstackConfigs, statusOf } from './openstack-config.ts';
import { isNews } from './status/status.ts';

export interface Reporter {
  /** The object as it is, our last write included: the watch may not have told us of it yet. */
  latest(object: ConfigObject): ConfigObject;
  /** Writes a status that says something new, and tells people what changed. */
  report(object: ConfigObject, status: OpenstackConfigStatus, signal: AbortSignal): Promise<void>;
  forget(key: string): void;
}

export interface ReporterDeps {
  readonly client: Pick<KubeClient, 'applyStatus'>;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly perform: Perform<Effect>;
}

export function createReporter({ client, recorder, perform }: ReporterDeps): Reporter {
  const written = new Map<string, ConfigObject>();

  return {
    latest(object) {
      const mine = written.get(keyOf(object));
      if (mine?.metadata.uid !== object.metadata.uid) return object;
      const newer = isNewer(mine?.metadata.resourceVersion, object.metadata.resourceVersion);
      return newer && mine ? { ...object, status: mine.status } : object;
    },
    async report(object, status, signal) {
      if (!isNews(status, statusOf(object))) return;
      const { namespace = '', name } = object.metadata;
      const applied = { metadata: { namespace, name }, status };
      try {
        const after = await perform('operator.status.write', async () =>
          client.applyStatus(openstackConfigs, applied, {
            fieldManager: fieldManagers.operator,
            // Conditions of earlier generations were written under other names.
            force: true,
            signal,
          }),
        );
        written.set(keyOf(object), after);
      } catch (error) {
        if (isNotFound(error)) return;
        throw error;
      }
      recordReady(recorder, object, status.conditions);
    },
    forget: (key) => void written.delete(key),
  };
}
