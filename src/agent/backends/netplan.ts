import { basename } from 'node:path';
import * as z from 'zod';
import { interfaceName } from '../../api/names.ts';
import type { Backend } from '../planning/backend.ts';
import { isPattern } from '../shell-pattern.ts';
import {
  type Claims,
  type ConfigFile,
  type HostFile,
  malformed,
  type OwnFile,
} from '../snapshot.ts';
import { readBlockYaml, renderDocument, validateDocument } from './netplan-document.ts';
import { maskFor, maskOwner, maskPath, validateMask } from './netplan-mask.ts';
import { anyDocument, isTrue, matchOf, membersOf, stanzasOf } from './netplan-stanzas.ts';

const directory = '/etc/netplan';
/** File names used by this agent and predecessors; the two numbers in an old name may differ. */
const ownName = /^\/etc\/netplan\/9\d*-multinic\d+\.yaml$/;

/** Exactly one ethernet, matched by MAC and named multinicN: the form in every agent generation. */
const ownDocument = z.object({
  network: z.strictObject({
    version: z.literal(2).optional(),
    renderer: z.string().optional(),
    ethernets: z.record(
      z.string(),
      z.object({
        match: z.strictObject({ macaddress: z.string() }),
        'set-name': z.string().regex(/^multinic\d$/),
        addresses: z.array(z.string()).default([]),
      }),
    ),
  }),
});

/** netplan on Debian and Ubuntu with the default renderer, systemd-networkd. */
export const netplan: Backend = {
  name: 'netplan',
  // A file in /run replaces a file in /etc with the same name (netplan-generate(8)).
  places: ['/run/netplan', directory, '/usr/lib/netplan'].map((each) => ({
    directory: each,
    suffix: '.yaml',
    hides: true,
  })),
  generated: { directory: '/run/systemd/network', suffix: '.network' },
  namingRules: '99-netplan-',
  read,
  held,
  path,
  render: (nic) => ({
    companions: nic.adopted ? [maskFor(nic, nic.adopted)] : [],
    // netplan warns about world-readable files.
    main: { path: path(nic.index), text: renderDocument(nic), mode: 0o600 },
  }),
  adoption: { path: maskPath, precedes: ({ path: other }, own) => basename(other) > own },
  validate(file, nic) {
    if (file.path === maskPath(nic.index)) validateMask(file.text, nic);
    else validateDocument(file.text, nic);
  },
};

function path(index: number): string {
  return `${directory}/9${index}-${interfaceName(index)}.yaml`;
}

async function read(file: HostFile): Promise<ConfigFile> {
  const masked = maskOwner(file);
  if (masked) return { ...file, own: masked, macs: [masked.mac] };
  const isOurs = ownName.test(file.path);
  const document = (isOurs && asWeWrite(file.text)) || (await anyYaml(file.text));
  const own = isOurs ? ownFile(document) : undefined;
  return { ...file, ...(own ? { own } : {}), ...claimsOf(document, file.text) };
}

/** Parses text in our own files' style, the most common case. */
function asWeWrite(text: string): unknown {
  try {
    return readBlockYaml(text);
  } catch {
    // Written by an older agent or a person: needs the full parser.
    return undefined;
  }
}

async function anyYaml(text: string): Promise<unknown> {
  const { yamlValue } = await import('./yaml-text.ts');
  return yamlValue(text);
}

function ownFile(document: unknown): OwnFile | undefined {
  const { data } = ownDocument.safeParse(document);
  const [entry, ...more] = Object.values(data?.network.ethernets ?? {});
  if (!entry || more.length > 0) return undefined;
  return {
    mac: entry.match.macaddress.toLowerCase(),
    index: Number(entry['set-name'].replace('multinic', '')),
    addresses: entry.addresses,
  };
}

/** networkd file matching a NIC by this MAC; with id `01-` under any name, otherwise under this name. */
const generatedName = /\/10-netplan-(?:0[01]-)?multinic(\d)\.network$/;

function held({ path: at, text }: HostFile): OwnFile | undefined {
  const [, index] = generatedName.exec(at) ?? [];
  const [, mac] = /^(?:Permanent)?MACAddress=([\da-f:]{17})$/im.exec(text) ?? [];
  if (index === undefined || mac === undefined) return undefined;
  const addresses = [...text.matchAll(/^Address=(\S+)$/gm)].map(([, address = '']) => address);
  return { mac: mac.toLowerCase(), index: Number(index), addresses };
}

/** Returns the NICs a document configures. An unreadable document may be about any NIC it mentions. */
function claimsOf(document: unknown, text: string): Claims {
  const { success, data } = anyDocument.safeParse(document);
  if (!success) return isEmpty(document) ? { macs: [] } : mentionedIn(text);
  const { ethernets, bonds, bridges, vlans, vrfs } = data.network;
  const nics = Object.entries(ethernets ?? {});
  const macs = nics.flatMap(([, nic]) => [nic?.match?.macaddress, nic?.macaddress]);
  const matched = nics.flatMap(([id, nic]) =>
    matchOf(id, nic).names.map((name) => ({ name, leased: isTrue(nic?.dhcp4) })),
  );
  const patterns = matched.filter(({ name }) => isPattern(name));
  const members = [bonds, bridges, vlans, vrfs].flatMap((kind) =>
    Object.values(kind ?? {}).flatMap(membersOf),
  );
  const ids = new Set(nics.map(([id]) => id));
  const lower = [...members, ...nics.flatMap(([, nic]) => nic?.link || [])];
  return {
    macs: macs.flatMap((mac) => (mac ? [mac.toLowerCase()] : [])),
    names: [
      ...matched.filter(({ name }) => !isPattern(name)).map(({ name }) => name),
      ...members.filter((name) => !ids.has(name)),
    ],
    leases: patterns.filter(({ leased }) => leased).map(({ name }) => name),
    patterns: patterns.filter(({ leased }) => !leased).map(({ name }) => name),
    ...(lower.length > 0 ? { members: lower } : {}),
    stanzas: stanzasOf(data.network, text),
  };
}

function isEmpty(document: unknown): boolean {
  return document === null || document === '' || JSON.stringify(document) === '{}';
}

function mentionedIn(text: string): Claims {
  return {
    macs: text.toLowerCase().match(/\b([0-9a-f]{2}:){5}[0-9a-f]{2}\b/g) ?? [],
    names: text.match(/[\w.@+-]+/g) ?? [],
    stanzas: [malformed],
  };
}
