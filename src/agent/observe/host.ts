import type { Backend } from '../backends/backend.ts';
import { netplan } from '../backends/netplan.ts';
import type { Host } from '../host.ts';
import type { RunIp } from '../ip-command.ts';
import { readHostFiles } from './files.ts';
import { observeKernel } from './kernel.ts';
import { readAcceptRa, sysctlDirectory } from './sysctls.ts';

export interface HostView {
  readonly hostRoot: string;
  readonly sysctls: string;
  readonly runIp: RunIp;
  readonly backend: Backend;
}

/** How this process sees the host under this directory: netplan is the one family so far. */
export async function viewOf(hostRoot: string, runIp: RunIp): Promise<HostView> {
  return { hostRoot, sysctls: await sysctlDirectory(hostRoot), runIp, backend: netplan };
}

/** The part of a host that changes with the kernel; files are left out. */
export type KernelView = Omit<Host, 'files'>;

/** State of the kernel; settings are read of the links with these MACs alone, as a node may have hundreds. */
export async function observeLinks(view: HostView, macs: ReadonlySet<string>): Promise<KernelView> {
  const kernel = await observeKernel(view.runIp);
  const names = kernel.links.filter(({ mac }) => macs.has(mac)).map(({ name }) => name);
  const settings = await readAcceptRa(view.sysctls, ['default', ...names]);
  const { default: defaultAcceptRa, ...own } = Object.fromEntries(settings);
  return {
    ...kernel,
    acceptRa: new Map(Object.entries(own)),
    ...(defaultAcceptRa === undefined ? {} : { defaultAcceptRa }),
  };
}

/** Everything the agent looks at; undefined when the host has no directory that the backend writes to. */
export async function observeHost(
  view: HostView,
  macs: ReadonlySet<string>,
): Promise<Host | undefined> {
  const { hostRoot, backend } = view;
  const [kernel, files] = await Promise.all([
    observeLinks(view, macs),
    readHostFiles(hostRoot, backend.directory, backend.suffix),
  ]);
  return files && { ...kernel, files: files.map((file) => backend.read(file)) };
}
