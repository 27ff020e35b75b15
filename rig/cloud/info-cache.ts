import type { Clock } from '../../src/time/clock.ts';
import type { Networks } from './networks.ts';
import type { Ports } from './ports.ts';

/** One address of a server in Nova's words. */
export interface RecordedAddress {
  readonly network: string;
  readonly version: 4 | 6;
  readonly address: string;
  readonly macAddress: string;
}

export interface InfoCacheOptions {
  readonly clock: Clock;
  readonly ports: Ports;
  readonly networks: Networks;
  /** How long an event of Neutron's is under way. */
  readonly workMs: number;
  readonly lifetime: AbortSignal;
}

/**
 * Nova's own record of its servers' addresses. It is what nova-compute saw when it attached, detached or was told by
 * Neutron, so it may be late; a NIC without an address is not in it.
 */
export class InfoCache {
  readonly #options: InfoCacheOptions;
  readonly #records = new Map<string, readonly RecordedAddress[]>();
  /** Servers that Neutron told of while events were held. */
  #held: Set<string> | undefined;

  constructor(options: InfoCacheOptions) {
    this.#options = options;
    options.ports.onChange((serverId) => this.#event(serverId));
  }

  of(serverId: string): readonly RecordedAddress[] {
    return this.#records.get(serverId) ?? [];
  }

  /** nova-compute looks for itself, as after an attach. */
  refresh(serverId: string): void {
    const { ports, networks } = this.#options;
    const record = ports.of(serverId).flatMap(({ networkId, macAddress, fixedIps }) =>
      fixedIps.map(({ subnetId, ipAddress }) => ({
        network: networks.network(networkId).name,
        version: networks.subnet(subnetId).pool.range.version,
        address: ipAddress,
        macAddress,
      })),
    );
    this.#records.set(serverId, record);
  }

  /** The record is lost, as a failed refresh loses it. */
  lose(serverId: string): void {
    this.#records.set(serverId, []);
  }

  /** Keeps Neutron's events from arriving until `release`. */
  hold(): void {
    this.#held ??= new Set();
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const serverId of held) this.refresh(serverId);
  }

  #event(serverId: string): void {
    const { clock, workMs, lifetime } = this.#options;
    // Of servers that nova-compute has not built yet it keeps nothing.
    if (!this.#records.has(serverId)) return;
    clock.sleep(workMs, lifetime).then(
      () => {
        if (this.#held === undefined) this.refresh(serverId);
        else this.#held.add(serverId);
      },
      () => undefined /* the cloud was closed first */,
    );
  }
}
