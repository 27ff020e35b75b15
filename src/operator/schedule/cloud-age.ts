import type { Clock } from '../../time/clock.ts';

interface Cloud {
  /** OpenstackConfigs that read it. */
  readonly members: Set<string>;
  /** When it was last read completely for one of them, or first tried. */
  since: number;
}

/** When each OpenStack was last read completely. */
export class CloudAges {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #clouds = new Map<string, Cloud>();
  readonly #cloudOf = new Map<string, string>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Notes that an OpenstackConfig reads this cloud, and no other from now on. */
  begin(member: string, name: string): void {
    if (this.#cloudOf.get(member) === name) return;
    this.leave(member);
    this.#cloudOf.set(member, name);
    const cloud = this.#clouds.get(name) ?? { members: new Set(), since: this.#now() };
    cloud.members.add(member);
    this.#clouds.set(name, cloud);
  }

  /** Notes that the OpenstackConfig read everything that it needs of its cloud. */
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

  /** Starts a term of leadership: another replica may have read the clouds in between. */
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
