import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { interfaceName } from '../../api/names.ts';
import { sysctlPlace, withSysctlFile } from '../backends/sysctl-file.ts';
import { identified, type KnownNics } from '../identity.ts';
import type { KernelDump } from '../ip/kernel.ts';
import type { Ip } from '../ip/session.ts';
import type { Backend, Place } from '../planning/backend.ts';
import {
  type ConfigFile,
  type HostFile,
  type KernelSnapshot,
  type Settings,
  type Snapshot,
  settingKeys,
} from '../snapshot.ts';
import { type AgentState, sha256 } from '../state.ts';
import { isThere, namesIn, readHostFiles } from './host-files.ts';
import { managedLinksOn } from './managed-links.ts';

/** Access to a host, whatever its network manager. */
export interface HostAccess {
  readonly hostRoot: string;
  readonly sysctls: string;
  readonly ip: Ip;
  /** True if IPv6 rules matter: reading them needs another process. */
  readonly ipv6: boolean;
  /** True if the host has udev, which reacts to renames. */
  readonly udev: boolean;
  /** True if kernel settings can be kept across a boot. */
  readonly keepsSettings: boolean;
  /** Identifies NICs; absent while the network manager is still unknown. */
  readonly known?: KnownNics;
}

/** Host whose network manager has a backend. */
export interface Host extends HostAccess {
  readonly backend: Backend;
}

/** Returns access to the host under this directory. */
export function siteAt(hostRoot: string, ip: Ip, ipv6 = false): HostAccess {
  const udev = isThere(hostRoot, '/usr/lib/systemd/systemd-udevd');
  const keepsSettings = isThere(hostRoot, sysctlPlace.directory);
  return { hostRoot, sysctls: sysctlDirectory(hostRoot), ip, ipv6, udev, keepsSettings };
}

/** Returns the host with its network manager's backend. */
export function hostOf(site: HostAccess, family: Backend): Host {
  return { ...site, backend: site.keepsSettings ? withSysctlFile(family) : family };
}

/** Reads the current kernel state. */
export async function observeLinks(
  host: HostAccess,
  macs: ReadonlySet<string>,
): Promise<KernelSnapshot> {
  const answer = await host.ip.run([], host.ipv6);
  if ('failedAt' in answer) throw new Error(`ip cannot show the kernel's state: ${answer.words}`);
  return withSettings(answer.seen, host, macs);
}

/** Adds settings missing in `ip` output, only for links with these MACs: a node may have hundreds of links. */
export function withSettings(
  kernel: KernelDump,
  { sysctls, known }: HostAccess,
  macs: ReadonlySet<string>,
): KernelSnapshot {
  const links = known ? identified(kernel, macs, known) : kernel.links;
  const names = links.filter(({ mac }) => macs.has(mac)).map(({ name }) => name);
  return {
    ...kernel,
    links,
    settings: new Map(names.map((name) => [name, readSettings(sysctls, name)])),
    defaultSettings: readSettings(sysctls, 'default'),
  };
}

/** Reads a complete snapshot. With `state`, files written by the agent need no parsing. */
export async function observeHost(
  host: Host,
  macs: ReadonlySet<string>,
  state: AgentState,
): Promise<Snapshot> {
  const { hostRoot, backend } = host;
  const there = readPlaces(hostRoot, backend.places);
  const [kernel, read] = await Promise.all([
    observeLinks(host, macs),
    Promise.all(there.map(async (file) => knownFile(file, state) ?? backend.read(file))),
  ]);
  const files = [...withoutCopies(read, state), ...dropInsToOurs(hostRoot, backend.places)];
  const generatedFiles = backend.generated ? readHostFiles(hostRoot, backend.generated) : [];
  const held = [
    ...generatedFiles.flatMap((file) => backend.held(file) ?? []),
    ...(state.left ?? []),
  ];
  const folders = new Set(backend.places.map(({ directory }) => directory));
  const missingFolders = [...folders].filter((folder) => !existsSync(join(hostRoot, folder)));
  const managedLinks = managedLinksOn(hostRoot, kernel.links, macs);
  return { ...kernel, files, missingFolders, held, managedLinks };
}

/** Returns all files in these places, in order. */
export function readPlaces(hostRoot: string, places: readonly Place[]): HostFile[] {
  const hidden = new Set<string>();
  const dropIns = dropInsIn(hostRoot, places);
  return places.flatMap((place) =>
    readHostFiles(hostRoot, place)
      .filter(({ path }) => {
        const name = basename(path);
        return !place.hides || (!hidden.has(name) && hidden.add(name));
      })
      .map((file) => withDropIns(file, dropIns.get(basename(file.path)))),
  );
}

