import { labels, namespaces, operatorLease } from '../../api/names.ts';
import { accessTexts } from '../../api/texts/access.ts';
import { filled, type Wording } from '../../api/texts/text.ts';
import { same } from '../../explain/wording.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { type Deployment, deployments, type Lease, leases } from '../../kube/core-resources.ts';
import { isForbidden } from '../../kube/errors.ts';
import { Unread } from './unread.ts';

/** A value, or the API server's answer 403. */
type Readable<T> = { readonly value: T } | { readonly denied: unknown };

/** The operator's namespace with Deployments and Lease. */
export interface OperatorHome {
  readonly namespace: string;
  /** All candidates for the namespace. */
  readonly searched: readonly string[];
  /** `Process`: a Lease without a Deployment, such as `make run`. `None`: no Deployment, no Lease. */
  readonly installed: 'Deployment' | 'Process' | 'None';
  /** Deployments for all parts. */
  readonly deployments: Readable<readonly Deployment[]>;
  /** Value undefined: no Lease exists. */
  readonly lease: Readable<Lease | undefined>;
}

/** Parts in the operator's namespace. */
export const managementParts = ['operator', 'viola', 'lifecycle'] as const;

/** Namespaces of an installation without and with lifecycle. */
export const usualHomes = ['multinic-operator-system', namespaces.system] as const;

/** Returns a value; throws the answer 403. */
export function valueOf<T>(answer: Readable<T>): T {
  if ('value' in answer) return answer.value;
  throw answer.denied;
}

/** Returns a Deployment's part; undefined: a foreign Deployment. */
export function partOf({ metadata }: Deployment) {
  return managementParts.find((part) => part === metadata.labels?.[labels.component]);
}

/**
 * Finds the operator: the Deployment states the installation, the Lease only the leading Pod. Throws the answer 403 if
 * the user may read no candidate.
 */
export async function findOperator(
  client: Pick<KubeClient, 'find' | 'listAll'>,
  chosen: string | undefined,
  signal: AbortSignal,
): Promise<OperatorHome> {
  const candidates = chosen === undefined ? usualHomes : [chosen];
  const homes = await Promise.all(candidates.map((name) => homeIn(client, name, signal)));
  const [best, ...others] = homes.toSorted((a, b) => rankOf(b) - rankOf(a));
  if (best === undefined) throw new Error('no candidate for the namespace of the operator');
  if (rankOf(best) === 0) for (const home of [best, ...others]) valueOf(home.deployments);
  return { ...best, searched: candidates };
}

/** Ranks a candidate: first the operator's Deployment, then a Lease, then further parts. */
function rankOf({ installed, deployments: found }: Omit<OperatorHome, 'searched'>): number {
  if (installed === 'Deployment') return 4;
  if (installed === 'Process') return 3;
  if ('denied' in found) return 0;
  return found.value.length > 0 ? 2 : 0;
}

async function homeIn(
  client: Pick<KubeClient, 'find' | 'listAll'>,
  namespace: string,
  signal: AbortSignal,
): Promise<Omit<OperatorHome, 'searched'>> {
  const labelSelector = `${labels.component} in (${managementParts.join(',')})`;
  const [found, lease] = await Promise.all([
    readable(async () => {
      const { items } = await client.listAll(deployments, { namespace, labelSelector, signal });
      return items;
    }),
    readable(() => client.find(leases, { namespace, name: operatorLease }, { signal })),
  ]);
  return { namespace, installed: installedBy(found, lease), deployments: found, lease };
}

function installedBy(
  found: OperatorHome['deployments'],
  lease: OperatorHome['lease'],
): OperatorHome['installed'] {
  if ('value' in found && found.value.some((each) => partOf(each) === 'operator')) {
    return 'Deployment';
  }
  return 'value' in lease && lease.value !== undefined ? 'Process' : 'None';
}

async function readable<T>(read: () => Promise<T>): Promise<Readable<T>> {
  try {
    return { value: await read() };
  } catch (error) {
    if (isForbidden(error)) return { denied: error };
    throw error;
  }
}

/** Returns the Lease's holder. Throws Unread: no replica leads. */
export function holderOf(home: OperatorHome, lease: Lease | undefined, now: Date): string {
  const holder = leaderOf(lease, now);
  if (holder !== undefined) return holder;
  const { namespace } = home;
  if (home.installed === 'None')
    throw new Unread(noOperator(home), accessTexts.giveOperatorNamespace);
  throw new Unread(
    filled(accessTexts.noLeader, { namespace }),
    same(`kubectl -n ${namespace} get pods`),
  );
}

/** Returns "no operator: …" with the searched namespaces. */
export function noOperator({ searched }: OperatorHome): Wording {
  return filled(accessTexts.noOperator, {
    lease: operatorLease,
    namespaces: { en: searched.join(' or '), ko: searched.join(', ') },
  });
}

/** Returns the holder, also for some seconds after expiry: clocks differ between machines. Undefined: no replica leads. */
export function leaderOf(lease: Lease | undefined, now: Date): string | undefined {
  const { holderIdentity = '', leaseDurationSeconds = 15, renewTime = '' } = lease?.spec ?? {};
  const age = (now.getTime() - Date.parse(renewTime)) / 1_000;
  if (holderIdentity === '' || age > leaseDurationSeconds + 120) return undefined;
  return holderIdentity.split('_')[0];
}
