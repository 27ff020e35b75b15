import * as z from 'zod';
import { familyOf } from '../../api/address.ts';
import { type DesiredNic, usesIPv6 } from '../planning/desired.ts';
import { type NicRoute, type NicRule, routeText, ruleText } from '../planning/nic-state.ts';
import { rt } from '../snapshot.ts';

/**
 * Id for the NIC in netplan, which uses it for networkd and udev file names. The first matching file wins: our id sorts
 * before a catch-all such as `all-en`, whose `en*` matches a managed NIC by alternative name.
 */
function idOf({ name }: DesiredNic): string {
  return `00-${name}`;
}

/** Renders a NIC's netplan document. Addresses and MACs are quoted: YAML 1.1 reads some as base-60 numbers. */
export function renderDocument(nic: DesiredNic): string {
  const lines = ['network:', '  version: 2', '  ethernets:', ...definitionOf(nic)];
  return `${lines.join('\n')}\n`;
}

/**
 * Returns the NIC's definition, as lines. Under ids other than ours the definition gives no name, and applies to the NIC
 * under any name.
 */
export function definitionOf(nic: DesiredNic, id: string = idOf(nic)): string[] {
  return [
    `    ${id}:`,
    '      match:',
    `        macaddress: "${nic.mac}"`,
    ...(id === idOf(nic) ? [`      set-name: ${nic.name}`] : []),
    // Without `optional` a boot waits two minutes for a NIC without a carrier.
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
 * netplan before 0.104 knows no `to: default`, and requires this scope for routes without `via`, also for IPv6.
 * Otherwise it refuses every file on the host, and the node has no network after the next boot. For IPv6 routes
 * networkd logs and ignores the scope.
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

/** Throws if the document, read back, differs from the NIC. */
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
    throw new Error(`generated netplan file of ${nic.name} does not match the requested NIC`);
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
 * Parses the block style in our own files: mappings and lists by indentation, one scalar per line, no anchors, no
 * multi-line values. Throws on anything more, including text YAML versions read differently. A full YAML parser takes
 * longer for ten files than the kernel takes to configure ten NICs. A property test compares both parsers.
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
      // The mapping's first key follows the dash, as if the dash were indentation.
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
    throw new Error(`not a mapping: ${reader.lines[reader.at] ?? 'end of file'}`);
  return Object.fromEntries(entries);
}

/** Returns the current line without indentation, if indented by exactly this much. */
function lineAt({ lines, at }: Reader, indent: number): string | undefined {
  const line = lines[at];
  return line !== undefined && indentOf(line) === indent ? line.slice(indent) : undefined;
}

function deeper({ lines, at }: Reader, indent: number): number {
  const found = indentOf(lines[at] ?? '');
  if (found <= indent) throw new Error(`no indented line below: ${lines[at - 1]}`);
  return found;
}

/** Counts spaces only: YAML treats a tab as no indentation, and other white space as text. */
function indentOf(line: string): number {
  return line.search(/[^ ]|$/);
}

/** Words YAML 1.1 or 1.2 does not read as text. */
const notText = /^(?:null|true|false|yes|no|on|off|y|n)$/i;

function readScalar(text: string): unknown {
  if (/^(?:-?\d+|true|false|\[\]|"[^"\\]*")$/.test(text)) return JSON.parse(text);
  if (/^[A-Za-z][\w.-]*$/.test(text) && !notText.test(text)) return text;
  throw new Error(`not a scalar: ${text}`);
}
