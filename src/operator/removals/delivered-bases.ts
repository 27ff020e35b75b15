import type { RemovalBasis } from '../../api/removals.ts';
import type { RemovalBases } from '../../store/removal-bases.ts';
import type { TermMemory } from '../model/memory/config-memory.ts';
import { Slot } from '../model/memory/slot.ts';

/** Delivered removals of a node's NICs. */
export interface DeliveredRemovals {
  readonly nodeName: string;
  readonly nics: readonly { readonly macAddress: string; readonly basis: RemovalBasis }[];
}

/**
 * Bases of delivered removals until the inventory logs the removals. A partial sync logs nothing, and a deleted node
 * stays recorded until it is clean. After a restart these bases are unknown.
 */
export class DeliveredBases {
  /** Keys: business cluster, node name, MAC address. */
  readonly #bases = new Map<string, Map<string, Map<string, RemovalBasis>>>();

  of(providerId: string): RemovalBases {
    return this.#bases.get(providerId) ?? new Map();
  }

  /** Adds removals; a later basis replaces an earlier basis of the same NIC. */
  note(providerId: string, removals: readonly DeliveredRemovals[]): void {
    const nodes = this.#bases.get(providerId) ?? new Map<string, Map<string, RemovalBasis>>();
    for (const { nodeName, nics } of removals) {
      const bases = nodes.get(nodeName) ?? new Map<string, RemovalBasis>();
      for (const { macAddress, basis } of nics) bases.set(macAddress.toLowerCase(), basis);
      if (bases.size > 0) nodes.set(nodeName, bases);
    }
    if (nodes.size > 0) this.#bases.set(providerId, nodes);
  }

  /** Drops the bases after a record, except for nodes with unfinished removals. */
  settle(providerId: string, unfinished: readonly string[] = []): void {
    const pending = new Set(unfinished);
    const nodes = this.#bases.get(providerId);
    for (const name of nodes?.keys() ?? []) if (!pending.has(name)) nodes?.delete(name);
    if (nodes?.size === 0) this.#bases.delete(providerId);
  }
}

/** Bases for the change log. */
export const deliveredBases = new Slot<TermMemory, DeliveredBases>(() => new DeliveredBases());
