import { hash } from 'node:crypto';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import { canonicalJson } from '../../../api/spec-hash.ts';
import type { Observation, Port } from '../../../plan/observation.ts';
import { compareText } from '../../../plan/view.ts';
import { inTurns } from '../../../process/slices.ts';
import type { ObservedPort, ObservedPorts, ObservedSubnet } from '../../../store/observed-ports.ts';
import type { ConfigObject } from '../../model/openstack-config.ts';

/** Returns a sync's observations for the inventory. */
export async function sightingOf(
  { spec }: Pick<ConfigObject, 'spec'>,
  { ports, subnets, networks }: Observation,
  held: readonly ExistingNodeConfig[],
): Promise<ObservedPorts> {
  const names = new Map(networks.map(({ id, name = '' }) => [id, name]));
  const observed = subnets.map(({ id, name = '', cidr, networkId }): [string, ObservedSubnet] => [
    id,
    { id, name, cidr, networkId, networkName: names.get(networkId) ?? '' },
  ]);
  return {
    ports: new Map(await inTurns(ports, (port) => [port.id, portOf(port)])),
    subnets: new Map(observed),
    configured: new Set(held.flatMap(configuredPorts)),
    specHash: specHashOf(spec),
  };
}

/** Sorts addresses, because Neutron lists a port's addresses in any order. */
function portOf({ status, fixedIps, createdAt }: Port): ObservedPort {
  const addresses = fixedIps.map(({ ipAddress }) => ipAddress).toSorted(compareText);
  return { status, addresses, createdAt };
}

function configuredPorts({ status }: ExistingNodeConfig): string[] {
  const nics = status?.interfaceStatuses ?? [];
  return nics.flatMap(({ portId, status: state }) =>
    portId && state === 'Configured' ? [portId.toLowerCase()] : [],
  );
}

const secretFields: ReadonlySet<string> = new Set(['password', 'contrabassEncryptKey']);

/** Omits secret fields, because a short password can be guessed from a hash. */
function specHashOf(spec: unknown): string {
  const text = canonicalJson(spec ?? {});
  const shown: unknown = JSON.parse(text, (key, value: unknown) =>
    secretFields.has(key) ? undefined : value,
  );
  return hash('sha256', JSON.stringify(shown));
}
