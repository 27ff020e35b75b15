import { endpointOf, type ViolaEndpoint } from '../../model/resolve/endpoints.ts';
import { Fields } from '../../model/resolve/fields.ts';
import { LimitedReads } from './limited-reads.ts';
import { ObjectReads } from './object-reads.ts';
import type { ReadDeps } from './read-deps.ts';
import { ReportedClusters } from './reported-clusters.ts';

/** Sources of the read API, shared by its routes and the event stream. */
export interface ReadSources {
  readonly deps: ReadDeps;
  readonly limited: LimitedReads;
  readonly reported: ReportedClusters;
  readonly objects: ObjectReads;
  /** The operator's own Viola; undefined: VIOLA_ENDPOINT is not set. */
  readonly usual: ViolaEndpoint | undefined;
}

export function createReadSources(deps: ReadDeps): ReadSources {
  const limited = new LimitedReads(deps.clock);
  const reported = new ReportedClusters(deps);
  const objects = new ObjectReads(deps, limited);
  return { deps, limited, reported, objects, usual: usualViola(deps) };
}

/** Returns the operator's own Viola: Viola may know business clusters without any OpenstackConfig. */
function usualViola({ settings }: ReadDeps) {
  const { violaEndpoint: own } = settings;
  if (own === undefined) return undefined;
  const source = { given: undefined, own, env: undefined };
  const endpoint = endpointOf('violaEndpoint', source, settings, new Fields());
  return { ...endpoint, compatibility: 'native' as const };
}
