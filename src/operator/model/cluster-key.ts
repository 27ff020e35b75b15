import type { ResolvedConfig } from './resolve/resolve.ts';

/** Returns the identity of an OpenstackConfig's business cluster: its Viola and its id there. */
export function clusterKeyOf({ viola, providerId }: Pick<ResolvedConfig, 'viola' | 'providerId'>) {
  return `${viola.url} ${providerId}`;
}
