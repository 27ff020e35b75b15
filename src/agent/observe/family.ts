import { join } from 'node:path';
import { netplan } from '../backends/netplan.ts';
import { isDefault, isPrimary, nodeAddressOf } from '../own-link.ts';
import {
  type FamilyEvidence,
  type FamilyFinding,
  familyIn,
  type Ifcfg,
  type ManagedLink,
  type Presence,
} from '../planning/family.ts';
import type { KernelSnapshot, Link } from '../snapshot.ts';
import { type HostAccess, observeLinks } from './host.ts';
import { isThere, namesIn, readHostFiles } from './host-files.ts';
import { networkdLinks, networkManagerLinks, valueOf } from './managed-links.ts';

/** Links excluded from the evidence: managed and requested NICs. An entry may still name the node's own NIC. */
export interface Ours {
  readonly macs: ReadonlySet<string>;
  /** Node object addresses. */
  readonly protectedAddresses: readonly string[];
}

/** Returns the host's current network manager. */
export async function observeFamily(site: HostAccess, ours: Ours): Promise<FamilyFinding> {
  return familyIn(await readEvidence(site, ours));
}

/** Folder with a link `invocation:UNIT` per active unit. */
const units = '/run/systemd/units';

async function readEvidence(site: HostAccess, ours: Ours): Promise<FamilyEvidence> {
  const { hostRoot } = site;
  const linkFiles = {
    networkd: readHostFiles(hostRoot, { directory: networkdLinks, suffix: '' }),
    networkManager: readHostFiles(hostRoot, { directory: networkManagerLinks, suffix: '' }),
  };
  const anyLink = linkFiles.networkd.length + linkFiles.networkManager.length > 0;
  const host = anyLink ? await observeLinks(site, ours.macs) : undefined;
  const own = host ? nodeLinks(host, ours) : [];
  const primary = own.find((link) => host && isPrimary(link, { ...ours, host }));
  const managed = <T>(files: readonly LinkFile[], read: (link: Link, text: string) => T[]): T[] =>
    own.flatMap((link) => {
      const file = files.find(({ path }) => path.endsWith(`/${link.index}`));
      return file ? read(link, file.text) : [];
    });
  return {
    networkd: managed(linkFiles.networkd, managedByNetworkd),
    networkManager: isStopped(hostRoot, activeUnits.networkManager)
      ? []
      : managed(linkFiles.networkManager, managedByNetworkManager),
    leftAlone: primary && isLeftAlone(hostRoot, primary.index) ? primary.name : undefined,
    running: runningOn(hostRoot, linkFiles.networkd.length > 0),
    installed: {
      ...installedOn(hostRoot),
      netplan: netplanTraces.some((path) => isThere(hostRoot, path)),
    },
    renderer: rendererIn(hostRoot),
    networkdFiles: filesIn(hostRoot, ['/etc/systemd/network'], '.network').length > 0,
    ...profilesOn(hostRoot),
  };
}

type LinkFile = { readonly path: string; readonly text: string };

/**
 * Returns the links forming the node's own network: NICs, and links with a default route or a Node address. Container
 * runtime links are excluded, as network managers may also claim them.
 */
function nodeLinks(host: KernelSnapshot, { macs, protectedAddresses }: Ours): Link[] {
  const defaultLinks = new Set(host.routes.filter(isDefault).flatMap(({ links }) => links));
  const carries = (link: Link) =>
    defaultLinks.has(link.name) || nodeAddressOf(link, { host, protectedAddresses }) !== undefined;
  const isOwn = (link: Link) =>
    macs.has(link.mac)
      ? isPrimary(link, { host, protectedAddresses })
      : link.kind === undefined || carries(link);
  return host.links.filter((link) => link.name !== 'lo' && isOwn(link));
}

function managedByNetworkd({ name }: Link, text: string): FamilyEvidence['networkd'][number][] {
  const state = valueOf(text, 'ADMIN_STATE');
  const file = valueOf(text, 'NETWORK_FILE');
  const holds = state === 'configured' || state === 'configuring' || state === 'failed';
  return holds && file ? [{ link: name, file }] : [];
}

function managedByNetworkManager({ name, mac }: Link, text: string): ManagedLink[] {
  if (valueOf(text, 'managed') !== 'true') return [];
  const uuid = valueOf(text, 'connection-uuid');
  return [{ link: name, mac, ...(uuid ? { uuid } : {}) }];
}

