import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import { indexOfName, maxIndex } from '../api/names.ts';
import type { HeldNode } from '../api/node-configs-http.ts';
import type { Port } from './observation.ts';

/** One delivered NIC with its port, when the port was seen at the server. */
export interface HeldEntry {
  readonly spec: InterfaceSpec;
  /** The N of multinicN; undefined when it is out of range or taken by an entry before it. */
  readonly index: number | undefined;
  readonly port: Port | undefined;
  /** Several ports of the server may be its port. */
  readonly unclear: boolean;
}

/** Pairs the entries of an object with the server's ports: by port id, or by MAC where an entry has none. */
export function heldEntries(held: HeldNode | undefined, ports: readonly Port[]): HeldEntry[] {
  const specs = held?.spec.interfaces ?? [];
  const indexes = new Set<number>();
  return specs.map((spec) => {
    const candidates = spec.portId
      ? ports.filter(({ id }) => id === spec.portId)
      : portsOf(spec, ports.filter(isUnnamed));
    const unclear = candidates.length > 1;
    const index = indexOfEntry(spec);
    const free = index !== undefined && !indexes.has(index);
    if (free) indexes.add(index);
    const port = unclear ? undefined : candidates[0];
    return { spec, index: free ? index : undefined, port, unclear };
  });

  function isUnnamed({ id }: Port): boolean {
    return !specs.some(({ portId }) => portId === id);
  }
}

/** The ports with the entry's MAC; of several (in different networks) those with its address, if there is one. */
function portsOf({ macAddress, address }: InterfaceSpec, ports: readonly Port[]): readonly Port[] {
  const same = ports.filter((p) => p.macAddress.toLowerCase() === macAddress.toLowerCase());
  const exact = same.filter(({ fixedIps }) => fixedIps.some((ip) => ip.ipAddress === address));
  return same.length > 1 && exact.length > 0 ? exact : same;
}

/** The index of an entry: the number in its name, else its id, else 0, as the deployed readers take it. */
export function indexOfEntry({ name, id = 0 }: InterfaceSpec): number | undefined {
  const index = name === undefined ? id : indexOfName(name);
  return index !== undefined && index <= maxIndex ? index : undefined;
}
