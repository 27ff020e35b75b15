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
  /** Further candidates with an operator. */
  readonly others: readonly string[];
  /**
   * `Process`: a Lease without a Deployment, such as `make run`. `None`: no Deployment, no Lease. `Unknown`: a Lease, but
   * the user may not read Deployments.
   */
  readonly installed: 'Deployment' | 'Process' | 'None' | 'Unknown';
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

/** A candidate before the choice. */
type Candidate = Omit<OperatorHome, 'searched' | 'others'>;

/** Candidates, and the time for the age of a Lease. */
export interface Search {
  /** Namespace by --operator-namespace; undefined: the usual ones. */
  readonly chosen: string | undefined;
  readonly now: Date;
  readonly signal: AbortSignal;
}

/**
 * Finds the operator: a running operator comes first, then the Deployment, which states the installation, then the
 * Lease. Throws the answer 403 if the user may read no candidate.
 */
export async function findOperator(
  client: Pick<KubeClient, 'find' | 'listAll'>,
  { chosen, now, signal }: Search,
): Promise<OperatorHome> {
  const candidates = chosen === undefined ? usualHomes : [chosen];
  const homes = await Promise.all(candidates.map((name) => homeIn(client, name, signal)));
  const [best, ...others] = homes.toSorted((a, b) => rankOf(b, now) - rankOf(a, now));
  if (best === undefined) throw new Error('no candidate for the namespace of the operator');
  if (rankOf(best, now) === 0) for (const home of [best, ...others]) valueOf(home.deployments);
  const installed = others.filter((each) => each.installed === 'Deployment' || isLed(each, now));
  return { ...best, searched: candidates, others: installed.map(({ namespace }) => namespace) };
}

/** Ranks a candidate: first a live Lease, then ready replicas, then the installation. */
function rankOf(home: Candidate, now: Date): number {
  return (isLed(home, now) ? 20 : 0) + (isReady(home) ? 10 : 0) + installationRank(home);
}

/** Ranks an installation: first the operator's Deployment, then a Lease, then further parts. */
function installationRank({ installed, deployments: found }: Candidate): number {
  if (installed === 'Deployment') return 4;
  if (installed !== 'None') return 3;
  if ('denied' in found) return 0;
  return found.value.length > 0 ? 2 : 0;
}

function isLed({ lease }: Candidate, now: Date): boolean {
  return 'value' in lease && leaderOf(lease.value, now) !== undefined;
}

function isReady({ deployments: found }: Candidate): boolean {
  return (
    'value' in found &&
    found.value.some((each) => partOf(each) === 'operator' && (each.status?.readyReplicas ?? 0) > 0)
  );
}

async function homeIn(
  client: Pick<KubeClient, 'find' | 'listAll'>,
  namespace: string,
  signal: AbortSignal,
): Promise<Candidate> {
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
  const hasLease = 'value' in lease && lease.value !== undefined;
  if (!hasLease) return 'None';
  return 'value' in found ? 'Process' : 'Unknown';
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
