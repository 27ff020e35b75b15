import * as z from 'zod';
import { ipOf } from '../../api/address.ts';
import type { DesiredNic } from '../planning/desired.ts';
import { type NicRoute, ruleText } from '../planning/nic-state.ts';
import { interim } from './ifcfg-claims.ts';
import { nicHead } from './nic-head.ts';
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

type Variant = '' | typeof interim;

const priorities = { '': autoconnectPriority - 1, [interim]: autoconnectPriority } as const;

/**
 * Renders a NIC's profile. NetworkManager requires a device to match everything the profile names: the MAC decides, and
 * a `.link` file ensures the name. An adopted NIC matches under all names: at each boot
 * cloud-init may restore the former name, before NetworkManager starts. The metric equals the connected routes', so two
 * NICs in a subnet keep their order
 * across boots. Rules are inside the profile: NetworkManager ignores `rule-` files, and with such a file also the
 * routes.
 *
 * The placeholder variant is a separate profile with a higher priority.
 */
export function renderIfcfg(nic: DesiredNic, variant: Variant = ''): string {
  const { name, mac, mtu, table } = nic;
  const lines = [
    'TYPE=Ethernet',
    `NAME=${name}`,
    `UUID=${profileUuid(nic, variant)}`,
    ...(nic.adopted ? [] : [`DEVICE=${name}`]),
    `HWADDR=${mac}`,
    'MACADDR=preserve',
    `MTU=${mtu}`,
    'ONBOOT=yes',
    `AUTOCONNECT_PRIORITY=${priorities[variant]}`,
    'BOOTPROTO=none',
    'DEFROUTE=no',
    // Set for both families even if disabled: NetworkManager counts up from 100 for profiles without a metric,
    // including the node's own NIC.
    `IPV4_ROUTE_METRIC=${table}`,
    `IPV6_ROUTE_METRIC=${table}`,
    ...ipv4Lines(nic),
    ...ipv6Lines(nic),
  ];
  return `${lines.join('\n')}\n`;
}

function ipv4Lines(nic: DesiredNic): string[] {
  const { addresses, rules } = ofFamily(nic, 4);
  if (addresses.length === 0) return [];
  return [
    'ACD_TIMEOUT=0',
    ...addresses.flatMap((cidr, at) => [
      `IPADDR${at}=${ipOf(cidr)}`,
      `PREFIX${at}=${cidr.replace(/^.*\//, '')}`,
    ]),
    ...rules.map((rule, at) => `ROUTING_RULE_${at + 1}="${ipRuleText(rule)}"`),
  ];
}

function ipv6Lines(nic: DesiredNic): string[] {
  const { addresses, rules } = ofFamily(nic, 6);
  const [first, ...more] = addresses;
  if (first === undefined) return ['IPV6_DISABLED=yes'];
  return [
    'IPV6INIT=yes',
    'IPV6_AUTOCONF=no',
    'IPV6_DEFROUTE=no',
    'IPV6_ADDR_GEN_MODE=eui64',
    `IPV6ADDR=${first}`,
    ...(more.length > 0 ? [`IPV6ADDR_SECONDARIES="${more.join(' ')}"`] : []),
    ...rules.map((rule, at) => `ROUTING_RULE6_${at + 1}="${ipRuleText(rule)}"`),
  ];
}

/** Renders a family's routes in `ip route` syntax; undefined without routes. */
export function renderRoutes(nic: DesiredNic, family: 4 | 6): string | undefined {
  const { routes } = ofFamily(nic, family);
  if (routes.length === 0) return undefined;
  const lines = routes.map(
    ({ to, via, src, table, metric }) =>
      `${to}${via ? ` via ${via}` : ''} dev ${nic.name}${src ? ` src ${src}` : ''} table ${table} metric ${metric}`,
  );
  return `${[nicHead(nic.mac), ...lines].join('\n')}\n`;
}

/**
 * Strict schema: NetworkManager ignores an MTU, route, rule or key it does not understand, so unknown content must fail
 * here.
 */
const common = {
  TYPE: z.literal('Ethernet'),
  NAME: z.string(),
  UUID: z.string(),
  DEVICE: z.string().exactOptional(),
  HWADDR: z.string(),
  MACADDR: z.literal('preserve'),
  MTU: digits,
  ONBOOT: z.literal('yes'),
  AUTOCONNECT_PRIORITY: digits,
  BOOTPROTO: z.literal('none'),
  DEFROUTE: z.literal('no'),
  IPV4_ROUTE_METRIC: digits,
  IPV6_ROUTE_METRIC: digits,
};
const ipv4Keys = { ACD_TIMEOUT: z.literal('0') };
const ipv6Keys = {
  IPV6INIT: z.literal('yes'),
  IPV6_AUTOCONF: z.literal('no'),
  IPV6_DEFROUTE: z.literal('no'),
  IPV6_ADDR_GEN_MODE: z.literal('eui64'),
  IPV6ADDR: z.string(),
  IPV6ADDR_SECONDARIES: z.string().optional(),
};
const noIpv6Keys = { IPV6_DISABLED: z.literal('yes') };

