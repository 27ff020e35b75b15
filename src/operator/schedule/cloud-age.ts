import type { Clock } from '../../time/clock.ts';

interface Cloud {
  /** OpenstackConfigs that look at it. */
  readonly members: Set<string>;
  /** When it was last read completely for one of them, or first tried. */
  since: number;
}

/** When each OpenStack was last read completely. */
export class CloudLooks {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #clouds = new Map<string, Cloud>();
  readonly #cloudOf = new Map<string, string>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** An OpenstackConfig begins a look at this cloud, and at no other from now on. */
  begin(member: string, name: string): void {
    if (this.#cloudOf.get(member) === name) return;
    this.leave(member);
    this.#cloudOf.set(member, name);
    const cloud = this.#clouds.get(name) ?? { members: new Set(), since: this.#now() };
    cloud.members.add(member);
    this.#clouds.set(name, cloud);
  }

  /** What the OpenstackConfig needs of its cloud was read, all of it. */
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

  /** Another process may have looked meanwhile. */
  clear(): void {
    this.#clouds.clear();
    this.#cloudOf.clear();
  }

  /** Seconds since then, longest first. */
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
