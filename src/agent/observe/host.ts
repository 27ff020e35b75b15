import type { Backend } from '../backends/backend.ts';
import { netplan } from '../backends/netplan.ts';
import type { Host, KernelView } from '../host.ts';
import type { Ip } from '../ip-session.ts';
import type { HostState } from '../state.ts';
import { isThere, knownFile, readHostFiles } from './files.ts';
import type { KernelState } from './kernel.ts';
import { readAcceptRa, sysctlDirectory } from './sysctls.ts';

export interface HostView {
  readonly hostRoot: string;
  readonly sysctls: string;
  readonly ip: Ip;
  readonly backend: Backend;
  /** Whether the host has udev, which reacts to a rename. */
  readonly udev: boolean;
}

/** How this process sees the host under this directory: netplan is the one family so far. */
export function viewOf(hostRoot: string, ip: Ip): HostView {
  const udev = isThere(hostRoot, '/usr/lib/systemd/systemd-udevd');
  return { hostRoot, sysctls: sysctlDirectory(hostRoot), ip, backend: netplan, udev };
}

/** State of the kernel as it is now. */
export async function observeLinks(view: HostView, macs: ReadonlySet<string>): Promise<KernelView> {
  const answer = await view.ip.run([]);
  if ('failedAt' in answer) throw new Error(`ip cannot show the kernel's state: ${answer.words}`);
  return withSettings(answer.seen, view, macs);
}

/** Adds the settings that `ip` does not show, of the links with these MACs alone: a node may have hundreds. */
export function withSettings(
  kernel: KernelState,
  { sysctls }: HostView,
  macs: ReadonlySet<string>,
): KernelView {
  const names = kernel.links.filter(({ mac }) => macs.has(mac)).map(({ name }) => name);
  const settings = readAcceptRa(sysctls, ['default', ...names]);
  const { default: defaultAcceptRa, ...own } = Object.fromEntries(settings);
  return {
    ...kernel,
    acceptRa: new Map(Object.entries(own)),
    ...(defaultAcceptRa === undefined ? {} : { defaultAcceptRa }),
  };
}

/** Everything the agent looks at. `state` spares reading the files that the agent wrote itself. */
export async function observeHost(
  view: HostView,
  macs: ReadonlySet<string>,
  state: HostState,
): Promise<Host> {
  const { hostRoot, backend } = view;
  const { directory, otherDirectories, suffix, generated } = backend;
  const there = [directory, ...otherDirectories].flatMap((each) =>
    readHostFiles(hostRoot, each, suffix),
  );
  const [kernel, files] = await Promise.all([
    observeLinks(view, macs),
    Promise.all(there.map(async (file) => knownFile(file, state) ?? backend.read(file))),
  ]);
  const made = readHostFiles(hostRoot, generated.directory, generated.suffix);
  return { ...kernel, files, held: made.flatMap((file) => backend.held(file) ?? []) };
}

/** Why the NICs of this host are not configured by the backend's files; undefined when they are. */
export function wrongFamily({ hostRoot, backend }: HostView, { files }: Host): string | undefined {
  return backend.missing((path) => isThere(hostRoot, path)) ?? backend.unusable(files);
}
