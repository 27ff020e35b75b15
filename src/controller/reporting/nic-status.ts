import { rfc3339, shortMessage } from '../../api/condition.ts';
import type { InterfaceStatus } from '../../api/multinicnodeconfig.ts';
import { canonicalJson } from '../../api/spec-hash.ts';
import type { NicWord } from './nic-word.ts';

/** Which NIC a status is about, as it is wanted or was seen. */
export type NicIdentity = Pick<
  InterfaceStatus,
  'name' | 'interfaceIndex' | 'id' | 'portId' | 'macAddress' | 'address' | 'cidr' | 'mtu'
>;

export interface Stamp {
  readonly before: InterfaceStatus | undefined;
  readonly now: Date;
  /** When the agent looked at this NIC, if it has just reported. */
  readonly seenAt?: Date | undefined;
}

/** One entry of `interfaceStatuses`; its times move only when there is something new. */
export function nicStatus(nic: NicIdentity, word: NicWord, stamp: Stamp): InterfaceStatus {
  const { before, now, seenAt } = stamp;
  const said = defined({ ...nic, ...word, message: shortMessage(word.message) });
  const lastChecked = seenAt ? rfc3339(seenAt) : before?.lastChecked;
  const lastConfigured =
    word.status === 'Configured' && seenAt ? lastChecked : before?.lastConfigured;
  const lastUpdated = before && saysTheSame(before, said) ? before.lastUpdated : undefined;
  return {
    ...said,
    lastUpdated: lastUpdated ?? rfc3339(now),
    ...defined({ lastChecked, lastConfigured }),
  };
}

function saysTheSame(before: InterfaceStatus, said: InterfaceStatus): boolean {
  const { lastUpdated: _u, lastChecked: _c, lastConfigured: _f, ...rest } = before;
  return canonicalJson(rest) === canonicalJson(said);
}

/** Whether two MACs are one; undefined is none. */
export function sameMac(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && a.toLowerCase() === b?.toLowerCase();
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The fields that have a value. */
export function defined<T extends object>(fields: T): Defined<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<T>;
}
