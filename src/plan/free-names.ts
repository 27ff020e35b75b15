import type { InterfaceStatus } from '../api/multinicnodeconfig.ts';
import { indexOfName, maxIndex } from '../api/names.ts';
import type { HeldNode } from '../api/node-configs-http.ts';
import { indexOfEntry } from './held-entries.ts';
import type { Port } from './observation.ts';

/**
 * Hands out indexes for new ports. An index is free when neither the spec nor the status of the object names it: while
 * the status does, the node still has something of the NIC that had it. A port that comes back meanwhile gets its own
 * index again.
 */
export class FreeNames {
  readonly #held: HeldNode | undefined;
  /** Named by the spec, or handed out here. */
  #used: Set<number> | undefined;
  #passedOver = false;

  constructor(held: HeldNode | undefined) {
    this.#held = held;
  }

  /** The index this port would get now; undefined when none is free. */
  next(port: Port): number | undefined {
    const statuses = this.#held?.status?.interfaceStatuses ?? [];
    const own = statuses.filter((status) => isOf(status, port)).flatMap(indexesOf);
    const leaving = new Set(statuses.flatMap(indexesOf));
    const used = this.#inUse();
    const free = allIndexes.filter((index) => !used.has(index));
    const again = own.find((index) => free.includes(index));
    if (again !== undefined) return again;
    const next = free.find((index) => !leaving.has(index));
    if (next !== free[0]) this.#passedOver = true;
    return next;
  }

  /** Whether an index was not given only because the status still names it: a newer status may not. */
  get passedOver(): boolean {
    return this.#passedOver;
  }

  take(index: number): void {
    this.#inUse().add(index);
  }

  #inUse(): Set<number> {
    this.#used ??= new Set(
      (this.#held?.spec.interfaces ?? []).flatMap((e) => indexOfEntry(e) ?? []),
    );
    return this.#used;
  }
}

const allIndexes = Array.from({ length: maxIndex + 1 }, (_, index) => index);

function isOf({ portId, macAddress }: InterfaceStatus, port: Port): boolean {
  if (portId) return portId === port.id;
  return macAddress?.toLowerCase() === port.macAddress.toLowerCase();
}

// The deployed controller reports the kernel's name, which may differ from the id: both are in use.
function indexesOf({ id, name }: InterfaceStatus): number[] {
  const named = name === undefined ? undefined : indexOfName(name);
  return [id, named].filter((index) => index !== undefined && index <= maxIndex) as number[];
}
