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
}

/** Pairs the entries of an object with the server's ports: by port id, or by MAC where an entry has none. */
export function heldEntries(held: HeldNode | undefined, ports: readonly Port[]): HeldEntry[] {
  const specs = held?.spec.interfaces ?? [];
  const indexes = new Set<number>();
  return specs.map((spec) => {
    const port = spec.portId
      ? ports.find(({ id }) => id === spec.portId)
      : portOf(spec, ports.filter(isUnnamed));
    const index = indexOfEntry(spec);
    const free = index !== undefined && !indexes.has(index);
    if (free) indexes.add(index);
    return { spec, index: free ? index : undefined, port };
  });

  function isUnnamed({ id }: Port): boolean {
    return !specs.some(({ portId }) => portId === id);
  }
}

/** The port with the entry's MAC; of several (in different networks) the one with its address. */
function portOf({ macAddress, address }: InterfaceSpec, ports: readonly Port[]): Port | undefined {
  const same = ports.filter((p) => p.macAddress.toLowerCase() === macAddress.toLowerCase());
  if (same.length < 2) return same[0];
  return same.find(({ fixedIps }) => fixedIps.some(({ ipAddress }) => ipAddress === address));
}

/** The index of an entry: the number in its name, else its id, else 0, as the deployed readers take it. */
export function indexOfEntry({ name, id = 0 }: InterfaceSpec): number | undefined {
  const index = name === undefined ? id : indexOfName(name);
  return index !== undefined && index <= maxIndex ? index : undefined;
}
