import { accessTexts } from '../../api/texts/access.ts';
import type { Fact } from '../../explain/fact.ts';
import type { PartHealth, Parts, PartVersion } from '../../explain/facts.ts';
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
import { healthOf, versionsOf } from './part-health.ts';
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

/** Reads Deployments, Lease and waiting Pods; optional with --inventory. */
export function readParts(session: Session): Promise<Fact<Parts>> {
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
          .map((each) =>
            healthOf(session, managementPart(part), each, part === 'operator' ? leader : undefined),
          ),
      ),
    );
    const cli = { part: 'cli' as const, providerId: undefined, version: thisBuild().version };
    return {
      health: [...withoutDeployment(session, home, leader), ...health].map((each) =>
        withHomes(home, each),
      ),
      versions: [...found.flatMap(versionsIn), cli],
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

function versionsIn(deployment: Deployment): PartVersion[] {
  const part = partOf(deployment);
  return part === undefined ? [] : versionsOf(managementPart(part), deployment);
}

function managementPart(part: (typeof managementParts)[number]) {
  return { part, providerId: undefined } as const;
}
