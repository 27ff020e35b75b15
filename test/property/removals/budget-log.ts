/** A removal that counts in the budget, by the entry in the stored record. */
export interface CountedRemoval {
  readonly uid: string;
  readonly mac: string;
  readonly node: string;
  /** uid of the OpenstackConfig. */
  readonly config: string;
  /** Time in the record, in milliseconds: the hour of a removal begins with its run. */
  readonly at: number;
}

/** A NIC on a host, or a NIC that left a host within the hour. */
export interface PresentNic {
  readonly node: string;
  readonly mac: string;
  readonly config: string;
}

interface Limit {
  readonly scope: string;
  readonly used: number;
  readonly total: number;
  readonly always: number;
}

const hourMs = 3_600_000;
const part = 0.2;

/**
 * Log of counted removals, and the budget computed from it.
 *
 * The limits hold at each time T at which a counted removal starts. R: counted removals with a record time in (T − 1 h, T].
 * P: NICs on all hosts at T, and NICs that left their hosts in that hour.
 *
 * - Nodes in R ≤ max(3, floor(20 % of the nodes in P)).
 * - NICs in R ≤ max(10, floor(20 % of P)).
 * - NICs in R of an OpenstackConfig ≤ max(10, floor(20 % of its NICs in P)).
 *
 * A NIC is a node with a MAC, and counts once however often it leaves. P contains removals with consent, which the
 * controller's total does not: the limit here is never below the controller's.
 */
export class BudgetLog {
  #counted: CountedRemoval[] = [];
  readonly #left: (PresentNic & { readonly at: number })[] = [];

  /** Stores NICs that left a host, on any basis. */
  left(nics: readonly PresentNic[], at: number): void {
    this.#left.push(...nics.map((nic) => ({ ...nic, at })));
  }

  /** Stores counted removals, and returns the limits that are exceeded at their times. `present`: NICs on all hosts. */
  add(removals: readonly CountedRemoval[], present: readonly PresentNic[]): readonly string[] {
    this.#counted.push(...removals);
    const times = new Set(removals.map(({ at }) => at));
    const earliest = Math.min(...times);
    for (const { at } of this.#counted) if (at > earliest) times.add(at);
    return [...times].flatMap((at) => this.#exceeded(at, present));
  }

  /** Drops removals whose records were destroyed: no controller can count them. */
  forget(isLost: (uid: string) => boolean): void {
    this.#counted = this.#counted.filter(({ uid }) => !isLost(uid));
  }

  #exceeded(at: number, present: readonly PresentNic[]): readonly string[] {
    const isInHour = (one: { readonly at: number }) => one.at > at - hourMs && one.at <= at;
    const counted = this.#counted.filter(isInHour);
    const all = [...present, ...this.#left.filter(({ at: time }) => time > at - hourMs)];
    return limitsOf(counted, all)
      .filter(({ used, total, always }) => used > Math.max(always, Math.floor(part * total)))
      .map(({ scope, used, total }) => {
        const which = counted.map(
          ({ node, mac, at: time }) => `${node} ${mac} ${new Date(time).toISOString()}`,
        );
        return `${used} of ${total} ${scope} lose NICs within an hour: ${which.join(', ')}`;
      });
  }
}

function limitsOf(counted: readonly CountedRemoval[], all: readonly PresentNic[]): Limit[] {
  const configs = [...new Set(counted.map(({ config }) => config))];
  return [
    { scope: 'nodes', used: nodesIn(counted), total: nodesIn(all), always: 3 },
    { scope: 'NICs', used: nicsIn(counted), total: nicsIn(all), always: 10 },
    ...configs.map((config) => {
      const isOwn = (one: PresentNic) => one.config === config;
      const [used, total] = [nicsIn(counted.filter(isOwn)), nicsIn(all.filter(isOwn))];
      return { scope: `NICs of ${config}`, used, total, always: 10 };
    }),
  ];
}

function nodesIn(list: readonly PresentNic[]): number {
  return new Set(list.map(({ node }) => node)).size;
}

function nicsIn(list: readonly PresentNic[]): number {
  return new Set(list.map(({ node, mac }) => `${node} ${mac}`)).size;
}
