import type { ListQuery } from './list-query.ts';

interface Raw {
  readonly source?: { readonly namespace?: unknown; readonly name?: unknown } | null;
  readonly spec?: { readonly instanceId?: unknown } | null;
}

/**
 * Which nodes of a list an OpenstackConfig has to know, as Viola itself selects them; one that is asked for everything
 * answers those of a whole business cluster. What does not say that it is another one's is read.
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
