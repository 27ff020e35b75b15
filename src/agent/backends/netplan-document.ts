import * as z from 'zod';
import { rt } from '../host.ts';
import type { DesiredNic } from '../planning/desired.ts';
import { type NicRoute, type NicRule, routeText, ruleText } from '../planning/nic-state.ts';
import { readBlockYaml } from './block-yaml.ts';

/**
 * Id of the NIC in netplan, which names the files of networkd and udev by it. The first of them that matches a NIC has it:
 * ours come before a catch-all such as `all-en`, whose `en*` matches a NIC of ours by an alternative name.
 */
function idOf({ name }: DesiredNic): string {
  return `00-${name}`;
}

/** The netplan document of one NIC. Addresses and MACs are quoted: YAML 1.1 reads some of them as numbers in base 60. */
export function renderDocument(nic: DesiredNic): string {
  const lines = [
    'network:',
    '  version: 2',
    '  ethernets:',
    `    ${idOf(nic)}:`,
    '      match:',
    `        macaddress: "${nic.mac}"`,
    `      set-name: ${nic.name}`,
    // Without it a boot waits two minutes for a NIC that has no carrier.
    '      optional: true',
    `      mtu: ${nic.mtu}`,
    '      dhcp4: false',
    '      dhcp6: false',
    '      accept-ra: false',
    '      link-local: []',
    ...section(
      'addresses',
      nic.addresses.map((address) => [`"${address}"`]),
    ),
    ...section('routes', nic.routes.map(routeLines)),
    ...section('routing-policy', nic.rules.map(ruleLines)),
  ];
  return `${lines.join('\n')}\n`;
}

function section(name: string, items: readonly string[][]): string[] {
  if (items.length === 0) return [];
  const lines = items.flatMap(([first = '', ...more]) => [
    `        - ${first}`,
    ...more.map((line) => `          ${line}`),
  ]);
  return [`      ${name}:`, ...lines];
}

/** netplan before 0.104 does not know `to: default` and then refuses every file of the host. */
function routeLines({ to, via, src, scope, table, metric }: NicRoute): string[] {
  return [
    `to: "${to}"`,
    ...(via ? [`via: "${via}"`] : []),
    ...(scope === rt.scopeLink ? ['scope: link'] : []),
    ...(src ? [`from: "${src}"`] : []),
    `table: ${table}`,
    ...(metric > 0 ? [`metric: ${metric}`] : []),
  ];
}

function ruleLines({ from, table, priority }: NicRule): string[] {
  return [`from: "${from}"`, `table: ${table}`, `priority: ${priority}`];
}

const route = z.strictObject({
  to: z.string(),
  via: z.string().optional(),
  scope: z.literal('link').optional(),
  from: z.string().optional(),
  table: z.int(),
  metric: z.int().default(0),
});

const ethernet = z.strictObject({
  match: z.strictObject({ macaddress: z.string() }),
  'set-name': z.string(),
  optional: z.literal(true),
  mtu: z.int(),
  dhcp4: z.literal(false),
  dhcp6: z.literal(false),
  'accept-ra': z.literal(false),
  'link-local': z.tuple([]),
  addresses: z.array(z.string()),
  routes: z.array(route).default([]),
  'routing-policy': z.array(
    z.strictObject({ from: z.string(), table: z.int(), priority: z.int() }),
  ),
});

const document = z.strictObject({
  network: z.strictObject({ version: z.literal(2), ethernets: z.record(z.string(), ethernet) }),
});

/** Throws when the document, read back, is not exactly the NIC it was rendered from. */
export function validateDocument(text: string, nic: DesiredNic): void {
  const { ethernets } = document.parse(readBlockYaml(text)).network;
  const found = Object.entries(ethernets).map(([id, entry]) => ({
    id,
    rename: entry['set-name'],
    mac: entry.match.macaddress,
    mtu: entry.mtu,
    addresses: entry.addresses,
    routes: entry.routes.map((item) => routeText(toRoute(item))),
    rules: entry['routing-policy'].map((rule) =>
      ruleText({ ...rule, protocol: rt.protocolStatic }),
    ),
  }));
  const wanted = {
    id: idOf(nic),
    rename: nic.name,
    mac: nic.mac,
    mtu: nic.mtu,
    addresses: nic.addresses,
    routes: nic.routes.map(routeText),
    rules: nic.rules.map(ruleText),
  };
  if (JSON.stringify(found) !== JSON.stringify([wanted])) {
    throw new Error(`the file of ${nic.name} does not say what was asked for`);
  }
}

function toRoute({ to, via, scope, from, table, metric }: z.infer<typeof route>): NicRoute {
  return {
    to,
    ...(via ? { via } : {}),
    table,
    metric,
    protocol: rt.protocolStatic,
    scope: scope ? rt.scopeLink : rt.scopeGlobal,
    ...(from ? { src: from } : {}),
  };
}
