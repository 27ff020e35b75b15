import { hash } from 'node:crypto';
import type { StoredNode } from './node-configs.ts';

/** A port as observed in OpenStack. */
export interface ObservedPort {
  /** Neutron's status, upper case. */
  readonly status: string;
  readonly addresses: readonly string[];
  readonly createdAt: string | undefined;
}

export interface ObservedSubnet {
  readonly id: string;
  readonly name: string;
  readonly cidr: string;
  readonly networkId: string;
  /** '' = unknown. */
  readonly networkName: string;
}

/** OpenStack data from a sync, beside the node configs. Missing entries are unknown: stored values stay. */
export interface ObservedPorts {
  /** Key: port id in lower case. */
  readonly ports: ReadonlyMap<string, ObservedPort>;
  /** Key: subnet id. */
  readonly subnets: ReadonlyMap<string, ObservedSubnet>;
  /** Port ids (lower case) whose NIC the node reports as configured. */
  readonly configured: ReadonlySet<string>;
  /** sha256 (hex) over the OpenstackConfig's spec without passwords; '' = unknown. */
  readonly specHash: string;
}

export const nothingObserved: ObservedPorts = {
  ports: new Map(),
  subnets: new Map(),
  configured: new Set(),
  specHash: '',
};

/** Returns a hash over the node's observed port data. An equal hash means no change and saves a database read. */
export function observedHash(
  { interfaces }: Pick<StoredNode, 'interfaces'>,
  { ports, configured }: ObservedPorts,
): string {
  const facts = interfaces.map(({ portId = '' }) => {
    const id = portId.toLowerCase();
    const port = ports.get(id);
    if (port === undefined) return [id, configured.has(id)];
    return [id, configured.has(id), port.status, port.createdAt, ...port.addresses];
  });
  return hash('sha256', JSON.stringify(facts));
}

/** Returns the observed subnets with NICs in these nodes. */
export function subnetsOf(
  nodes: readonly Pick<StoredNode, 'interfaces'>[],
  { subnets }: ObservedPorts,
): ObservedSubnet[] {
  const ids = new Set<string>();
  for (const { interfaces } of nodes)
    for (const { subnetId } of interfaces) ids.add(subnetId ?? '');
  return [...ids].flatMap((id) => subnets.get(id) ?? []);
}

/**
 * Truncates text to the column length (characters) and replaces unstorable characters: names come from external
 * systems.
 */
export function columnText(text: string, length: number): string {
  // Network names may have megabytes (any user can set them); one character takes at most two UTF-16 units.
  const characters = Array.from(text.slice(0, 2 * length));
  const short = characters.slice(0, length).join('').toWellFormed();
  // SQLite ends a text at the first NUL.
  return short.replaceAll('\0', '\u{FFFD}');
}

/** Returns a time in column format: UTC, in the form both databases can calculate with. */
export function sqlTime(time: Date): string {
  return time.toISOString().replace('T', ' ').replace('Z', '');
}

/** Converts an external time to column format; undefined: not a time, or outside the column's range. */
export function sqlTimeOf(text: string | undefined): string | undefined {
  const time = new Date(text ?? Number.NaN);
  const year = time.getUTCFullYear();
  return year >= 1000 && year <= 9999 ? sqlTime(time) : undefined;
}

/** Returns a column time as RFC 3339. */
export function fromSqlTime(time: string): string {
  return `${time.replace(' ', 'T')}Z`;
}
