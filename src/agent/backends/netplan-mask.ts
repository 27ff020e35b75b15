import { interfaceName } from '../../api/names.ts';
import type { RenderedFile } from '../planning/backend.ts';
import type { DesiredNic } from '../planning/desired.ts';
import type { HostFile, OwnFile } from '../snapshot.ts';
import { definitionOf } from './netplan-document.ts';
import { macInHead, nicHead } from './nic-head.ts';

/**
 * Masks foreign definitions of an adopted NIC. netplan merges definitions with equal ids over all files: new addresses
 * would join the foreign addresses, but a new `match` replaces the foreign match. With this match the definition is
 * about no link, and the foreign file stays unchanged.
 */
const noLink = '02:00:00:00:ff:ff';

/** Returns the path of the mask, after the NIC's own file and before the next NIC's. */
export function maskPath(index: number): string {
  return `/etc/netplan/9${index}-${interfaceName(index)}-foreign.yaml`;
}

/**
 * Renders the mask for these ids. At each boot cloud-init may give the NIC its former name, after udev and before networkd:
 * the last definition applies under any name.
 */
export function maskFor(nic: DesiredNic, ids: readonly string[]): RenderedFile {
  const { index, mac, name } = nic;
  const masked = [...new Set(ids)].toSorted().flatMap((id) => [
    `    ${JSON.stringify(id)}:`,
    '      match:',
    `        macaddress: "${noLink}"`,
    // A boot must not wait for a missing link.
    '      optional: true',
  ]);
  const lines = [...masked, ...definitionOf(nic, `01-${name}`)];
  const text = [nicHead(mac), 'network:', '  version: 2', '  ethernets:', ...lines, ''].join('\n');
  return { path: maskPath(index), text, mode: 0o600 };
}

/** Throws if the mask differs from the rendered text. */
export function validateMask(text: string, nic: DesiredNic): void {
  if (text === maskFor(nic, nic.adopted ?? []).text) return;
  throw new Error(`generated mask of ${nic.name} does not cover the adopted definitions`);
}

const ownPath = /^\/etc\/netplan\/9(\d)-multinic\1-foreign\.yaml$/;

/** Returns the NIC of a mask; undefined for any other file. */
export function maskOwner({ path, text }: HostFile): OwnFile | undefined {
  const [, index] = ownPath.exec(path) ?? [];
  const mac = macInHead(text);
  if (index === undefined || mac === undefined) return undefined;
  return { mac, index: Number(index), addresses: [] };
}
