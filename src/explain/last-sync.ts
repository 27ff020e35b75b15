import type { OpenstackConfig } from '../api/openstackconfig.ts';
import { keyOf } from './commands.ts';
import type { SystemFacts } from './facts.ts';
import { valueOf } from './subject.ts';

/** Returns the last sync's end: from the operator, else from the status; undefined: never synced. */
export function lastSyncOf(
  config: OpenstackConfig,
  clusters: SystemFacts['clusters'],
): string | undefined {
  const key = keyOf(config);
  const { lastSyncedAt } = config.status ?? {};
  const reported = (valueOf(clusters) ?? []).flatMap(({ lastSyncs = [] }) =>
    lastSyncs.filter((each) => each.config === key).map(({ at }) => at),
  );
  return latest([...reported, ...(lastSyncedAt ? [lastSyncedAt] : [])]);
}

/** Returns the latest sync's end; undefined: none. */
export function lastSyncOfAll({ configs, clusters }: SystemFacts): string | undefined {
  return latest((valueOf(configs) ?? []).flatMap((config) => lastSyncOf(config, clusters) ?? []));
}

function latest(times: readonly string[]): string | undefined {
  return times.toSorted((a, b) => Date.parse(a) - Date.parse(b)).at(-1);
}
