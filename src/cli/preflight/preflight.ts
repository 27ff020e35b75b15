import { preflightTexts } from '../../api/texts/preflight.ts';
import { filled } from '../../api/texts/text.ts';
import type { UnreadSource } from '../../explain/conclusion.ts';
import type { SectionReport } from '../../explain/finding.ts';
import { problemsIn } from '../../explain/findings.ts';
import type { Node } from '../../kube/core-resources.ts';
import { thisBuild } from '../../process/version.ts';
import type { Session } from '../../session/access/session.ts';
import { required } from '../../session/facts/required.ts';
import { withDeadline } from '../../time/deadline.ts';
import type { CommonOptions } from '../options.ts';
import { answerLines } from '../output/findings.ts';
import { sectionsLines } from '../output/sections.ts';
import { Refusal, WrongUsage } from '../refusal.ts';
import { agentRequestFor } from './agent-request.ts';
import { examineCloud, type OpenCloud, openCloud } from './cloud.ts';
import { type TargetCluster, targetClusters } from './clusters.ts';
import { examineDefinitions } from './definitions.ts';
import { type ClusterNodes, examineMachines, readNodesOf } from './machines.ts';
import { examineNetworks } from './networks.ts';
import { examineRights } from './rights.ts';
import { examineApi } from './served.ts';

export interface PreflightOptions extends CommonOptions {
  /** Path of a clouds.yaml. */
  readonly cloud?: string;
  /** NODE or PROVIDER/NODE. */
  readonly node?: string;
  readonly printRequest?: boolean;
}

type BusinessCluster = TargetCluster & { readonly provider: string };

/** Examines clusters and cloud before an installation; writes nothing. */
export async function preflight(
  session: Session,
  options: PreflightOptions,
): Promise<SectionReport[]> {
  const clusters = targetClusters(session);
  const business = clusters.filter(isBusiness);
  const open = await openCloudOf(session, options);
  try {
    const nodes = await Promise.all(business.map((cluster) => readNodesOf(session, cluster)));
    const chosen = options.node === undefined ? undefined : nodeIn(nodes, options.node);
    return await Promise.all([
      examineApi(session, clusters),
      examineRights(session, clusters),
      examineDefinitions(session, clusters),
      Promise.resolve(examineMachines(nodes, chosen)),
      examineNetworks(
        session,
        business.map(({ provider }) => provider),
      ),
      examineCloud(session, open, nodes, chosen),
    ]);
  } finally {
    await open?.[Symbol.asyncDispose]();
  }
}

/** Returns the agent's request for a node as JSON. */
export async function printedRequest(session: Session, options: PreflightOptions): Promise<string> {
  const { node: name } = options;
  await using open = await openCloudOf(session, options);
  if (name === undefined || open === undefined) {
    throw new WrongUsage(
      '--print-request needs --node NODE and --cloud FILE: the request holds the ports of the server',
      'for example: --pre --node worker-1 --print-request --cloud clouds.yaml',
    );
  }
  const business = targetClusters(session).filter(isBusiness);
  const nodes = await Promise.all(business.map((cluster) => readNodesOf(session, cluster)));
  const node = nodeIn(nodes, name);
  const { request, left } = await withDeadline(session.limit, (signal) =>
    agentRequestFor(node, open.cloud, signal),
  );
  for (const { id, why } of left) console.error(`Warning: the request lacks port ${id}: ${why}.`);
  return JSON.stringify(request, undefined, 2);
}

function isBusiness(cluster: TargetCluster): cluster is BusinessCluster {
  return cluster.provider !== undefined;
}

async function openCloudOf(
  session: Session,
  { cloud }: PreflightOptions,
): Promise<OpenCloud | undefined> {
  return cloud === undefined ? undefined : openCloud(session, cloud);
}

/** Returns a Node by name. Throws a Refusal if no cluster or several clusters have the name. */
function nodeIn(clusters: readonly ClusterNodes[], text: string): Node {
  const [name = '', provider] = text.split('/').toReversed();
  const searched = clusters.filter((each) => provider === undefined || each.provider === provider);
  if (searched.length === 0) {
    throw new WrongUsage(
      `--node ${text}: no business cluster is given`,
      preflightTexts.giveBusiness.en,
    );
  }
  const found = searched.flatMap(({ nodes }) =>
    required(nodes).filter(({ metadata }) => metadata.name === name),
  );
  const [node, ...others] = found;
  if (node !== undefined && others.length === 0) return node;
  const places = searched.map((each) => each.provider).join(', ');
  throw new Refusal(
    `${found.length} Nodes have the name ${name} in ${places}`,
    node === undefined ? 'give the name of a Node: kubectl get nodes' : 'give PROVIDER/NODE',
  );
}

interface PreflightPage {
  readonly sections: readonly SectionReport[];
  readonly unread: readonly UnreadSource[];
  readonly seconds: number;
}

/** Returns the page. */
export function preflightText(
  { sections, unread, seconds }: PreflightPage,
  options: PreflightOptions,
): string {
  const { lang } = options;
  const answer = answerLines(problemsIn(sections), unread, lang);
  return [
    ...answer,
    ...(answer.length > 0 ? [''] : []),
    filled(preflightTexts.before, { version: thisBuild().version })[lang],
    '',
    ...sectionsLines({ sections, options, seconds }, lang),
  ].join('\n');
}
