import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { interfaceName } from '../../api/names.ts';
import type { Backend, Place } from '../backends/backend.ts';
import { sysctlPlace, withSysctlFile } from '../backends/sysctl-file.ts';
import type { Ip } from '../ip-session.ts';
import {
  type ConfigFile,
  type HostFile,
  type KernelSnapshot,
  type Settings,
  type Snapshot,
  settingKeys,
} from '../snapshot.ts';
import { type AgentState, sha256 } from '../state.ts';
import type { KernelDump } from './kernel.ts';

/** A host as this process gets at it, of whatever family. */
export interface Site {
  readonly hostRoot: string;
  readonly sysctls: string;
  readonly ip: Ip;
  /** Whether rules of IPv6 are of interest: to see them takes a process more. */
  readonly ipv6: boolean;
  /** Whether the host has udev, which reacts to a rename. */
  readonly udev: boolean;
  /** Whether kernel settings can be kept over a boot. */
  readonly keepsSettings: boolean;
}

/** A host whose family has files of this backend. */
export interface Host extends Site {
  readonly backend: Backend;
}

/** How this process sees the host under this directory. */
export function siteAt(hostRoot: string, ip: Ip, ipv6 = false): Site {
  const udev = isThere(hostRoot, '/usr/lib/systemd/systemd-udevd');
  const keepsSettings = isThere(hostRoot, sysctlPlace.directory);
  return { hostRoot, sysctls: sysctlDirectory(hostRoot), ip, ipv6, udev, keepsSettings };
}

/** The host, once its family is known. */
export function hostOf(site: Site, family: Backend): Host {
  return { ...site, backend: site.keepsSettings ? withSysctlFile(family) : family };
}

/** State of the kernel as it is now. */
export async function observeLinks(host: Site, macs: ReadonlySet<string>): Promise<KernelSnapshot> {
  const answer = await host.ip.run([], host.ipv6);
  if ('failedAt' in answer) throw new Error(`ip cannot show the kernel's state: ${answer.words}`);
  return withSettings(answer.seen, host, macs);
}

/** Adds the settings that `ip` does not show, of the links with these MACs alone: a node may have hundreds. */
export function withSettings(
  kernel: KernelDump,
  { sysctls }: Site,
  macs: ReadonlySet<string>,
): KernelSnapshot {
  const names = kernel.links.filter(({ mac }) => macs.has(mac)).map(({ name }) => name);
  return {
    ...kernel,
    settings: new Map(names.map((name) => [name, readSettings(sysctls, name)])),
    defaultSettings: readSettings(sysctls, 'default'),
  };
}

/** Everything the agent looks at. `state` spares reading the files that the agent wrote itself. */
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
  const files = [...read, ...dropInsToOurs(hostRoot, backend.places)];
  const made = backend.generated ? readHostFiles(hostRoot, backend.generated) : [];
  const held = [...made.flatMap((file) => backend.held(file) ?? []), ...(state.left ?? [])];
  const folders = new Set(backend.places.map(({ directory }) => directory));
  const missingFolders = [...folders].filter((folder) => !existsSync(join(hostRoot, folder)));
  return { ...kernel, files, missingFolders, held };
}

/** What there is to read in these places, in their order. */
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

/** A file that says nothing is passed by, whatever its drop-ins say. */
function withDropIns(file: HostFile, dropIns: readonly HostFile[] = []): HostFile {
  if (file.text === '' || dropIns.length === 0 || ourIndexIn(file.path) !== undefined) return file;
  const unread = dropIns.find((each) => each.unread !== undefined)?.unread;
  return { ...file, dropIns, ...(unread === undefined ? {} : { unread }) };
}

/** Drop-ins of others to files of our names, which would not say what we wrote: they configure the same NIC. */
export function dropInsToOurs(hostRoot: string, places: readonly Place[]): ConfigFile[] {
  return [...dropInsIn(hostRoot, places)].flatMap(([name, files]) => {
    const index = ourIndexIn(name);
    if (index === undefined) return [];
    const said = files.filter(({ text, unread }) => unread !== undefined || text.trim() !== '');
    return said.map((file) => ({ ...file, macs: [], names: [interfaceName(index)] }));
  });
}

