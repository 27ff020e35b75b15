import * as z from 'zod';
import { type DesiredNic, usesIPv6 } from '../planning/desired.ts';
import { type NicRoute, type NicRule, routeText, ruleText } from '../planning/nic-state.ts';
import { rt } from '../snapshot.ts';
import { iniSections } from './ini-text.ts';
import { digits } from './profile.ts';

/**
 * Renders a NIC's `.network` file (systemd.network(5)). Matches the name besides the MAC, because VLANs and macvlans on
 * the NIC share the MAC. networkd's defaults are written out, as networkd.conf can change them for all links.
 */
export function renderNetwork(nic: DesiredNic): string {
  const sections = [
    ['[Match]', `MACAddress=${nic.mac}`, linkMatch(nic)],
    // Without `RequiredForOnline=no` a boot waits two minutes for a NIC without a carrier.
    ['[Link]', `MTUBytes=${nic.mtu}`, 'RequiredForOnline=no'],
    [
      '[Network]',
      'DHCP=no',
      'IPv6AcceptRA=no',
      `LinkLocalAddressing=${usesIPv6(nic) ? 'ipv6' : 'no'}`,
      ...nic.addresses.map((address) => `Address=${address}`),
    ],
    ...nic.routes.map(routeLines),
    ...nic.rules.map(ruleLines),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** At each boot cloud-init may give an adopted NIC its former name, after udev and before networkd. */
function linkMatch({ name, adopted }: DesiredNic): string {
  return adopted ? 'Type=ether' : `Name=${name}`;
}

function routeLines({ to, via, src, scope, table, metric }: NicRoute): string[] {
  return [
    '[Route]',
    `Destination=${to}`,
    ...(via ? [`Gateway=${via}`] : []),
    ...(scope === rt.scopeLink ? ['Scope=link'] : []),
    ...(src ? [`PreferredSource=${src}`] : []),
    `Table=${table}`,
    ...(metric > 0 ? [`Metric=${metric}`] : []),
  ];
}

function ruleLines({ from, table, priority }: NicRule): string[] {
  return ['[RoutingPolicyRule]', `From=${from}`, `Table=${table}`, `Priority=${priority}`];
}

const one = <T extends z.ZodType>(value: T) => z.tuple([value]).transform(([only]) => only);
const text = one(z.string());
const number = one(digits);

const match = z.strictObject({
  MACAddress: text,
  Name: text.optional(),
  Type: one(z.literal('ether')).optional(),
});
const link = z.strictObject({ MTUBytes: number, RequiredForOnline: one(z.literal('no')) });
const network = z.strictObject({
  DHCP: one(z.literal('no')),
  IPv6AcceptRA: one(z.literal('no')),
  LinkLocalAddressing: one(z.enum(['ipv6', 'no'])),
  Address: z.array(z.string()),
});
const route = z.strictObject({
  Destination: text,
  Gateway: text.optional(),
  Scope: one(z.literal('link')).optional(),
  PreferredSource: text.optional(),
  Table: number,
  Metric: number.optional(),
});
const rule = z.strictObject({ From: text, Table: number, Priority: number });

/** Throws if the file, read back, differs from the NIC. */
export function validateNetwork(file: string, nic: DesiredNic): void {
  const [first, second, third, ...rest] = iniSections(file);
  if (first?.name !== 'Match' || second?.name !== 'Link' || third?.name !== 'Network') {
    throw new Error('generated .network file does not start with Match, Link and Network');
  }
  const { MACAddress: mac, Name: name, Type: type } = match.parse(first.values);
  const { LinkLocalAddressing: linkLocal, Address: addresses } = network.parse(third.values);
  const found = {
    mac,
    match: type ? `Type=${type}` : `Name=${name}`,
    mtu: link.parse(second.values).MTUBytes,
    linkLocal,
    addresses,
    rest: rest.map(({ name: section, values }) => readSection(section, values)),
  };
  const wanted = {
    mac: nic.mac,
    match: linkMatch(nic),
    mtu: nic.mtu,
    linkLocal: usesIPv6(nic) ? 'ipv6' : 'no',
    addresses: nic.addresses,
    rest: [...nic.routes.map(routeText), ...nic.rules.map(ruleText)],
  };
  if (JSON.stringify(found) === JSON.stringify(wanted)) return;
  throw new Error(`generated .network file of ${nic.name} does not match the requested NIC`);
}

function readSection(name: string, values: unknown): string {
  if (name === 'Route') return routeText(toRoute(route.parse(values)));
  if (name !== 'RoutingPolicyRule') throw new Error(`unknown section: ${name}`);
  const { From: from, Table: table, Priority: priority } = rule.parse(values);
  return ruleText({ from, table, priority, protocol: rt.protocolStatic });
}

function toRoute(parsed: z.infer<typeof route>): NicRoute {
  const { Destination: to, Gateway: via, PreferredSource: src } = parsed;
  return {
    to,
    ...(via ? { via } : {}),
    table: parsed.Table,
    metric: parsed.Metric ?? 0,
    protocol: rt.protocolStatic,
    scope: parsed.Scope ? rt.scopeLink : rt.scopeGlobal,
    ...(src ? { src } : {}),
  };
}
