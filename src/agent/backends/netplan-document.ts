import * as z from 'zod';
import { familyOf } from '../../api/address.ts';
import { type DesiredNic, usesIPv6 } from '../planning/desired.ts';
import { type NicRoute, type NicRule, routeText, ruleText } from '../planning/nic-state.ts';
import { rt } from '../snapshot.ts';

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
    ...(usesIPv6(nic) ? section('link-local', [['ipv6']]) : ['      link-local: []']),
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

/**
 * netplan before 0.104 does not know `to: default`, and no route without `via` but with this scope, of IPv6 too: it then
 * refuses every file of the host, and the node has no network after its next boot. Routes of IPv6 have no scope: networkd
 * says that it ignores it.
 */
function routeLines({ to, via, src, scope, table, metric }: NicRoute): string[] {
  return [
    `to: "${to}"`,
    ...(via ? [`via: "${via}"`] : []),
    ...(scope === rt.scopeLink || !via ? ['scope: link'] : []),
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
  'link-local': z.union([z.tuple([]), z.tuple([z.literal('ipv6')])]),
  addresses: z.array(z.string()),
  routes: z.array(route).default([]),
  'routing-policy': z
    .array(z.strictObject({ from: z.string(), table: z.int(), priority: z.int() }))
    .default([]),
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
    linkLocal: entry['link-local'],
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
    linkLocal: usesIPv6(nic) ? ['ipv6'] : [],
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
    scope: scope && familyOf(to) === 4 ? rt.scopeLink : rt.scopeGlobal,
    ...(from ? { src: from } : {}),
  };
}

/**
 * Reads the block style that our own files are written in: mappings and lists by indentation, one scalar per line, no
 * anchors, no multi-line values. Throws on anything else, also on what two versions of YAML read in two ways. A full YAML
 * parser takes longer to read ten files back than the kernel takes to configure ten NICs; a property test holds that both
 * read the same.
 */
export function readBlockYaml(text: string): unknown {
  const lines = text.split('\n').filter((line) => line !== '');
  const reader = { lines, at: 0 };
  const value = readNode(reader, 0);
  if (reader.at < lines.length) throw new Error(`unexpected line: ${lines[reader.at]}`);
  return value;
}

interface Reader {
  readonly lines: string[];
  at: number;
}

function readNode(reader: Reader, indent: number): unknown {
  const isList = reader.lines[reader.at]?.startsWith('- ', indent);
  return isList ? readList(reader, indent) : readMapping(reader, indent);
}

function readList(reader: Reader, indent: number): unknown[] {
  const items: unknown[] = [];
  for (let line = lineAt(reader, indent); line?.startsWith('- '); line = lineAt(reader, indent)) {
    const item = line.slice(2);
    if (/^[\w-]+:/.test(item)) {
      // The first key of a mapping stands behind the dash, as if the dash were indentation.
      reader.lines[reader.at] = `${' '.repeat(indent + 2)}${item}`;
      items.push(readMapping(reader, indent + 2));
    } else {
      items.push(readScalar(item));
      reader.at += 1;
    }
  }
  return items;
}

function readMapping(reader: Reader, indent: number): Record<string, unknown> {
  const entries: [string, unknown][] = [];
  for (let line = lineAt(reader, indent); line !== undefined; line = lineAt(reader, indent)) {
    const [, key, value] = /^((?:00-)?[A-Za-z][\w-]{0,99}):(?: (.+))?$/.exec(line) ?? [];
    if (key === undefined) break;
    if (notText.test(key) || entries.some(([other]) => other === key)) {
      throw new Error(`not a key: ${key}`);
    }
    reader.at += 1;
    entries.push([
      key,
      value === undefined ? readNode(reader, deeper(reader, indent)) : readScalar(value),
    ]);
  }
  if (entries.length === 0)
    throw new Error(`not a mapping: ${reader.lines[reader.at] ?? 'the end'}`);
  return Object.fromEntries(entries);
}

/** The present line without its indentation, if it has just this one. */
function lineAt({ lines, at }: Reader, indent: number): string | undefined {
  const line = lines[at];
  return line !== undefined && indentOf(line) === indent ? line.slice(indent) : undefined;
}

function deeper({ lines, at }: Reader, indent: number): number {
  const found = indentOf(lines[at] ?? '');
  if (found <= indent) throw new Error(`nothing below: ${lines[at - 1]}`);
  return found;
}

/** Spaces alone: to YAML a tab is none, and anything else that looks like one is text. */
function indentOf(line: string): number {
  return line.search(/[^ ]|$/);
}

/** Words that YAML 1.1 or 1.2 takes for something else than text. */
const notText = /^(?:null|true|false|yes|no|on|off|y|n)$/i;

function readScalar(text: string): unknown {
  if (/^(?:-?\d+|true|false|\[\]|"[^"\\]*")$/.test(text)) return JSON.parse(text);
  if (/^[A-Za-z][\w.-]*$/.test(text) && !notText.test(text)) return text;
  throw new Error(`not a scalar: ${text}`);
}
