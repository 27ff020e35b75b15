import type { ListQuery } from './list-query.ts';

interface Raw {
  readonly source?: { readonly namespace?: unknown; readonly name?: unknown } | null;
  readonly spec?: { readonly instanceId?: unknown } | null;
}

/**
 * Returns a filter for the listed nodes that an OpenstackConfig needs: own nodes and nodes of its servers. The filter
 * repeats Viola's own selection, because an older Viola returns a whole business cluster. Nodes without a readable
 * source or instance id pass.
 */
export function concernOf({ source, instanceIds }: ListQuery): (raw: unknown) => boolean {
  const servers = new Set(instanceIds.map((id) => id.toLowerCase()));
  return (raw) => {
    const { source: from, spec } = (raw ?? {}) as Raw;
    if (typeof from?.namespace !== 'string' || typeof from.name !== 'string') return true;
    if (from.namespace === source.namespace && from.name === source.name) return true;
    const id = spec?.instanceId;
    return typeof id !== 'string' || servers.has(id.toLowerCase());
  };
}
