/** Query for the nodes that one OpenstackConfig has to know of a business cluster. */
export interface ListQuery {
  /** Reads through Viola's short cache. */
  readonly fresh: boolean;
  /** Selects nodes delivered by this OpenstackConfig, in addition to those of `instanceIds`. */
  readonly source: { readonly namespace: string; readonly name: string };
  /** Selects nodes of these servers. A Viola without selection returns every node. */
  readonly instanceIds: readonly string[];
}
