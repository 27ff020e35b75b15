import { createHash } from 'node:crypto';
import * as z from 'zod';
import { familyOf, hostPrefix } from '../../api/address.ts';
import type { DesiredNic } from '../planning/desired.ts';
import { type NicRoute, type NicRule, routeText } from '../planning/nic-state.ts';
import { type FixedConfig, rt } from '../snapshot.ts';

/** NetworkManager's highest priority: a foreign profile for any NIC must not be tried first. */
export const autoconnectPriority = 999;

/** Returns the profile's UUID, stable per NIC across runs, in RFC 9562 version 5 format. */
export function profileUuid({ mac, name }: Pick<DesiredNic, 'mac' | 'name'>, variant = ''): string {
  const digest = createHash('sha1').update(`multinic ${mac} ${name}${variant}`).digest();
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x50, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = digest.toString('hex', 0, 16);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Text consisting only of digits, as a number. */
export const digits = z
  .string()
  .regex(/^\d+$/)
  .transform((text) => Number(text));

/** A NIC's configuration for one IP version. */
type OneFamily = Pick<DesiredNic, 'addresses' | 'routes' | 'rules'>;

export function ofFamily(nic: DesiredNic, family: 4 | 6): OneFamily {
  const has = (text: string) => familyOf(text) === family;
  return {
    addresses: nic.addresses.filter(has),
    routes: nic.routes.filter(({ to }) => has(to)),
    rules: nic.rules.filter(({ from }) => has(from)),
  };
}

/** Returns the rule in `ip rule` syntax, used in both profile formats. */
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

const cidr = z.union([z.cidrv4(), z.cidrv6()]);
const ip = z.union([z.ipv4(), z.ipv6()]);

/** Returns the text as `ip/prefix`, an address without prefix as host; empty if the text is neither. */
export function cidrIn(text: string): string[] {
  const full = ip.safeParse(text).success ? `${text}/${hostPrefix(familyOf(text))}` : text;
  return cidr.safeParse(full).success ? [full] : [];
}

/** Returns the default route by a gateway; empty for an invalid address. */
export function gatewayRoute(via: string, table: number = rt.mainTable): FixedConfig['routes'] {
  if (!ip.safeParse(via).success) return [];
  return [{ to: familyOf(via) === 6 ? '::/0' : '0.0.0.0/0', via, table }];
}

/** Returns source and table of a rule in `ip rule` syntax, with keys in any order. */
export function ruleIn(text: string): FixedConfig['rules'] {
  const words = text.trim().split(/\s+/);
  const after = (...keys: string[]) => words[words.findIndex((word) => keys.includes(word)) + 1];
  const table = Number(after('table', 'lookup'));
  const [from] = cidrIn(after('from') ?? '');
  return from !== undefined && table > 0 ? [{ from, table }] : [];
}

interface RouteTexts {
  readonly to: string;
  readonly via: string | undefined;
  readonly table: string;
  readonly metric: string;
  readonly src: string | undefined;
}

/** Returns the route from a profile's texts. */
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

/** Ignores the scope: profiles do not contain it, and the next hop determines it. */
export function ipRouteText(route: NicRoute): string {
  return routeText({ ...route, scope: rt.scopeGlobal });
}

/** Returns values of gaplessly numbered keys, and removes them from `rest`. */
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