function ourIndexIn(path: string): number | undefined {
  const [, index] = /multinic(\d)\.(?:network|link)$/.exec(path) ?? [];
  return index === undefined ? undefined : Number(index);
}

/** Drop-ins by the name of the file that they add to, in order of their names; of one name the first place has it. */
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

/**
 * What a directory of the host has under names with this suffix; nothing when there is no such directory. Whatever is no
 * file is there all the same, without a text: its name is taken.
 */
export function readHostFiles(hostRoot: string, { directory, suffix }: Place): HostFile[] {
  return namesIn(join(hostRoot, directory))
    .filter((name) => name.endsWith(suffix) && !name.startsWith('.'))
    .toSorted()
    .flatMap((name) => readHostFile(hostRoot, `${directory}/${name}`) ?? []);
}

/** Names in a directory, of which there are none when it is not there; throws when nobody knows. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return [];
  }
}

/** The agent may read no more than any root without capabilities: EACCES. A link may lead out of what is mounted. */
const unreadable = new Set(['EACCES', 'ENOENT', 'ENOTDIR', 'ELOOP']);

/** What is under this name; undefined when it has gone since the name was seen. */
function readHostFile(hostRoot: string, path: string): HostFile | undefined {
  try {
    const real = followed(hostRoot, path);
    if (real === masked) return { path, text: '', mode: 0 };
    const status = statSync(real);
    const mode = status.mode & 0o777;
    // A pipe would be waited on for ever.
    return { path, text: status.isFile() ? readFileSync(real, 'utf8') : '', mode };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!unreadable.has(code)) throw error;
    if (code === 'ENOENT' && !isThere(hostRoot, path)) return undefined;
    return { path, text: '', mode: 0, unread: code };
  }
}

/** What a link leads to that says: nothing here. */
const masked = '/dev/null';
/** The kernel gives up after as many links (path_resolution(7)). */
const maxLinks = 40;

/** Where a file of the host is that may be a link; an absolute one begins at the host's root and not at ours. */
function followed(hostRoot: string, path: string): string {
  let real = join(hostRoot, path);
  for (let links = 0; links < maxLinks && lstatSync(real).isSymbolicLink(); links++) {
    const target = readlinkSync(real);
    real = target.startsWith('/') ? join(hostRoot, target) : resolve(dirname(real), target);
    // The agent has no mount for it.
    if (real === join(hostRoot, masked)) return masked;
  }
  return real;
}

/** A file that is, to the byte, as the agent wrote it: what it is about is in state.json too. */
function knownFile(file: HostFile, { nics }: AgentState): ConfigFile | undefined {
  const nic = nics.find(({ files }) => files.some(({ path }) => path === file.path));
  const written = nic?.files.find(({ path }) => path === file.path);
  if (!nic || written?.sha256 !== sha256(file.text)) return undefined;
  const { mac, index, addresses } = nic;
  return { ...file, own: { mac, index, addresses }, macs: [mac] };
}

/** Whether the host has this file; one that is a link to another place of the host counts. */
export function isThere(hostRoot: string, path: string): boolean {
  return lstatSync(join(hostRoot, path), { throwIfNoEntry: false }) !== undefined;
}

// Synchronous all along: the kernel answers at once, and a round through the thread pool costs more than the answer.

/**
 * Where `net.*` settings are read and written. A container sees its own `/proc/sys` read-only, so the host's
 * `/proc/sys/net` is mounted under the host root; both show the network namespace of the process that looks.
 */
function sysctlDirectory(hostRoot: string): string {
  const mounted = join(hostRoot, 'proc/sys/net');
  return existsSync(mounted) ? mounted : '/proc/sys/net';
}

/** Path of a setting such as `ipv6.conf.ens5.accept_ra`; the link's name may itself hold dots. */
export function sysctlPath(directory: string, link: string, key: `${'ipv4' | 'ipv6'}.${string}`) {
  const [family = '', name = ''] = key.split('.');
  return join(directory, family, 'conf', link, name);
}

/** Those that there are: a link that is gone has none, and a kernel without IPv6 none of that. */
export function readSettings(directory: string, link: string): Settings {
  const values = settingKeys.map((key) => [key, readSetting(directory, link, key)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function readSetting(...setting: Parameters<typeof sysctlPath>): string | undefined {
  try {
    return readFileSync(sysctlPath(...setting), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
