/** Data that one sync reads again. Times are monotonic milliseconds. */
export interface SyncScope {
  /** Servers to sync; the OpenstackConfig's remaining servers stay unchanged. */
  readonly servers: 'all' | readonly string[];
  /** Oldest acceptable read for any server; undefined: the poll interval limits the age. */
  readonly since: number | undefined;
  /** Servers with cloud events, and the last event's time: older reads for these servers do not count. */
  readonly events: { readonly servers: readonly string[]; readonly since: number };
  /** Object names per server id, for servers that may be synced alone. */
  readonly nodeNames: ReadonlyMap<string, string>;
}

/** Scope of a sync without cloud events. */
export const wholeScope: SyncScope = {
  servers: 'all',
  since: undefined,
  events: { servers: [], since: Number.NEGATIVE_INFINITY },
  nodeNames: new Map(),
};
