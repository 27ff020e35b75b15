import type { NicView, NodeView } from '../../api/read-http.ts';
import { doctorTexts } from '../../api/texts/doctor.ts';
import { existingNicsTexts } from '../../api/texts/existing-nics.ts';
import { amount, filled, type Wording } from '../../api/texts/text.ts';
import { isNodeOf, nodeWarnings } from '../checks/kubernetes-node.ts';
import { downButUp } from '../checks/port-state.ts';
import { multinic } from '../commands.ts';
import type { Fact } from '../fact.ts';
import type { KubernetesNode, SystemFacts } from '../facts.ts';
import type { SectionReport } from '../finding.ts';
import { addContext, noAccess } from '../missing-texts.ts';
import { nextFor } from '../next-steps.ts';
import { isObserved, nodeKey, valueOf } from '../subject.ts';
import { followed, joined, same } from '../wording.ts';
import { type Checked, onFact, reportOf, warning } from './check.ts';
import { notConfigured } from './not-configured.ts';

/** Examines whether the NICs are configured and unchanged. */
export function examineNodes(facts: SystemFacts): SectionReport {
  const checked = onFact(facts.nodes, (nodes) => ({
    findings: [
      ...notConfigured(nodes, facts),
      ...nodes.flatMap((node) => [...drifted(node), ...carriers(node)]),
    ],
    skipped: unknownNodes(nodes),
    checks: nodes.some(hasStatus) ? checksOfNodes : 0,
  }));
  const nodes = valueOf(facts.nodes) ?? [];
  const summary = configuredNics(nodes);
  return reportOf('nodes', summary, [checked, ...addresses(facts, nodes)]);
}

function configuredNics(nodes: readonly NodeView[]): Wording {
  const nics = nodes.flatMap((node) => node.nics);
  const done = nics.filter(({ state }) => state === 'Configured').length;
  if (done === nics.length) {
    return filled(doctorTexts.allNicsConfigured, {
      nics: amount(nics.length, 'NIC'),
      nodes: amount(nodes.length, 'node'),
    });
  }
  const observed = nodes.filter(isObserved).length;
  const some = filled(doctorTexts.someNicsConfigured, {
    done,
    nics: amount(nics.length, 'NIC'),
    nodes: amount(nodes.length, 'node'),
  });
  if (observed === 0) return some;
  return followed(some, filled(existingNicsTexts.observedOf, { nodes: amount(observed, 'node') }));
}

function hasStatus({ state, nics }: NodeView): boolean {
  return state !== 'Unknown' || nics.length === 0;
}

/** Nodes whose status no part reports, such as with a legacy Viola: their NICs count as unknown. */
function unknownNodes(nodes: readonly NodeView[]): NonNullable<Checked['skipped']> {
  const unknown = nodes.filter((node) => !hasStatus(node));
  return [...Map.groupBy(unknown, ({ providerId }) => providerId)].map(([provider, own]) => ({
    what: filled(doctorTexts.statusOf, { nodes: amount(own.length, 'node'), provider }),
    why: own[0]?.message ? same(own[0].message) : doctorTexts.notReported,
    next: same(multinic('nodes', '--cluster', provider, '--state', 'Unknown')),
  }));
}

/** Configuration, drift and carrier. */
const checksOfNodes = 3;

function drifted(node: NodeView): Checked['findings'] {
  if (!node.drifted || isObserved(node)) return [];
  const nics = node.nics.filter(({ reason }) => reason === 'Drifted');
  const texts = nics.map(driftText);
  const evidence = texts.length > 0 ? joined(texts) : doctorTexts.nodeDiffers;
  const next = nextFor('Drifted', { nodeName: node.nodeName });
  return [warning(nodeKey(node), 'Drifted', evidence, next)];
}

function driftText({ name, message }: NicView) {
  return filled(doctorTexts.nicDiffers, { name, message });
}

function carriers(node: NodeView): Checked['findings'] {
  return node.nics
    .filter(({ state }) => state === 'Configured')
    .flatMap((nic) => downButUp(nic, nic.portStatus))
    .map(({ reason, evidence, next }) => warning(nodeKey(node), reason, evidence, next));
}

/** Compares the Kubernetes Nodes' addresses, separately for each business cluster. */
function addresses(
  { kubernetesNodes }: SystemFacts,
  nodes: readonly NodeView[],
): readonly Checked[] {
  const byProvider = Map.groupBy(nodes, ({ providerId }) => providerId);
  return [...byProvider].map(([provider, own]) => {
    const fact = kubernetesNodes.get(provider) ?? notRead(provider);
    return onFact(fact, (found) => ({
      findings: own.flatMap((node) => {
        const kubernetesNode = found.find((each) => isNodeOf(each, node));
        return nodeWarnings(node, kubernetesNode).map(({ reason, evidence, next }) =>
          warning(nodeKey(node), reason, evidence, next),
        );
      }),
      checks: 1,
    }));
  });
}

function notRead(provider: string): Fact<readonly KubernetesNode[]> {
  return {
    state: 'unread',
    what: filled(doctorTexts.nodesOf, { provider }),
    why: noAccess,
    next: addContext(provider),
  };
}
