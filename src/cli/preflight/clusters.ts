import { namespaces } from '../../api/names.ts';
import type { Wording } from '../../api/texts/text.ts';
import { usualHomes } from '../../session/access/operator-home.ts';
import type { Session } from '../../session/access/session.ts';
import { chosenProviders } from '../../session/access/sources.ts';
import type { FactAbout } from '../../session/facts/unread.ts';
import type { chartKinds } from './chart-kinds.ts';

/** Cluster before an installation, with its chart. */
export interface TargetCluster {
  /** Undefined: the management cluster. */
  readonly provider: string | undefined;
  readonly name: string;
  readonly chart: keyof typeof chartKinds;
  readonly namespace: string;
}

/** Returns the management cluster and the business clusters with access options. */
export function targetClusters({ options }: Session): TargetCluster[] {
  const namespace = options.operatorNamespace ?? usualHomes[0];
  const management = {
    provider: undefined,
    name: 'management',
    chart: 'multinic-operator',
    namespace,
  } as const;
  const business = chosenProviders(options).map((provider) => ({
    provider,
    name: provider,
    chart: 'multinic-agent' as const,
    namespace: namespaces.system,
  }));
  return [management, ...business];
}

/** Describes a fact about a cluster. */
export function aboutCluster(
  { provider }: TargetCluster,
  what: Wording,
  grant: FactAbout['grant'],
): FactAbout {
  const source = provider === undefined ? 'management cluster' : 'business cluster';
  return { what, source, grant, ...(provider !== undefined && { provider }) };
}
