import { findCondition } from '../../api/condition.ts';
import type { NicView, NodeView } from '../../api/read-http.ts';
import { rowOf } from '../../api/reasons.ts';
import { holdCodeOf } from '../../api/removals.ts';
import { doctorTexts } from '../../api/texts/doctor.ts';
import { amount, filled, type Wording } from '../../api/texts/text.ts';
import { nodeAddressWarnings } from '../checks/node-address.ts';
import { downButUp } from '../checks/port-state.ts';
import { keyOf, multinic } from '../commands.ts';
import type { Fact } from '../fact.ts';
import type { KubernetesNode, SystemFacts } from '../facts.ts';
import type { SectionReport } from '../finding.ts';
import { addContext, noAccess } from '../missing-texts.ts';
import { nextFor } from '../next-steps.ts';
import { ofNic } from '../nic-code.ts';
import { nodeKey, valueOf } from '../subject.ts';
import { joined, ofMessage, same } from '../wording.ts';
import { type Checked, error, info, onFact, reportOf, warning } from './check.ts';

/** Examines whether the NICs are configured and unchanged. */
export function examineNodes(facts: SystemFacts): SectionReport {
  const unreachable = new Set(
    (valueOf(facts.clusters) ?? [])
      .filter(({ reachable }) => reachable === false)
      .map(({ providerId }) => providerId),
  );
  const checked = onFact(facts.nodes, (nodes) => ({
    findings: nodes.flatMap((node) => [
      ...notReady(node, { facts, unreachable }),
      ...drifted(node),
      ...carriers(node),
    ]),
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
  return filled(doctorTexts.someNicsConfigured, {
    done,
    nics: amount(nics.length, 'NIC'),
    nodes: amount(nodes.length, 'node'),
  });
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

interface Context {
  readonly facts: SystemFacts;
  /** Business clusters without connection. */
  readonly unreachable: ReadonlySet<string>;
}

function notReady(node: NodeView, context: Context): Checked['findings'] {
  const key = nodeKey(node);
  const { ready, state, reason, message, nodeName } = node;
  const about = { nodeName, config: node.config, code: holdCodeOf(message) };
  if (reason === 'Paused' && ready !== 'True') {
    return [warning(key, reason, ofMessage(reason, message), nextFor(reason, about))];
  }
  if (state === 'Unknown' && ready === 'Unknown') return withoutStatus(node, context);
  if (ready !== 'False') return [];
  const ofNics = failedNics(node);
  if (ofNics.length > 0) return ofNics;
  return [error(key, reason, ofMessage(reason, message), nextFor(reason, about))];
}

/** Time for a controller's first status, in milliseconds. */
const patienceMs = 5 * 60_000;

/** A new node has no status at first, and the list is as old as the last sync. */
function withoutStatus(node: NodeView, { facts, unreachable }: Context): Checked['findings'] {
  const { reason, message, providerId, nodeName, nics } = node;
  const isKnown = reason === 'StatusUnsupported' || unreachable.has(providerId);
  if (isKnown || nics.length === 0) return [];
  const key = nodeKey(node);
  const evidence = ofMessage('NoNodeStatus', message);
  const config = valueOf(facts.configs)?.find((each) => keyOf(each) === node.config);
  const ready = findCondition(config?.status?.conditions, 'NICsReady');
  const age = facts.now.getTime() - Date.parse(ready?.lastTransitionTime ?? '');
  if (age < patienceMs) return [info(key, 'NoNodeStatus', evidence)];
  const next = nextFor('NoNodeStatus', { nodeName });
  return [warning(key, 'NoNodeStatus', evidence, next)];
}

/** Returns a finding per NIC reason; empty: the node's own reason applies to every NIC. */
function failedNics(node: NodeView): Checked['findings'] {
  if (rowOf(node.reason)?.scope === 'node' && node.reason !== 'InvalidEntries') return [];
  const open = node.nics.filter(({ state }) => state !== 'Configured');
  return [...Map.groupBy(open, ({ reason }) => reason || node.reason)].map(([reason, nics]) => {
    const [first] = nics;
    const texts = nics.map((nic) => {
      const { name } = nic;
      const text = ofNic(reason, nic);
      return filled(doctorTexts.ofNic, { name, text });
    });
    const subject = `${node.nodeName}/${first?.name ?? ''}`;
    const text = rowOf(reason)?.action ?? doctorTexts.lookAtNic;
    const next = { text, commands: [multinic('why', subject)], preview: [] };
    return error(nodeKey(node), reason, joined(texts), next);
  });
}

function drifted(node: NodeView): Checked['findings'] {
  if (!node.drifted) return [];
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
        const kubernetesNode = found.find((each) => isSame(each, node));
        const warnings = kubernetesNode ? nodeAddressWarnings(node, kubernetesNode) : [];
        return warnings.map(({ reason, evidence, next }) =>
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

function isSame({ systemUuid, name }: KubernetesNode, { instanceId, nodeName }: NodeView) {
  if (instanceId === '') return name === nodeName;
  return systemUuid.toLowerCase() === instanceId.toLowerCase();
}
