import { accessTexts } from '../../api/texts/access.ts';
import type { Fact } from '../../explain/fact.ts';
import type { PartHealth, PartVersion } from '../../explain/facts.ts';
import { same } from '../../explain/wording.ts';
import type { Deployment } from '../../kube/core-resources.ts';
import { thisBuild } from '../../process/version.ts';
import { grantReader, grantView } from '../access/grants.ts';
import {
  leaderOf,
  managementParts,
  noOperator,
  type OperatorHome,
  partOf,
  usualHomes,
  valueOf,
} from '../access/operator-home.ts';
import type { Session } from '../access/session.ts';
import { Unread } from '../access/unread.ts';
import { type ConfigObject, openstackConfigs } from './kinds.ts';
import { readPodsNotStarted } from './pods-not-started.ts';
import { factOf } from './unread.ts';

/** Reads OpenstackConfigs of one or all namespaces, by namespace and name. */
export function readConfigs(
  session: Session,
  namespace: string | undefined,
  isOptional = false,
): Promise<Fact<ConfigObject[]>> {
  const { signal } = session;
  const about = {
    what: same('OpenstackConfigs'),
    source: 'management cluster' as const,
    isOptional,
    grant: grantView(namespace),
  };
  return factOf(session, about, async () => {
    const client = await session.management();
    const { items } = await client.listAll(openstackConfigs, { namespace, signal });
    return items.toSorted((a, b) => compare(keyOf(a), keyOf(b)));
  });
}

function keyOf({ metadata: { namespace = '', name } }: ConfigObject): string {
  return `${namespace}/${name}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Parts in the operator's namespace, with health and build. */
export interface ManagementParts {
  readonly health: readonly PartHealth[];
  readonly versions: readonly PartVersion[];
}

/** Reads Deployments, Lease and waiting Pods; optional with --inventory. */
export function readParts(session: Session): Promise<Fact<ManagementParts>> {
  const { options } = session;
  const about = {
    what: accessTexts.parts,
    source: 'management cluster' as const,
    grant: grantReader(options.operatorNamespace ?? usualHomes[0]),
    isOptional: options.inventory !== undefined,
  };
  return factOf(session, about, async () => {
    const home = await session.home();
    const found = valueOf(home.deployments);
    const leader = leaderIn(session, home);
    const health = await Promise.all(
      managementParts.flatMap((part) =>
        found
          .filter((each) => partOf(each) === part)
          .map((each) => healthOf(session, part, each, leader)),
      ),
    );
    const cli = { part: 'cli' as const, providerId: undefined, version: thisBuild().version };
    return {
      health: [...withoutDeployment(session, home, leader), ...health].map((each) =>
        withHomes(home, each),
      ),
      versions: [...found.flatMap(versionsOf), cli],
    };
  });
}

/** Returns the leading Pod; undefined: none. Throws the answer 403 if the user may read no Lease but a replica is ready. */
function leaderIn(session: Session, { lease, deployments }: OperatorHome): string | undefined {
  const operators = valueOf(deployments).filter((each) => partOf(each) === 'operator');
  const isReady = operators.some(({ status }) => (status?.readyReplicas ?? 0) > 0);
  const isNeeded = isReady || operators.length === 0;
  return 'denied' in lease && !isNeeded ? undefined : leaderOf(valueOf(lease), session.now());
}

/** Returns an operator without Deployment: a process outside the cluster, or none. */
function withoutDeployment(
  { options }: Session,
  home: OperatorHome,
  leader: string | undefined,
): PartHealth[] {
  const { installed } = home;
  if (installed === 'Deployment' || installed === 'Unknown') return [];
  // The operator behind --inventory may be in another cluster.
  if (installed === 'None' && options.inventory !== undefined) {
    throw new Unread(noOperator(home), accessTexts.giveOperatorNamespace);
  }
  const replicas = leader === undefined ? 0 : 1;
  const problem = installed === 'None' ? noOperator(home).en : undefined;
  const counts = { replicas, readyReplicas: replicas, leader, problem };
  return [{ part: 'operator', providerId: undefined, installed, ...counts }];
}

/** Adds the namespaces to an operator that is not the only one. */
function withHomes({ namespace, others }: OperatorHome, health: PartHealth): PartHealth {
  const isOne = health.part !== 'operator' || others.length === 0;
  return isOne ? health : { ...health, homes: [namespace, ...others] };
}

async function healthOf(
  session: Session,
  part: (typeof managementParts)[number],
  deployment: Deployment,
  leader: string | undefined,
): Promise<PartHealth> {
  const problem = problemOf(deployment);
  const isUpdating = problem === undefined && isInRollout(deployment);
  const isSettled = problem === undefined && !isUpdating;
  const notStarted = isSettled ? [] : await readPodsNotStarted(session, deployment);
  return {
    part,
    providerId: undefined,
    namespace: deployment.metadata.namespace,
    ...countsOf(deployment),
    leader: part === 'operator' ? leader : undefined,
    problem,
    ...(isUpdating && { isUpdating }),
    ...(notStarted && notStarted.length > 0 && { notStarted }),
  };
}

function countsOf({ spec, status }: Deployment) {
  return { replicas: spec?.replicas ?? 1, readyReplicas: status?.readyReplicas ?? 0 };
}

/** Condition types in the order of their messages' precision, with the bad status. */
const badConditions = [
  ['ReplicaFailure', 'True'],
  ['Progressing', 'False'],
  ['Available', 'False'],
] as const;

/** True while the Deployment replaces its Pods; a field without value does not count. */
function isInRollout({ metadata: { generation = 0 }, spec, status = {} }: Deployment): boolean {
  const { replicas = 0, updatedReplicas, observedGeneration = generation } = status;
  const isReplaced =
    updatedReplicas === undefined || updatedReplicas >= Math.max(spec?.replicas ?? 1, replicas);
  return !isReplaced || observedGeneration < generation;
}

/** Returns the Deployment's most exact message; undefined: all replicas are ready, and no condition is bad. */
function problemOf(deployment: Deployment): string | undefined {
  const { replicas, readyReplicas } = countsOf(deployment);
  if (replicas === 0) return 'scaled to 0 replicas';
  const { conditions = [] } = deployment.status ?? {};
  const worst = badConditions.flatMap(([type, bad]) =>
    conditions.filter((each) => each.type === type && each.status === bad),
  );
  const [first] = worst;
  if (first === undefined && readyReplicas >= replicas) return undefined;
  return first?.message ?? 'not all replicas are ready';
}

/** Returns the build by the label of the chart; other installations have none. */
function versionsOf(deployment: Deployment): PartVersion[] {
  const version = deployment.metadata.labels?.['app.kubernetes.io/version'];
  const part = partOf(deployment);
  return version === undefined || part === undefined
    ? []
    : [{ part, providerId: undefined, version }];
}
