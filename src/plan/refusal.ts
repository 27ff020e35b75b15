import { acceptInterfaces } from '../api/accept-interface.ts';
import { type InterfaceSpec, interfaceSpec } from '../api/multinicnodeconfig.ts';
import type { Problem } from './plan.ts';

/**
 * Returns why the entry is invalid beside the node's other entries. An entry refused by Viola would block the whole
 * node.
 */
export function refusalOf(
  portId: string,
  others: readonly InterfaceSpec[],
  entry: InterfaceSpec,
): Problem | undefined {
  const { macAddress } = entry;
  if (!interfaceSpec.shape.macAddress.safeParse(macAddress).success) {
    return invalid(portId, 'macAddress', `"${macAddress}" is not the MAC of an Ethernet NIC`);
  }
  const rejection = acceptInterfaces([...others, entry]).rejected.find(
    ({ position }) => position === others.length,
  );
  return rejection && invalid(portId, rejection.field, rejection.message);
}

function invalid(portId: string, field: string, why: string): Problem {
  const subject = `port ${portId}`;
  const message = `${subject} cannot be a NIC of its node: ${field} ${why}`;
  return { reason: 'InvalidPort', subject, field, message };
}