/** Ignores drop-ins for an empty file, and for managed files. */
function withDropIns(file: HostFile, dropIns: readonly HostFile[] = []): HostFile {
  if (file.text === '' || dropIns.length === 0 || ourIndexIn(file.path) !== undefined) return file;
  const unread = dropIns.find((each) => each.unread !== undefined)?.unread;
  return { ...file, dropIns, ...(unread === undefined ? {} : { unread }) };
}

/**
 * Returns foreign drop-ins for managed file names: the file alone no longer describes the NIC, as a drop-in configures
 * the same NIC.
 */
export function dropInsToOurs(hostRoot: string, places: readonly Place[]): ConfigFile[] {
  return [...dropInsIn(hostRoot, places)].flatMap(([name, files]) => {
    const index = ourIndexIn(name);
    if (index === undefined) return [];
    const nonEmpty = files.filter(({ text, unread }) => unread !== undefined || text.trim() !== '');
    return nonEmpty.map((file) => ({ ...file, macs: [], names: [interfaceName(index)] }));
  });
}

function ourIndexIn(path: string): number | undefined {
  const [, index] = /multinic(\d)\.(?:network|link)$/.exec(path) ?? [];
  return index === undefined ? undefined : Number(index);
}

/** Returns drop-ins by the name of the extended file, sorted by name; for equal names the first place wins. */
function dropInsIn(hostRoot: string, places: readonly Place[]): Map<string, HostFile[]> {
  const found = new Map<string, HostFile[]>();
  for (const { directory, suffix } of places.filter((place) => place.dropIns)) {
    for (const folder of foldersIn(hostRoot, directory, `${suffix}.d`)) {
      const name = folder.slice(0, -'.d'.length);
      const there = found.get(name) ?? [];
      const names = new Set(there.map(({ path }) => basename(path)));
      const place = { directory: `${directory}/${folder}`, suffix: '.conf' };
      const more = readHostFiles(hostRoot, place).filter(({ path }) => !names.has(basename(path)));
      const all = [...there, ...more].map((file) => [basename(file.path), file] as const);
      const inOrder = all.toSorted(([a], [b]) => (a < b ? -1 : 1));
      found.set(
        name,
        inOrder.map(([, file]) => file),
      );
    }
  }
  return found;
}

function foldersIn(hostRoot: string, directory: string, suffix: string): string[] {
  const path = join(hostRoot, directory);
  const isFolder = (name: string) =>
    lstatSync(join(path, name), { throwIfNoEntry: false })?.isDirectory();
  return namesIn(path).filter((name) => name.endsWith(suffix) && isFolder(name));
}

/** Beside a NIC's recorded file, a renamed profile with the same uuid is a user's copy, and claims the NIC. */
function withoutCopies(files: readonly ConfigFile[], { nics }: AgentState): ConfigFile[] {
  // The first file has the addresses.
  const written = new Set(nics.map((nic) => nic.files[0]?.path));
  const recorded = new Set(
    files.flatMap(({ path, own }) => (own && written.has(path) ? [own.mac] : [])),
  );
  return files.map(({ own, ...file }) =>
    own && !(own.renamed && recorded.has(own.mac)) ? { ...file, own } : file,
  );
}

/** Returns the file with its record from state.json, if byte-identical to the agent's version. */
function knownFile(file: HostFile, { nics }: AgentState): ConfigFile | undefined {
  const nic = nics.find(({ files }) => files.some(({ path }) => path === file.path));
  const written = nic?.files.find(({ path }) => path === file.path);
  if (!nic || written?.sha256 !== sha256(file.text)) return undefined;
  const { mac, index, addresses } = nic;
  return { ...file, own: { mac, index, addresses }, macs: [mac] };
}

// Synchronous throughout: the kernel answers at once, and a thread pool round trip costs more.

/**
 * Returns the directory for `net.*` settings. A container sees its own `/proc/sys` read-only, so the host's
 * `/proc/sys/net` is mounted under the host root. Both show the reading process's network namespace.
 */
function sysctlDirectory(hostRoot: string): string {
  const mounted = join(hostRoot, 'proc/sys/net');
  return existsSync(mounted) ? mounted : '/proc/sys/net';
}

/** Returns the path for a setting such as `ipv6.conf.ens5.accept_ra`; the link name may contain dots. */
export function sysctlPath(directory: string, link: string, key: `${'ipv4' | 'ipv6'}.${string}`) {
  const [family = '', name = ''] = key.split('.');
  return join(directory, family, 'conf', link, name);
}

/** Returns existing settings: a missing link has none, and a kernel without IPv6 has no IPv6 settings. */
export function readSettings(directory: string, link: string): Settings {
  const values = settingKeys.map((key) => [key, readSetting(directory, link, key)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** Returns a setting; undefined if missing. */
export function readSetting(...setting: Parameters<typeof sysctlPath>): string | undefined {
  try {
    return readFileSync(sysctlPath(...setting), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
