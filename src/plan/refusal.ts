import { acceptInterfaces } from '../api/accept-interface.ts';
import { type InterfaceSpec, interfaceSpec } from '../api/multinicnodeconfig.ts';
import type { Problem } from './plan.ts';

/**
 * Why a port cannot be delivered as this entry, beside the others of its node: an entry that Viola refuses would keep the
 * whole node back.
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
