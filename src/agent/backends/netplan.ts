import * as z from 'zod';
import { interfaceName } from '../../api/names.ts';
import type { ConfigFile, HostFile, OwnFile } from '../host.ts';
import type { Backend } from './backend.ts';
import { renderDocument, validateDocument } from './netplan-document.ts';

const directory = '/etc/netplan';
/** Names that this agent and its predecessors gave their files; the two numbers of an old one need not agree. */
const ownName = /^\/etc\/netplan\/9\d*-multinic\d+\.yaml$/;

/** Exactly one ethernet, matched by MAC and named multinicN: the shape of every generation of our files. */
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

/** Where any netplan document names a MAC. */
const anyDocument = z.object({
  network: z.looseObject({
    ethernets: z
      .record(
        z.string(),
        z.looseObject({
          match: z.looseObject({ macaddress: z.string().optional() }).nullish(),
          macaddress: z.string().nullish(),
        }),
      )
      .nullish(),
  }),
});

/** Debian's and Ubuntu's netplan with its default renderer, systemd-networkd. */
export const netplan: Backend = {
  name: 'netplan',
  directory,
  suffix: '.yaml',
  read,
  unusable,
  path,
  render: (nic) => ({ path: path(nic.index), text: renderDocument(nic) }),
  validate: ({ text }, nic) => validateDocument(text, nic),
};

function path(index: number): string {
  return `${directory}/9${index}-${interfaceName(index)}.yaml`;
}

async function read(file: HostFile): Promise<ConfigFile> {
  if (!/macaddress/i.test(file.text)) return { ...file, macs: [] };
  const { yamlValue } = await import('./yaml-text.ts');
  const document = yamlValue(file.text);
  const own = ownName.test(file.path) ? ownFile(document) : undefined;
  return { ...file, ...(own ? { own } : {}), macs: macsOf(document) };
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

function macsOf(document: unknown): string[] {
  const { data } = anyDocument.safeParse(document);
  return Object.values(data?.network.ethernets ?? {}).flatMap(({ match, macaddress }) =>
    [match?.macaddress, macaddress].flatMap((mac) => (mac ? [mac.toLowerCase()] : [])),
  );
}

/** netplan 0.106 drops the policy rules of a file without a word when NetworkManager renders it. */
function unusable(files: readonly HostFile[]): string | undefined {
  const other = files.find(({ text }) => /^\s*renderer:\s*["']?NetworkManager\b/m.test(text));
  return other && `${other.path} sets renderer NetworkManager; supported is netplan with networkd`;
}
