import * as z from 'zod';
import type { DesiredNic } from '../planning/desired.ts';
import { type NicRoute, ruleText } from '../planning/nic-state.ts';
import { strictIni } from './ini-text.ts';
import {
  autoconnectPriority,
  digits,
  ipRouteText,
  ipRuleText,
  ofFamily,
  profileUuid,
  readRule,
  routeOf,
  takeNumbered,
} from './profile.ts';

/**
 * Renders a NIC's profile. NetworkManager requires a device to match everything the profile names: the MAC decides, and
 * a `.link` file ensures the name. An adopted NIC matches under all names: at each boot cloud-init may restore the former
 * name, before NetworkManager starts. Defaults are written out, because an administrator's NetworkManager.conf can change
 * them for all profiles.
 */
export function renderProfile(nic: DesiredNic): string {
  const { name, mac, mtu, table } = nic;
  const lines = [
    '[connection]',
    `id=${name}`,
    `uuid=${profileUuid(nic)}`,
    'type=ethernet',
    ...(nic.adopted ? [] : [`interface-name=${name}`]),
    `autoconnect-priority=${autoconnectPriority}`,
    '',
    '[ethernet]',
    'cloned-mac-address=preserve',
    `mac-address=${mac}`,
    `mtu=${mtu}`,
    '',
    '[ipv4]',
    ...familyLines(ofFamily(nic, 4), table, ['dad-timeout=0']),
    '',
    '[ipv6]',
    ...familyLines(ofFamily(nic, 6), table, ['addr-gen-mode=eui64']),
  ];
  return `${lines.join('\n')}\n`;
}

/**
 * The metric equals the connected routes', so two NICs in a subnet keep their order across boots. A disabled family
 * also sets its metric: NetworkManager counts up from 100 for profiles without one, and would change the metric of the
 * node's own NIC if activated second.
 */
function familyLines(
  { addresses, routes, rules }: ReturnType<typeof ofFamily>,
  metric: number,
  more: readonly string[],
): string[] {
  const metricLine = `route-metric=${metric}`;
  if (addresses.length === 0) return ['method=disabled', metricLine];
  return [
    'method=manual',
    ...addresses.map((cidr, at) => `address${at + 1}=${cidr}`),
    ...more,
    'never-default=true',
    metricLine,
    ...routes.flatMap((route, at) => routeLines(route, at + 1)),
    ...rules.map((rule, at) => `routing-rule${at + 1}=${ipRuleText(rule)}`),
  ];
}

/** NetworkManager gives link scope to a route without a next hop, and reads an unspecified address as none. */
function routeLines({ to, via, metric, table, src }: NicRoute, at: number): string[] {
  const none = to.includes(':') ? '::' : '0.0.0.0';
  return [
    `route${at}=${to},${via ?? none},${metric}`,
    `route${at}_options=table=${table}${src ? `,src=${src}` : ''}`,
  ];
}

const addressing = z.discriminatedUnion('method', [
  z.strictObject({ method: z.literal('disabled'), 'route-metric': digits }),
  z.looseObject({ method: z.literal('manual') }),
]);

const profile = z.strictObject({
  connection: z.strictObject({
    id: z.string(),
    uuid: z.string(),
    type: z.literal('ethernet'),
    'interface-name': z.string().exactOptional(),
    'autoconnect-priority': z.literal(String(autoconnectPriority)),
  }),
  ethernet: z.strictObject({
    'cloned-mac-address': z.literal('preserve'),
    'mac-address': z.string(),
    mtu: digits,
  }),
  ipv4: addressing,
  ipv6: addressing,
});

const ownAddressing = {
  4: z.strictObject({ 'dad-timeout': z.literal('0') }),
  6: z.strictObject({ 'addr-gen-mode': z.literal('eui64') }),
};
const commonAddressing = { 'never-default': z.literal('true'), 'route-metric': digits };

/** Throws if the profile, read back, differs from the NIC. */
export function validateProfile(text: string, nic: DesiredNic): void {
  const { connection, ethernet, ipv4, ipv6 } = profile.parse(strictIni(text));
  const found = {
    id: connection.id,
    uuid: connection.uuid,
    name: connection['interface-name'],
    mac: ethernet['mac-address'],
    mtu: ethernet.mtu,
    families: [readAddressing(ipv4, 4), readAddressing(ipv6, 6)],
  };
  const wanted = {
    id: nic.name,
    uuid: profileUuid(nic),
    name: nic.adopted ? undefined : nic.name,
    mac: nic.mac,
    mtu: nic.mtu,
    families: ([4, 6] as const).map((family) => wantedAddressing(nic, family)),
  };
  if (JSON.stringify(found) === JSON.stringify(wanted)) return;
  throw new Error(`generated keyfile of ${nic.name} does not match the requested NIC`);
}

function wantedAddressing(nic: DesiredNic, family: 4 | 6) {
  const { addresses, routes, rules } = ofFamily(nic, family);
  return {
    metric: nic.table,
    addresses,
    routes: routes.map(ipRouteText),
    rules: rules.map(ruleText),
  };
}

function readAddressing(section: z.infer<typeof addressing>, family: 4 | 6) {
  const { method, ...keys } = section;
  if (method === 'disabled') {
    return { metric: keys['route-metric'], addresses: [], routes: [], rules: [] };
  }
  const rest = new Map(Object.entries(keys).map(([key, value]) => [key, String(value)]));
  const addresses = takeNumbered(rest, (at) => `address${at}`);
  const hops = takeNumbered(rest, (at) => `route${at}`);
  const options = takeNumbered(rest, (at) => `route${at}_options`);
  const rules = takeNumbered(rest, (at) => `routing-rule${at}`);
  if (hops.length !== options.length) throw new Error('a route lacks its routeN_options line');
  const own = ownAddressing[family].extend(commonAddressing).parse(Object.fromEntries(rest));
  return {
    metric: own['route-metric'],
    addresses,
    routes: hops.map((hop, at) => ipRouteText(readRoute(hop, options[at] ?? ''))),
    rules: rules.map((rule) => ruleText(readRule(rule))),
  };
}

function readRoute(hop: string, options: string): NicRoute {
  const [, to, next, metric] = /^([\da-f.:]+\/\d+),([\da-f.:]+),(\d+)$/.exec(hop) ?? [];
  const [, table, src] = /^table=(\d+)(?:,src=([\da-f.:]+))?$/.exec(options) ?? [];
  if (!to || !next || !metric || !table)
    throw new Error(`not a route: ${hop} with options ${options}`);
  const via = /^(::|0\.0\.0\.0)$/.test(next) ? undefined : next;
  return routeOf({ to, via, table, metric, src });
}
