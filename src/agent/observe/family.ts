import { join } from 'node:path';
import { netplan } from '../backends/netplan.ts';
import {
  type FamilyEvidence,
  type FamilyFinding,
  familyIn,
  type Ifcfg,
  type ManagedLink,
  type Presence,
} from '../planning/family.ts';
import { isDefault, isPrimary, nodeAddressOf } from '../planning/refusals.ts';
import type { KernelSnapshot, Link } from '../snapshot.ts';
import { isThere, namesIn, observeLinks, readHostFiles, type Site } from './host.ts';

/** Whose links are no evidence: those that are ours, or are to be; an entry may name the node's own NIC all the same. */
export interface Ours {
  readonly macs: ReadonlySet<string>;
  /** Addresses of the Node object. */
  readonly protectedAddresses: readonly string[];
}

/** Which family a host is of, as it is now. */
export async function observeFamily(site: Site, ours: Ours): Promise<FamilyFinding> {
  return familyIn(await readEvidence(site, ours));
}

/** One file for each link that networkd knows, named by the link's index (sd-network reads them too). */
const networkdLinks = '/run/systemd/netif/links';
/** One file for each link that NetworkManager knows, named by the link's index. */
const networkManagerLinks = '/run/NetworkManager/devices';
/** One link named `invocation:UNIT` for each unit that is active. */
const units = '/run/systemd/units';

async function readEvidence(site: Site, ours: Ours): Promise<FamilyEvidence> {
  const { hostRoot } = site;
  const inHand = {
    networkd: readHostFiles(hostRoot, { directory: networkdLinks, suffix: '' }),
    networkManager: readHostFiles(hostRoot, { directory: networkManagerLinks, suffix: '' }),
  };
  const anyLink = inHand.networkd.length + inHand.networkManager.length > 0;
  const host = anyLink ? await observeLinks(site, ours.macs) : undefined;
  const own = host ? nodesOwn(host, ours) : [];
  const primary = own.find((link) => host && isPrimary(link, { ...ours, host }));
  const managed = <T>(files: readonly LinkFile[], read: (link: Link, text: string) => T[]): T[] =>
    own.flatMap((link) => {
      const file = files.find(({ path }) => path.endsWith(`/${link.index}`));
      return file ? read(link, file.text) : [];
    });
  return {
    networkd: managed(inHand.networkd, managedByNetworkd),
    networkManager: hasEnded(hostRoot, activeUnits.networkManager)
      ? []
      : managed(inHand.networkManager, managedByNetworkManager),
    leftAlone: primary && isLeftAlone(hostRoot, primary.index) ? primary.name : undefined,
    running: runningOn(hostRoot, inHand.networkd.length > 0),
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
 * The links that the node's own network is made of: its NICs, and whatever has a default route or an address of the Node.
 * Not those that container runtimes make, which managers hold for theirs too.
 */
function nodesOwn(host: KernelSnapshot, { macs, protectedAddresses }: Ours): Link[] {
  const ways = new Set(host.routes.filter(isDefault).flatMap(({ links }) => links));
  const carries = (link: Link) =>
    ways.has(link.name) || nodeAddressOf(link, { host, protectedAddresses }) !== undefined;
  const isOwn = (link: Link) =>
    macs.has(link.mac)
      ? isPrimary(link, { host, protectedAddresses })
      : link.kind === undefined || carries(link);
  return host.links.filter((link) => link.name !== 'lo' && isOwn(link));
}

/** Whether networkd is still setting up the link; not where nothing of it says so. */
export function isConfiguring(hostRoot: string, index: number): boolean {
  // Of those of a node's containers, hundreds perhaps, only a few are read.
  const files = readHostFiles(hostRoot, { directory: networkdLinks, suffix: String(index) });
  const file = files.find(({ path }) => path.endsWith(`/${index}`));
  const state = file && valueOf(file.text, 'ADMIN_STATE');
  return state === 'pending' || state === 'initialized' || state === 'configuring';
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
 * Whether NetworkManager is told not to manage the link: by `unmanaged-devices=` or `managed=` of its own files,
 * `NM_CONTROLLED=no` or udev. It then has no file for it beside those of others, or one that does not say; of a link that it
 * was told to let go for this boot it says that it does not manage it.
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

/** What other systems have that no files of ours are for. */
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

/** Whether it is among no units that run; nobody knows where none is seen. */
function hasEnded(hostRoot: string, unit: string): boolean {
  const active = activeOn(hostRoot);
  return active.size > 0 && !active.has(`invocation:${unit}`);
}

/** networkd takes the files of its links away when it ends; NetworkManager leaves its own. */
function runningOn(hostRoot: string, networkdHasLinks: boolean): Presence {
  const active = activeOn(hostRoot);
  const runs = (unit: string) => active.has(`invocation:${unit}`);
  return {
    networkd: networkdHasLinks || runs(activeUnits.networkd),
    networkManager: runs(activeUnits.networkManager),
    others: otherUnits.filter(([, unit]) => runs(unit)).map(([name]) => name),
  };
}

/** Where netplan, whose folder the agent's own mount may have made, leaves traces of being installed. */
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

/** Without those of ours, which say nothing of how the node's own links are made. */
function filesIn(hostRoot: string, directories: readonly string[], suffix: string) {
  return directories
    .flatMap((directory) => readHostFiles(hostRoot, { directory, suffix }))
    .filter(({ path }) => !/multinic\d+(\.|$)/.test(path));
}

/** Profiles of NetworkManager, of either kind. */
function profilesOn(hostRoot: string): Pick<FamilyEvidence, 'keyfiles' | 'ifcfgs'> {
  // NetworkManager takes some of any name.
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

/** Value of the first line `key=value`; a shell's quotes are no part of it. */
function valueOf(text: string, key: string): string | undefined {
  const [, value] = new RegExp(`^\\s*${key}=["']?(.*?)["']?\\s*$`, 'm').exec(text) ?? [];
  return value || undefined;
}
