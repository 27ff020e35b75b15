import type { Family } from '../../api/job.ts';

/** Evidence for the network manager in charge. Paths are as seen on the host. */
export interface FamilyEvidence {
  /** Node links managed by networkd, each with the `.network` file in use. */
  readonly networkd: readonly { readonly link: string; readonly file: string }[];
  /** Node links managed by NetworkManager, each with the active profile. */
  readonly networkManager: readonly ManagedLink[];
  /** Node NIC excluded from NetworkManager by configuration; undefined: none excluded. */
  readonly leftAlone: string | undefined;
  readonly running: Presence;
  readonly installed: Presence & { readonly netplan: boolean };
  /** First netplan file with renderer NetworkManager. */
  readonly renderer: string | undefined;
  /** True if networkd has user-written files. */
  readonly networkdFiles: boolean;
  /** UUIDs of profiles stored as keyfiles. */
  readonly keyfiles: ReadonlySet<string>;
  readonly ifcfgs: readonly Ifcfg[];
}

/** Network managers running or installed on the host. */
export interface Presence {
  readonly networkd: boolean;
  readonly networkManager: boolean;
  /** Managers without agent support, by name: ifupdown, network-scripts … */
  readonly others: readonly string[];
}

export interface ManagedLink {
  readonly link: string;
  readonly mac: string;
  readonly uuid?: string;
}

/** Keys of an ifcfg file; undefined if the file lacks the key. */
export interface Ifcfg {
  readonly uuid?: string;
  readonly device?: string;
  readonly mac?: string;
}

/** Network manager restoring a host's network at boot. */
export interface FamilyFinding {
  /** Undefined if no files by the agent would take effect. */
  readonly family?: Family;
  /** Evidence for the conclusion, as text. */
  readonly found: string;
}

/**
 * Returns the file format for a host's NICs. Evidence in order: manager of the node's own links, running managers,
 * installed managers.
 */
export function familyIn(evidence: FamilyEvidence): FamilyFinding {
  const { networkd, networkManager } = evidence;
  if (networkd.length > 0 && networkManager.length > 0) {
    return { found: `${ofNetworkd(networkd)} and ${ofNetworkManager(networkManager)}` };
  }
  if (networkd.length > 0) return underNetworkd(evidence);
  if (networkManager.length > 0) return underNetworkManager(evidence);
  return unmanaged(evidence);
}

/** Path prefix used only by netplan, for networkd files. */
const fromNetplan = /^\/run\/systemd\/network\/10-netplan-/;

function underNetworkd(evidence: FamilyEvidence): FamilyFinding {
  const { networkd } = evidence;
  if (networkd.some(({ file }) => fromNetplan.test(file))) {
    return underNetplan(evidence, ofNetworkd(networkd));
  }
  return { family: 'networkd', found: ofNetworkd(networkd) };
}

/** netplan 0.106 silently drops a file's policy rules with renderer NetworkManager. */
function underNetplan({ renderer }: FamilyEvidence, found: string): FamilyFinding {
  if (renderer === undefined) return { family: 'netplan', found };
  return { found: `${renderer} sets renderer NetworkManager` };
}

function underNetworkManager({ networkManager, keyfiles, ifcfgs }: FamilyEvidence): FamilyFinding {
  const hasIfcfg = networkManager.some((link) => isFromIfcfg(link, ifcfgs, keyfiles));
  return { family: hasIfcfg ? 'ifcfg' : 'keyfile', found: ofNetworkManager(networkManager) };
}

/** NetworkManager derives a UUID from the path if a file lacks UUID=. */
function isFromIfcfg(
  { link, mac, uuid }: ManagedLink,
  ifcfgs: readonly Ifcfg[],
  keyfiles: ReadonlySet<string>,
): boolean {
  if (uuid === undefined || keyfiles.has(uuid)) return false;
  if (ifcfgs.some((file) => file.uuid === uuid)) return true;
  const withoutUuid = ifcfgs.filter((file) => file.uuid === undefined);
  return withoutUuid.some(({ device, mac: wanted }) =>
    device === undefined ? wanted === mac : device === link,
  );
}

function unmanaged(evidence: FamilyEvidence): FamilyFinding {
  const { running, installed, leftAlone } = evidence;
  const onlyNetworkManager = running.networkManager && !running.networkd;
  if (installed.netplan && !onlyNetworkManager)
    return underNetplan(evidence, 'netplan is installed');
  if (running.networkd && running.networkManager) {
    return {
      found: 'systemd-networkd and NetworkManager run, but neither manages a link of the node',
    };
  }
  if (running.networkd) return { family: 'networkd', found: 'systemd-networkd runs' };
  if (running.networkManager && leftAlone !== undefined) {
    const others = running.others.map((name) => `; ${name} runs`).join('');
    return { found: `NetworkManager is configured to ignore ${leftAlone}${others}` };
  }
  // NetworkManager reads keyfiles besides any other format.
  if (running.networkManager) return { family: 'keyfile', found: 'NetworkManager runs' };
  return idle(evidence);
}

/** With no known manager running, an installed manager counts if user-written files exist. */
function idle(evidence: FamilyEvidence): FamilyFinding {
  const families = evidence.running.others.length > 0 ? [] : inFiles(evidence);
  const [family, ...more] = families;
  if (family && more.length === 0)
    return { family, found: `configuration files for ${family} exist` };
  const names = presentIn(evidence);
  return { found: `no netplan; found ${names.join(' and ') || 'no known network manager'}` };
}

/** Returns families for installed managers with configuration files. */
function inFiles({ installed, networkdFiles, keyfiles, ifcfgs }: FamilyEvidence): Family[] {
  const profiles: Family = keyfiles.size > 0 ? 'keyfile' : 'ifcfg';
  const anyProfile = keyfiles.size + ifcfgs.length > 0;
  return [
    ...(installed.networkd && networkdFiles ? (['networkd'] satisfies Family[]) : []),
    ...(installed.networkManager && anyProfile ? [profiles] : []),
  ];
}

function presentIn({ running, installed }: FamilyEvidence): string[] {
  return [
    ...(installed.networkManager ? ['NetworkManager'] : []),
    ...(installed.networkd ? ['systemd-networkd'] : []),
    ...new Set([...running.others, ...installed.others]),
  ];
}

function ofNetworkd(links: FamilyEvidence['networkd']): string {
  const [{ link, file } = { link: '', file: '' }] = links;
  return `systemd-networkd manages ${link} with ${file.replace(/^.*\//, '')}`;
}

function ofNetworkManager(links: readonly ManagedLink[]): string {
  return `NetworkManager manages ${links[0]?.link ?? ''}`;
}
