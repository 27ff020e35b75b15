import { agentAppName } from '../../api/names.ts';
import { preflightTexts } from '../../api/texts/preflight.ts';
import { amount, filled } from '../../api/texts/text.ts';
import type { Fact, Missing } from '../../explain/fact.ts';
import type { SectionReport } from '../../explain/finding.ts';
import { nextFor } from '../../explain/next-steps.ts';
import {
  type Checked,
  error,
  info,
  onFact,
  reportOf,
  warning,
} from '../../explain/sections/check.ts';
import { type Node, nodes } from '../../kube/core-resources.ts';
import { thisBuild } from '../../process/version.ts';
import { grantOnlyNodes } from '../../session/access/grants.ts';
import type { Session } from '../../session/access/session.ts';
import { flagsTo } from '../../session/access/sources.ts';
import { factOf } from '../../session/facts/unread.ts';
import { aboutCluster, type TargetCluster } from './clusters.ts';
import { proofOf } from './support-matrix.ts';

/** Nodes of a business cluster. */
export interface ClusterNodes {
  readonly provider: string;
  readonly nodes: Fact<readonly Node[]>;
}

/** Reads the Nodes of a business cluster, or the chosen Node only. */
export async function readNodesOf(
  session: Session,
  cluster: TargetCluster & { readonly provider: string },
): Promise<ClusterNodes> {
  const { provider } = cluster;
  const about = aboutCluster(
    cluster,
    filled(preflightTexts.nodes, { cluster: cluster.name }),
    grantOnlyNodes(flagsTo(session.options, provider)),
  );
  const fact = await factOf(session, about, async () => {
    const client = await session.client(provider);
    return (await client.listAll(nodes, { signal: session.signal })).items;
  });
  return { provider, nodes: fact };
}

/** Examines systemUUIDs, OS images and the agent's image; `chosen`: one Node only. */
export function examineMachines(
  clusters: readonly ClusterNodes[],
  chosen: Node | undefined,
): SectionReport {
  const checked = clusters.map(({ provider, nodes: fact }) =>
    onFact(fact, (all) => machinesIn(provider, all, chosen)),
  );
  const count = checked.reduce((sum, { checks }) => sum + checks, 0);
  const summary = filled(preflightTexts.nodesGood, { nodes: amount(count, 'Node') });
  return reportOf('machines', summary, clusters.length > 0 ? checked : [withoutBusiness]);
}

/** Without a business cluster no Node is known. */
const withoutBusiness: Checked = {
  findings: [],
  skipped: [
    {
      what: preflightTexts.businessNodes,
      why: preflightTexts.noBusiness,
      next: preflightTexts.giveBusiness,
    },
  ],
  checks: 0,
};

function machinesIn(provider: string, all: readonly Node[], chosen: Node | undefined): Checked {
  const shown = all.filter((node) => chosen === undefined || node === chosen);
  const byUuid = Map.groupBy(all, uuidOf);
  return {
    findings: shown.flatMap((node) => [
      ...uuidFlaws(provider, node, byUuid),
      ...imageFlaws(provider, node),
    ]),
    skipped: unlistedImage(provider, shown),
    checks: shown.length,
  };
}

/** Returns the Node's systemUUID in lower case; empty: not reported. */
export function uuidOf({ status }: Node): string {
  return (status?.nodeInfo?.systemUUID ?? '').toLowerCase();
}

function uuidFlaws(provider: string, node: Node, byUuid: ReadonlyMap<string, readonly Node[]>) {
  const subject = `${provider}/${node.metadata.name}`;
  const uuid = uuidOf(node);
  if (uuid === '') {
    const next = nextFor('SystemUUIDMissing', {});
    return [error(subject, 'SystemUUIDMissing', preflightTexts.noUuid, next)];
  }
  const others = (byUuid.get(uuid) ?? []).filter((each) => each !== node);
  if (others.length === 0) return [];
  const names = others.map(({ metadata }) => metadata.name).join(', ');
  const evidence = filled(preflightTexts.sameUuid, { uuid, others: names });
  return [error(subject, 'DuplicateSystemUUID', evidence, nextFor('DuplicateSystemUUID', {}))];
}

function imageFlaws(provider: string, { metadata, status }: Node) {
  const osImage = status?.nodeInfo?.osImage ?? '';
  const proof = proofOf(osImage);
  if (proof === 'proven') return [];
  const state = {
    files: preflightTexts.filesProven,
    none: preflightTexts.notProven,
    absent: preflightTexts.notInMatrix,
  }[proof ?? 'absent'];
  const evidence = filled(preflightTexts.osImage, { osImage, state });
  const subject = `${provider}/${metadata.name}`;
  return proof === 'files'
    ? [info(subject, 'HostNotProven', evidence)]
    : [warning(subject, 'HostNotProven', evidence, nextFor('HostNotProven', {}))];
}

/** The kubelet lists 50 images at most: an unlisted image is unread, not absent. */
function unlistedImage(provider: string, shown: readonly Node[]): Missing[] {
  const image = `${agentAppName}:${thisBuild().version}`;
  const without = shown.filter(
    ({ status }) =>
      !(status?.images ?? []).some(({ names = [] }) =>
        names.some((name) => name.endsWith(`/${image}`)),
      ),
  );
  if (without.length === 0) return [];
  const [first] = without;
  const list =
    without.length === 1 ? `${provider}/${first?.metadata.name}` : amount(without.length, 'Node');
  return [
    {
      what: filled(preflightTexts.image, { image, nodes: list }),
      why: preflightTexts.imageUnlisted,
      next: preflightTexts.listImages,
    },
  ];
}
