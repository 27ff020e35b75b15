import { createHash } from 'node:crypto';
import * as z from 'zod';
import { familyOf } from '../../api/address.ts';
import type { DesiredNic } from '../planning/desired.ts';
import { type NicRoute, type NicRule, routeText } from '../planning/nic-state.ts';
import { rt } from '../snapshot.ts';

/** The highest there is: a profile of somebody else for any NIC must not be tried on ours before this one. */
export const autoconnectPriority = 999;

/** Whose profile it is, in NetworkManager's eyes: the same for a NIC at every run. In the form of version 5, RFC 9562. */
export function profileUuid({ mac, name }: DesiredNic, variant = ''): string {
  const digest = createHash('sha1').update(`multinic ${mac} ${name}${variant}`).digest();
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x50, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = digest.toString('hex', 0, 16);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** A number in a text, and nothing else. */
export const digits = z
  .string()
  .regex(/^\d+$/)
  .transform((text) => Number(text));

/** What of a NIC is of one IP version. */
type OneFamily = Pick<DesiredNic, 'addresses' | 'routes' | 'rules'>;

export function ofFamily(nic: DesiredNic, family: 4 | 6): OneFamily {
  const has = (text: string) => familyOf(text) === family;
  return {
    addresses: nic.addresses.filter(has),
    routes: nic.routes.filter(({ to }) => has(to)),
    rules: nic.rules.filter(({ from }) => has(from)),
  };
}

/** A rule in the words of `ip rule`, which profiles of both kinds take. */
export function ipRuleText({ from, table, priority }: NicRule): string {
  return `priority ${priority} from ${from} table ${table}`;
}

export function readRule(words: string): NicRule {
  const [, priority, from, table] =
    /^priority (\d+) from ([\da-f.:]+\/\d+) table (\d+)$/.exec(words) ?? [];
  if (!priority || !from || !table) throw new Error(`not a rule: ${words}`);
  return {
    from,
    table: Number(table),
    priority: Number(priority),
    protocol: rt.protocolStatic,
  };
}

interface RouteTexts {
  readonly to: string;
  readonly via: string | undefined;
  readonly table: string;
  readonly metric: string;
  readonly src: string | undefined;
}

/** The route that a profile says. */
export function routeOf({ to, via, table, metric, src }: RouteTexts): NicRoute {
  return {
    to,
    ...(via ? { via } : {}),
    table: Number(table),
    metric: Number(metric),
    protocol: rt.protocolStatic,
    scope: rt.scopeGlobal,
    ...(src ? { src } : {}),
  };
}

/** The scope follows from the next hop; no profile says it. */
export function ipRouteText(route: NicRoute): string {
  return routeText({ ...route, scope: rt.scopeGlobal });
}

/** Values of keys that are numbered without a gap, which are then no longer among the rest. */
export function takeNumbered(
  rest: Map<string, string>,
  key: (at: number) => string,
  first = 1,
): string[] {
  const values: string[] = [];
  for (let at = first; rest.has(key(at)); at++) {
    values.push(rest.get(key(at)) ?? '');
    rest.delete(key(at));
  }
  return values;
}
