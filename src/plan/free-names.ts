import type { InterfaceSpec, InterfaceStatus } from '../api/multinicnodeconfig.ts';
import { indexOfName, maxIndex } from '../api/names.ts';
import type { ExistingNodeConfig } from '../api/node-configs-http.ts';
import type { Port } from './observation.ts';
import type { RecordedNode } from './plan.ts';

type NamedNic = Pick<InterfaceSpec, 'id' | 'name' | 'portId' | 'macAddress'>;

interface FreeNamesOptions {
  readonly held: ExistingNodeConfig | undefined;
  readonly recorded: RecordedNode['interfaces'];
  /** The ports of the server. */
  readonly ports: readonly Port[];
}

/**
 * Hands out indexes for ports that the object does not name. A port that had one before gets it again: from the status,
 * from the inventory's record, from what the host itself knows, in this order. Any other gets one that neither the spec
 * nor the status nor the host names, as the node still has something of the NIC that had it, and that no port beside it
 * had before.
 */
export class FreeNames {
  readonly #held: ExistingNodeConfig | undefined;
  readonly #recorded: readonly NamedNic[];
  readonly #onHost: readonly NamedNic[];
  /** Named by the spec, or handed out here. */
  readonly #used: Set<number>;
  readonly #ports: readonly Port[];
  #passedOver = false;

  constructor({ held, recorded, ports }: FreeNamesOptions) {
    this.#held = held;
    this.#recorded = recorded;
    this.#onHost = held?.status?.knownInterfaces ?? [];
    this.#used = new Set((held?.spec.interfaces ?? []).flatMap((e) => indexOfEntry(e) ?? []));
    this.#ports = ports;
  }

  /** The index this port would get now; undefined when none is free. */
  next(port: Port): number | undefined {
    const statuses = this.#held?.status?.interfaceStatuses ?? [];
    const free = allIndexes.filter((index) => !this.#used.has(index));
    const own = [
      ...statuses.filter((status) => isOf(status, port)).flatMap(indexesOf),
      ...this.#earlier(port).flatMap((nic) => indexOfEntry(nic) ?? []),
    ];
    const again = own.find((index) => free.includes(index));
    if (again !== undefined) return again;
    const reserved = this.#reserved();
    const open = free.filter((index) => !reserved.has(index));
    const leaving = new Set([
      ...statuses.flatMap(indexesOf),
      ...this.#onHost.flatMap((nic) => indexOfEntry(nic) ?? []),
    ]);
    const next = open.find((index) => !leaving.has(index));
    if (next !== open[0]) this.#passedOver = true;
    return next;
  }

  /** Whether the port had a name before that the object does not know. */
  knows(port: Port): boolean {
    return this.#earlier(port).length > 0;
  }

  /** Whether an index was not given only because the status still names it: a newer status may not. */
  get passedOver(): boolean {
    return this.#passedOver;
  }

  take(index: number): void {
    this.#used.add(index);
  }

  #earlier(port: Port): readonly NamedNic[] {
    return [...this.#recorded, ...this.#onHost].filter((nic) => isOf(nic, port));
  }

  /** Indexes that were given before; without the object also those of ports that are not seen now. */
  #reserved(): ReadonlySet<number> {
    const known = this.#held
      ? this.#recorded.filter((nic) => this.#ports.some((port) => isOf(nic, port)))
      : this.#recorded;
    return new Set(known.flatMap((nic) => indexOfEntry(nic) ?? []));
  }
}

const allIndexes = Array.from({ length: maxIndex + 1 }, (_, index) => index);

function isOf({ portId, macAddress }: NamedNic | InterfaceStatus, port: Port): boolean {
  if (portId) return portId.toLowerCase() === port.id;
  return macAddress?.toLowerCase() === port.macAddress.toLowerCase();
}

// The deployed controller reports the kernel's name, which may differ from the id: both are in use.
function indexesOf({ id, name }: InterfaceStatus): number[] {
  const named = name === undefined ? undefined : indexOfName(name);
  return [id, named].filter((index) => index !== undefined && index <= maxIndex) as number[];
}

/** The index of an entry: the number in its name, else its id, else 0, as the deployed readers take it. */
export function indexOfEntry({ name, id = 0 }: InterfaceSpec): number | undefined {
  const index = name === undefined ? id : indexOfName(name);
  return index !== undefined && index <= maxIndex ? index : undefined;
}
