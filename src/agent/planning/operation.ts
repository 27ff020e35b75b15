import { familyOf } from '../../api/address.ts';
import type { Neighbour, SettingKey } from '../snapshot.ts';
import type { NicAddress, NicRoute, NicRule } from './nic-state.ts';

/** Change from a NIC's current state to another state, as data. */
export interface Change {
  /** Written before any operation, so a NIC never accepts router advertisements while coming up. */
  readonly sysctls: readonly SysctlWrite[];
  /** Frees a name another managed NIC is about to take; runs before all NICs' operations. */
  readonly eviction?: Operation;
  readonly operations: readonly Operation[];
}

/** One kernel change, as data. `dev` is the link's name when the operation runs. */
export type Operation =
  | { readonly kind: 'link.rename'; readonly dev: string; readonly to: string }
  | { readonly kind: 'link.mac'; readonly dev: string; readonly mac: string }
  | { readonly kind: 'link.mtu'; readonly dev: string; readonly mtu: number }
  | { readonly kind: 'link.address-mode'; readonly dev: string; readonly mode: string }
  | { readonly kind: 'link.altname-delete'; readonly dev: string; readonly name: string }
  | { readonly kind: 'link.up' | 'link.down'; readonly dev: string }
  | {
      readonly kind: 'address.add' | 'address.delete';
      readonly dev: string;
      readonly address: NicAddress;
    }
  | { readonly kind: 'route.set' | 'route.delete'; readonly dev: string; readonly route: NicRoute }
  | { readonly kind: 'neighbour.set'; readonly dev: string; readonly neighbour: Neighbour }
  | { readonly kind: 'rule.add' | 'rule.delete'; readonly rule: NicRule };

/** Kernel setting without a netlink form; `dev` is the link's name before any operation. */
export interface SysctlWrite {
  readonly dev: string;
  readonly key: SettingKey;
  readonly value: string;
}

/** Prefix for IPv6 lines: in a batch without a family, `ip` handles rules as IPv4. */
export const sixPrefix = '-6 ';

/** Returns the operation as an `ip -batch` line. Adding an address and setting a route are idempotent. */
export function batchLine(operation: Operation): string {
  if ('rule' in operation) {
    const { kind, rule } = operation;
    const line = `rule ${kind === 'rule.add' ? 'add' : 'del'} ${ruleWords(rule)}`;
    return familyOf(rule.from) === 4 ? line : `${sixPrefix}${line}`;
  }
  if ('route' in operation) {
    const verb = operation.kind === 'route.set' ? 'replace' : 'del';
    return `route ${verb} ${routeWords(operation.dev, operation.route)}`;
  }
  if ('neighbour' in operation) {
    return `neigh replace ${neighbourWords(operation.neighbour)} dev ${operation.dev}`;
  }
  if ('address' in operation) {
    const { kind, dev, address } = operation;
    return kind === 'address.add'
      ? `addr replace ${addressWords(address)} dev ${dev}`
      : `addr del ${address.cidr} dev ${dev}`;
  }
  if ('name' in operation)
    return `link property del dev ${operation.dev} altname ${operation.name}`;
  return `link set dev ${operation.dev} ${linkWords(operation)}`;
}

type LinkSetting = Exclude<
  Extract<Operation, { kind: `link.${string}` }>,
  { kind: 'link.altname-delete' }
>;

function linkWords(operation: LinkSetting): string {
  if ('to' in operation) return `name ${operation.to}`;
  if ('mac' in operation) return `address ${operation.mac}`;
  if ('mtu' in operation) return `mtu ${operation.mtu}`;
  if ('mode' in operation) return `addrgenmode ${operation.mode}`;
  return operation.kind === 'link.up' ? 'up' : 'down';
}

function addressWords({ cidr, broadcast, noPrefixRoute }: NicAddress): string {
  return [
    cidr,
    ...(broadcast ? ['broadcast', broadcast] : []),
    ...(noPrefixRoute ? ['noprefixroute'] : []),
    // Skips duplicate detection for the link-local address derived from the NIC's own MAC.
    ...(cidr.startsWith('fe80:') ? ['nodad'] : []),
  ].join(' ');
}

function neighbourWords({ ip, mac, protocol, flags }: Neighbour): string {
  const owner = protocol === 0 ? [] : ['protocol', protocol];
  return [ip, 'lladdr', mac, 'nud', 'permanent', ...flags, ...owner].join(' ');
}

function routeWords(dev: string, { to, via, table, protocol, scope, src, metric }: NicRoute) {
  return [
    to,
    ...(via ? ['via', via] : []),
    'dev',
    dev,
    ...(src ? ['src', src] : []),
    'table',
    table,
    'proto',
    protocol,
    'scope',
    scope,
    ...(metric > 0 ? ['metric', metric] : []),
  ].join(' ');
}

function ruleWords({ from, table, priority, protocol }: NicRule): string {
  // Leaves out protocol 0: some `ip` versions match 0 literally and miss the rule.
  const owner = protocol === 0 ? '' : ` protocol ${protocol}`;
  return `from ${from} table ${table} priority ${priority}${owner}`;
}
