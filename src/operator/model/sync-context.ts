import type { Source } from '../../api/node-configs-http.ts';
import type { ConfigContext } from './memory/config-memory.ts';
import type { ConfigObject } from './openstack-config.ts';
import type { ResolvedConfig } from './resolve/resolve.ts';
import type { SyncScope } from './sync-scope.ts';

/**
 * Input for observation and planning, in a sync or what-if. No step changes the context; a step with reads returns an
 * extended context.
 */
export interface PlanContext {
  readonly object: ConfigObject;
  readonly config: ResolvedConfig;
  readonly scope: SyncScope;
  /** Source recorded in the delivered nodes. */
  readonly source: Source;
  readonly freshness: Freshness;
  /** Whether multinic.io/reconcile-at has a new value: the sync reads and delivers everything again. */
  readonly isForced: boolean;
}

/** One OpenstackConfig's sync. */
export interface SyncContext extends PlanContext, ConfigContext {}

/** Oldest reads for a sync, in monotonic milliseconds; Infinity: only reads by this sync. */
export interface Freshness {
  readonly portsSince: number;
  /** For lists of project servers. */
  readonly serversSince: number;
  /** For networks and single servers; undefined: any age within the cache limits. */
  readonly cacheSince: number | undefined;
}
