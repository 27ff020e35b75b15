import type { InterfaceSpec, InterfaceStatus } from '../api/multinicnodeconfig.ts';
import { indexOfName, maxIndex } from '../api/names.ts';
import type { ExistingNodeConfig } from '../api/node-configs-http.ts';
import { isPlugged, type Port } from './observation.ts';
import type { RecordedNode } from './plan.ts';

type NamedNic = Pick<InterfaceSpec, 'id' | 'name' | 'portId' | 'macAddress'>;

interface FreeNamesOptions {
  readonly existing: ExistingNodeConfig | undefined;
  readonly recorded: RecordedNode['interfaces'];
  /** The server's ports. */
  readonly ports: readonly Port[];
}

/**
 * Assigns indexes to ports missing from the object. A returning port gets its former index: from status, then
 * inventory record, then host state. A new port gets an index unused by spec, status and host, because the node may
 * still have leftovers under a used index. Former indexes stay reserved for their ports.
 */
export class FreeNames {
  readonly #existing: ExistingNodeConfig | undefined;
  readonly #recorded: readonly NamedNic[];
  readonly #onHost: readonly NamedNic[];
  /** Indexes in the spec, plus indexes assigned here. */
  readonly #used: Set<number>;
  readonly #ports: readonly Port[];
  #passedOver = false;

  constructor({ existing, recorded, ports }: FreeNamesOptions) {
    this.#existing = existing;
    this.#recorded = recorded;
    this.#onHost = existing?.status?.knownInterfaces ?? [];
    this.#used = new Set((existing?.spec.interfaces ?? []).flatMap((e) => indexOfEntry(e) ?? []));
    this.#ports = ports;
  }

  /** Returns the port's index; undefined when none is free. */
  next(port: Port): number | undefined {
    const statuses = this.#existing?.status?.interfaceStatuses ?? [];
    const free = allIndexes.filter((index) => !this.#used.has(index));
    const own = [
      ...statuses.filter((status) => this.#isOf(status, port)).flatMap(indexesOf),
      ...this.#earlier(port).flatMap((nic) => indexOfEntry(nic) ?? []),
    ];
    const again = own.find((index) => free.includes(index));
    if (again !== undefined) return again;
    const reserved = this.#reserved();
    const open = free.filter((index) => !reserved.has(index));
    const inUse = new Set([
      ...statuses.flatMap(indexesOf),
      ...this.#onHost.flatMap((nic) => indexOfEntry(nic) ?? []),
    ]);
    const nextFree = open.find((index) => !inUse.has(index));
    if (nextFree !== open[0]) this.#passedOver = true;
    return nextFree;
  }

  /** True if the inventory record or the host knows a former name for this port. */
  knows(port: Port): boolean {
    return this.#earlier(port).length > 0;
  }

  /** True if an index was skipped only because the status still contains it; a newer status may free the index. */
  get passedOver(): boolean {
    return this.#passedOver;
  }

  take(index: number): void {
    this.#used.add(index);
  }

  #earlier(port: Port): readonly NamedNic[] {
    return [...this.#recorded, ...this.#onHost].filter((nic) => this.#isOf(nic, port));
  }

  /** Returns the former indexes; without an object this includes indexes whose ports are currently missing. */
  #reserved(): ReadonlySet<number> {
    const known = this.#existing
      ? this.#recorded.filter((nic) => this.#ports.some((port) => this.#isOf(nic, port)))
      : this.#recorded;
    return new Set(known.flatMap((nic) => indexOfEntry(nic) ?? []));
  }

  /** True if the NIC was this port's, or that of a former port with this MAC: a port made again is the same NIC. */
  #isOf({ portId, macAddress }: NamedNic | InterfaceStatus, port: Port): boolean {
    const id = portId?.toLowerCase();
    if (id === port.id) return true;
    if (macAddress?.toLowerCase() !== port.macAddress.toLowerCase()) return false;
    return !id || (isPlugged(port) && !this.#ports.some((other) => other.id === id));
  }
}

const allIndexes = Array.from({ length: maxIndex + 1 }, (_, index) => index);

// The legacy controller reports the kernel's name, whose number may differ from the id: both count as used.
function indexesOf({ id, name }: InterfaceStatus): number[] {
  const named = name === undefined ? undefined : indexOfName(name);
  return [id, named].filter((index) => index !== undefined && index <= maxIndex) as number[];
}

/** Returns an entry's index as the deployed readers do: the number in its name, else its id, else 0. */
export function indexOfEntry({ name, id = 0 }: InterfaceSpec): number | undefined {
  const index = name === undefined ? id : indexOfName(name);
  return index !== undefined && index <= maxIndex ? index : undefined;
}
