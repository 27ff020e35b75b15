/** Query for the nodes that one OpenstackConfig needs from a business cluster. */
export interface ListQuery {
  /** True: bypasses Viola's short cache. */
  readonly fresh: boolean;
  /** Selects nodes delivered by this OpenstackConfig, in addition to `instanceIds`. */
  readonly source: { readonly namespace: string; readonly name: string };
  /** Selects these servers' nodes. A Viola without selection returns every node. */
  readonly instanceIds: readonly string[];
}
