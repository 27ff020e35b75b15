import { ipOf, plainForm } from '../../api/address.ts';
import type { NodeView } from '../../api/read-http.ts';
import { doctorTexts } from '../../api/texts/doctor.ts';
import { filled } from '../../api/texts/text.ts';
import type { KubernetesNode } from '../facts.ts';
import { nextFor } from '../next-steps.ts';
import type { CheckWarning } from './check-warning.ts';

/** Finds NICs with an InternalIP from their Kubernetes Node. */
export function nodeAddressWarnings(
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