/** Throws if the profile, read back, differs from the NIC, routes excepted. */
export function validateIfcfg(text: string, nic: DesiredNic, variant: Variant = ''): void {
  const rest = strictVariables(text);
  const ips = takeNumbered(rest, (at) => `IPADDR${at}`, 0);
  const prefixes = takeNumbered(rest, (at) => `PREFIX${at}`, 0);
  const rules = takeNumbered(rest, (at) => `ROUTING_RULE_${at}`);
  const rules6 = takeNumbered(rest, (at) => `ROUTING_RULE6_${at}`);
  const has = {
    4: ofFamily(nic, 4).addresses.length > 0,
    6: ofFamily(nic, 6).addresses.length > 0,
  };
  const parsed = z
    .strictObject({ ...common, ...(has[4] ? ipv4Keys : {}), ...(has[6] ? ipv6Keys : noIpv6Keys) })
    .parse(Object.fromEntries(rest));
  const { IPV6ADDR, IPV6ADDR_SECONDARIES } = parsed as Partial<
    z.infer<z.ZodObject<typeof ipv6Keys>>
  >;
  if (ips.length !== prefixes.length) throw new Error('an IPADDR line lacks its PREFIX line');
  const found = {
    names: [parsed.NAME, parsed.DEVICE],
    uuid: parsed.UUID,
    priority: parsed.AUTOCONNECT_PRIORITY,
    mac: parsed.HWADDR,
    mtu: parsed.MTU,
    metrics: [parsed.IPV4_ROUTE_METRIC, parsed.IPV6_ROUTE_METRIC],
    addresses: [
      ...ips.map((ip, at) => `${ip}/${prefixes[at]}`),
      ...(IPV6ADDR ? [IPV6ADDR] : []),
      ...(IPV6ADDR_SECONDARIES?.split(' ') ?? []),
    ],
    rules: [rules, rules6].map((family) => family.map((rule) => ruleText(readRule(rule)))),
  };
  const families = [ofFamily(nic, 4), ofFamily(nic, 6)];
  const wanted = {
    names: [nic.name, nic.adopted ? undefined : nic.name],
    uuid: profileUuid(nic, variant),
    priority: priorities[variant],
    mac: nic.mac,
    mtu: nic.mtu,
    metrics: families.map(() => nic.table),
    addresses: families.flatMap(({ addresses }) => addresses),
    rules: families.map((family) => family.rules.map(ruleText)),
  };
  if (JSON.stringify(found) === JSON.stringify(wanted)) return;
  throw new Error(`generated ifcfg file of ${nic.name} does not match the requested NIC`);
}

/** Parses `KEY=value`, quoted if it contains a space; refuses text a shell would interpret. */
function strictVariables(text: string): Map<string, string> {
  const variables = new Map<string, string>();
  for (const line of text.split('\n').slice(0, -1)) {
    const [, key, quoted, bare] = /^([A-Z]\w*)=(?:"([\w.:/ -]+)"|([\w.:/-]+))$/.exec(line) ?? [];
    const value = quoted ?? bare;
    if (key === undefined || value === undefined) throw new Error(`not a KEY=VALUE line: ${line}`);
    if (variables.has(key)) throw new Error(`${key} is set twice`);
    variables.set(key, value);
  }
  return variables;
}

/** Throws if a family's routes, read back, differ from the NIC's. */
export function validateRoutes(text: string, nic: DesiredNic, family: 4 | 6): void {
  const { addresses, routes } = ofFamily(nic, family);
  if (addresses.length === 0)
    throw new Error(`${nic.name} has no IPv${family} address for its routes`);
  const [head, ...lines] = text.split('\n');
  const found = [head, ...lines.slice(0, -1).map((line) => ipRouteText(readRoute(line, nic)))];
  const wanted = [nicHead(nic.mac), ...routes.map(ipRouteText)];
  if (lines.at(-1) === '' && JSON.stringify(found) === JSON.stringify(wanted)) return;
  throw new Error(
    `generated IPv${family} route file of ${nic.name} does not match the requested routes`,
  );
}

function readRoute(line: string, { name }: DesiredNic): NicRoute {
  const [, to, via, dev, src, table, metric] =
    /^([\da-f.:]+\/\d+)(?: via ([\da-f.:]+))? dev (\w+)(?: src ([\da-f.:]+))? table (\d+) metric (\d+)$/.exec(
      line,
    ) ?? [];
  if (!to || !table || !metric || dev !== name) throw new Error(`not a route: ${line}`);
  return routeOf({ to, via, table, metric, src });
}
