import { findCondition } from '../../../src/api/condition.ts';
import type { MultiNicNodeConfig } from '../../../src/api/multinicnodeconfig.ts';
import type { OpenstackConfig } from '../../../src/api/openstackconfig.ts';
import { nodeConfigObjectOf, openstackConfigOf } from '../waits.ts';
import type { Worker, World } from '../world.ts';

/** A NIC that is configured on a host: its MAC and its addresses, as the kernel has them. */
type HostNics = ReadonlyMap<string, readonly string[]>;

const pauseMs = 250;
/** `NICsReady` follows the objects at the next sync: only what lasts for so many observations is false. */
const staleObservations = 40;

/**
 * Asks hosts and objects all the time, and notes each NIC that left a host although neither evidence nor consent was given,
 * and each status that is better than what is on the host.
 */
export class Observer {
  readonly flaws: string[] = [];
  readonly #world: World;
  readonly #permitted = new Set<string>();
  readonly #before = new Map<string, HostNics>();
  /** By worker: how many observations in a row its OpenstackConfig was better than its host. */
  readonly #suspects = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  /** These NICs, by MAC, may leave their host from now on. */
  permit(...macs: readonly string[]): void {
    for (const mac of macs) this.#permitted.add(mac);
  }

  /** Everything has come to rest: what may leave has left. */
  settled(): void {
    this.#permitted.clear();
  }

  /** Observes until it is told to stop. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const worker of this.#world.workers) await this.#observe(worker);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  async #observe(worker: Worker): Promise<void> {
    const object = nodeConfigObjectOf(this.#world, worker);
    const config = openstackConfigOf(this.#world, worker);
    const nics = await hostNicsOf(worker);
    this.#noteLosses(worker, nics);
    const again = nodeConfigObjectOf(this.#world, worker);
    if (!object || object.metadata.resourceVersion !== again?.metadata.resourceVersion) return;
    const missing = this.#missing(object, nics);
    const what = `${missing.join(', ')} of ${worker.name}`;
    if (missing.length > 0 && isTrue(object, 'Ready')) {
      this.#note(`MultiNicNodeConfig is Ready without ${what}`);
    }
    const isSuspect = missing.length > 0 && config !== undefined && isTrue(config, 'NICsReady');
    const isFalse = this.#lasts(worker, isSuspect);
    if (isFalse) this.#note(`OpenstackConfig is NICsReady without ${what}`);
  }

  #lasts({ name }: Worker, isSuspect: boolean): boolean {
    const times = isSuspect ? 1 + (this.#suspects.get(name) ?? 0) : 0;
    this.#suspects.set(name, times);
    return times === staleObservations;
  }

  #noteLosses(worker: Worker, now: HostNics): void {
    for (const mac of this.#before.get(worker.name)?.keys() ?? []) {
      if (now.has(mac) || this.#permitted.has(mac)) continue;
      this.#note(`${mac} left ${worker.name} without evidence or consent`);
    }
    this.#before.set(worker.name, now);
  }

  /** NICs of the object that are not on the host, those apart that may leave it. */
  #missing({ spec }: MultiNicNodeConfig, nics: HostNics): string[] {
    return (spec.interfaces ?? [])
      .filter(({ macAddress }) => !this.#permitted.has(macAddress))
      .filter(({ macAddress, address = '' }) => !nics.get(macAddress)?.includes(address))
      .map(({ macAddress }) => macAddress);
  }

  #note(flaw: string): void {
    if (!this.flaws.includes(flaw)) this.flaws.push(flaw);
  }
}

function isTrue({ metadata, status }: MultiNicNodeConfig | OpenstackConfig, type: string): boolean {
  const { deletionTimestamp, generation } = metadata;
  return (
    deletionTimestamp === undefined &&
    status?.observedGeneration === generation &&
    findCondition(status?.conditions, type)?.status === 'True'
  );
}

/** NICs that have the name of a managed one and an address. */
export async function hostNicsOf({ host }: Worker): Promise<HostNics> {
  const links = (await host.ipJson('addr', 'show')) as {
    readonly ifname: string;
    readonly address?: string;
    readonly addr_info?: readonly { readonly local?: string; readonly scope?: string }[];
  }[];
  return new Map(
    links
      .filter(({ ifname }) => ifname.startsWith('multinic'))
      .map(({ address = '', addr_info: addresses = [] }): [string, readonly string[]] => [
        address,
        addresses.flatMap(({ local, scope }) => (local && scope === 'global' ? [local] : [])),
      ])
      .filter(([, addresses]) => addresses.length > 0),
  );
}