/**
 * True if NetworkManager is configured not to manage the link: by `unmanaged-devices=` or `managed=` in its own files,
 * `NM_CONTROLLED=no` or udev. Such a link has no device file, or a file without `managed`. A link released only for
 * this boot has `managed=false`.
 */
export function isLeftAlone(hostRoot: string, index: number): boolean {
  if (!activeOn(hostRoot).has(`invocation:${activeUnits.networkManager}`)) return false;
  const files = readHostFiles(hostRoot, { directory: networkManagerLinks, suffix: '' });
  const file = files.find(({ path }) => path.endsWith(`/${index}`));
  return files.length > 0 && valueOf(file?.text ?? '', 'managed') === undefined;
}

const activeUnits = {
  networkd: 'systemd-networkd.service',
  networkManager: 'NetworkManager.service',
} as const;

/** Network managers without agent support. */
const otherUnits = [
  ['ifupdown', 'networking.service'],
  ['network-scripts', 'network.service'],
  ['wicked', 'wickedd.service'],
  ['ConnMan', 'connman.service'],
  ['dhcpcd', 'dhcpcd.service'],
] as const;

function activeOn(hostRoot: string): ReadonlySet<string> {
  return new Set(namesIn(join(hostRoot, units)));
}

/** True if active units are visible, but not this unit. */
function isStopped(hostRoot: string, unit: string): boolean {
  const active = activeOn(hostRoot);
  return active.size > 0 && !active.has(`invocation:${unit}`);
}

/** networkd deletes its link files when it stops; NetworkManager leaves its files. */
function runningOn(hostRoot: string, networkdHasLinks: boolean): Presence {
  const active = activeOn(hostRoot);
  const runs = (unit: string) => active.has(`invocation:${unit}`);
  return {
    networkd: networkdHasLinks || runs(activeUnits.networkd),
    networkManager: runs(activeUnits.networkManager),
    others: otherUnits.filter(([, unit]) => runs(unit)).map(([name]) => name),
  };
}

/** Paths proving a netplan installation; the agent's own mount may have created /etc/netplan. */
const netplanTraces = ['/usr/lib/netplan', '/usr/lib/systemd/system-generators/netplan'];

function installedOn(hostRoot: string): Presence {
  return {
    networkd: isThere(hostRoot, '/usr/lib/systemd/systemd-networkd'),
    networkManager: isThere(hostRoot, '/usr/lib/systemd/system/NetworkManager.service'),
    others: isThere(hostRoot, '/usr/lib/ifupdown') ? ['ifupdown'] : [],
  };
}

function rendererIn(hostRoot: string): string | undefined {
  const files = netplan.places.flatMap((place) => readHostFiles(hostRoot, place));
  const other = files.find(({ text }) =>
    /(?<![\w-])["']?renderer["']?\s*:\s*["']?NetworkManager\b/.test(text.replaceAll(/#.*$/gm, '')),
  );
  return other?.path;
}

const keyfileDirectories = ['etc', 'run', 'usr/lib'].map(
  (root) => `/${root}/NetworkManager/system-connections`,
);

/** Skips managed files, as they do not show who manages the node's own links. */
function filesIn(hostRoot: string, directories: readonly string[], suffix: string) {
  return directories
    .flatMap((directory) => readHostFiles(hostRoot, { directory, suffix }))
    .filter(({ path }) => !/multinic\d+(\.|$)/.test(path));
}

/** Returns NetworkManager profiles in both formats. */
function profilesOn(hostRoot: string): Pick<FamilyEvidence, 'keyfiles' | 'ifcfgs'> {
  // NetworkManager accepts some keyfiles with any name.
  const keyfiles = filesIn(hostRoot, keyfileDirectories, '');
  const ifcfgs = filesIn(hostRoot, ['/etc/sysconfig/network-scripts'], '').filter(({ path }) =>
    /\/ifcfg-(?!lo$)[^.~]+$/.test(path),
  );
  return {
    keyfiles: new Set(keyfiles.flatMap(({ text }) => valueOf(text, 'uuid') ?? [])),
    ifcfgs: ifcfgs.map(({ text }) => ifcfgIn(text)),
  };
}

function ifcfgIn(text: string): Ifcfg {
  const uuid = valueOf(text, 'UUID');
  const device = valueOf(text, 'DEVICE');
  const mac = valueOf(text, 'HWADDR')?.toLowerCase();
  return { ...(uuid ? { uuid } : {}), ...(device ? { device } : {}), ...(mac ? { mac } : {}) };
}
