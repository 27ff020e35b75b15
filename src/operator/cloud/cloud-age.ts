import type { Clock } from '../../time/clock.ts';

interface Cloud {
  /** OpenstackConfigs that read this cloud. */
  readonly members: Set<string>;
  /**
   * Monotonic ms when a config last read the cloud completely; before: when the first config started reading.
   */
  since: number;
}

/** Time since the last complete read per OpenStack. */
export class CloudAges {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #clouds = new Map<string, Cloud>();
  readonly #cloudOf = new Map<string, string>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Assigns the OpenstackConfig to this cloud, and removes the config from its previous cloud. */
  begin(member: string, name: string): void {
    if (this.#cloudOf.get(member) === name) return;
    this.leave(member);
    this.#cloudOf.set(member, name);
    const cloud = this.#clouds.get(name) ?? { members: new Set(), since: this.#now() };
    cloud.members.add(member);
    this.#clouds.set(name, cloud);
  }

  /** Records that the OpenstackConfig has read all necessary cloud data. */
  complete(member: string): void {
    const cloud = this.#clouds.get(this.#cloudOf.get(member) ?? '');
    if (cloud) cloud.since = this.#now();
  }

  leave(member: string): void {
    const name = this.#cloudOf.get(member) ?? '';
    this.#cloudOf.delete(member);
    const cloud = this.#clouds.get(name);
    cloud?.members.delete(member);
    if (cloud?.members.size === 0) this.#clouds.delete(name);
  }

  /** Starts a leadership term: another replica may have read the clouds meanwhile. */
  clear(): void {
    this.#clouds.clear();
    this.#cloudOf.clear();
  }

  /** Returns the seconds since the last complete read, longest first. */
  ages(): readonly { readonly cloud: string; readonly seconds: number }[] {
    const now = this.#now();
    const ages = [...this.#clouds].map(([cloud, { since }]) => ({
      cloud,
      seconds: (now - since) / 1000,
    }));
    return ages.toSorted((a, b) => b.seconds - a.seconds);
  }

  #now(): number {
    return this.#clock.monotonicMs();
  }
}
