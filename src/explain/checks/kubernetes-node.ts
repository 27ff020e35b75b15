import { ipOf, plainForm } from '../../api/address.ts';
import type { NodeView } from '../../api/read-http.ts';
import { doctorTexts } from '../../api/texts/doctor.ts';
import { filled } from '../../api/texts/text.ts';
import type { KubernetesNode } from '../facts.ts';
import { nextFor } from '../next-steps.ts';
import type { CheckWarning } from './check-warning.ts';

type NodeId = Pick<NodeView, 'instanceId' | 'nodeName'>;

/** True for a server's Kubernetes Node; a legacy operator names no server. */
export function isNodeOf({ systemUuid, name }: KubernetesNode, { instanceId, nodeName }: NodeId) {
  if (instanceId === '') return name === nodeName;
  return systemUuid.toLowerCase() === instanceId.toLowerCase();
}

/** Compares a node with its Kubernetes Node; undefined: the read cluster has no such Node. */
export function nodeWarnings(
  node: NodeView,
  kubernetesNode: KubernetesNode | undefined,
): readonly CheckWarning[] {
  return kubernetesNode ? addressWarnings(node, kubernetesNode) : absent(node);
}

/** The controller's NodeNotFound already names the absent Node. */
function absent({ nics, reason, instanceId, nodeName, providerId }: NodeView): CheckWarning[] {
  if (nics.length === 0 || reason === 'NodeNotFound') return [];
  const id = instanceId === '' ? `name ${nodeName}` : `systemUUID ${instanceId}`;
  const evidence = filled(doctorTexts.noSuchNode, { provider: providerId, id });
  const option = `--business-context ${providerId}=CONTEXT`;
  const text = filled(doctorTexts.checkContext, { option });
  const { commands } = nextFor('NodeNotFound', { nodeName });
  return [{ reason: 'NodeNotFound', evidence, next: { text, commands, preview: [] } }];
}

/** Finds NICs with an InternalIP from their Kubernetes Node. */
function addressWarnings(
  { nics, nodeName }: NodeView,
  { internalIps, name }: KubernetesNode,
): readonly CheckWarning[] {
  const own = new Set(internalIps.map(plainForm));
  return nics.flatMap((nic) => {
    const address = nic.addresses.map((text) => plainForm(ipOf(text))).find((ip) => own.has(ip));
    if (address === undefined) return [];
    const all = internalIps.join(', ');
    const evidence = filled(doctorTexts.addressOfNic, { address, node: name, nic: nic.name, all });
    const next = nextFor('NodeAddressIsNic', { nodeName, nic });
    return [{ reason: 'NodeAddressIsNic', evidence, next }];
  });
}
