import type { Family } from '../../api/job.ts';

/** What shows who manages the network of a host. Paths are as the host knows them. */
export interface FamilyEvidence {
  /** Links of the node's own that networkd has in hand, and the `.network` file that it does so by. */
  readonly networkd: readonly { readonly link: string; readonly file: string }[];
  /** Links of the node's own that NetworkManager has in hand, and the profile that is active on them. */
  readonly networkManager: readonly ManagedLink[];
  /** The node's own NIC, where NetworkManager is told not to manage it. */
  readonly leftAlone: string | undefined;
  readonly running: Presence;
  readonly installed: Presence & { readonly netplan: boolean };
  /** The first file of netplan that has NetworkManager as its renderer. */
  readonly renderer: string | undefined;
  /** Whether networkd has files that somebody wrote for it. */
  readonly networkdFiles: boolean;
  /** Profiles that are in keyfiles, by uuid. */
  readonly keyfiles: ReadonlySet<string>;
  readonly ifcfgs: readonly Ifcfg[];
}

/** What is there of those who manage networks. */
export interface Presence {
  readonly networkd: boolean;
  readonly networkManager: boolean;
  /** Those that this agent has no files for, by name: ifupdown, network-scripts … */
  readonly others: readonly string[];
}

export interface ManagedLink {
  readonly link: string;
  readonly mac: string;
  readonly uuid?: string;
}

/** What an ifcfg file is about, as far as it says so. */
export interface Ifcfg {
  readonly uuid?: string;
  readonly device?: string;
  readonly mac?: string;
}

/** How a host keeps its network over a reboot. */
export interface FamilyFinding {
  /** Undefined where no files of ours would do. */
  readonly family?: Family;
  /** What that is concluded from. */
  readonly found: string;
}

/**
 * Which files make the NICs of a host, from who manages the node's own links now; where nobody does, from who runs, and
 * where nobody runs from what is installed.
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

/** What netplan makes for networkd, and from nothing else. */
const fromNetplan = /^\/run\/systemd\/network\/10-netplan-/;

function underNetworkd(evidence: FamilyEvidence): FamilyFinding {
  const { networkd } = evidence;
  if (networkd.some(({ file }) => fromNetplan.test(file))) {
    return underNetplan(evidence, ofNetworkd(networkd));
  }
  return { family: 'networkd', found: ofNetworkd(networkd) };
}

/** netplan 0.106 drops the policy rules of a file without a word when NetworkManager renders it. */
function underNetplan({ renderer }: FamilyEvidence, found: string): FamilyFinding {
  if (renderer === undefined) return { family: 'netplan', found };
  return { found: `${renderer} sets renderer NetworkManager` };
}

function underNetworkManager({ networkManager, keyfiles, ifcfgs }: FamilyEvidence): FamilyFinding {
  const made = networkManager.some((link) => isFromIfcfg(link, ifcfgs, keyfiles));
  return { family: made ? 'ifcfg' : 'keyfile', found: ofNetworkManager(networkManager) };
}

/** A file without UUID= gets one from its path, which no file says. */
function isFromIfcfg(
  { link, mac, uuid }: ManagedLink,
  ifcfgs: readonly Ifcfg[],
  keyfiles: ReadonlySet<string>,
): boolean {
  if (uuid === undefined || keyfiles.has(uuid)) return false;
  if (ifcfgs.some((file) => file.uuid === uuid)) return true;
  const nameless = ifcfgs.filter((file) => file.uuid === undefined);
  return nameless.some(({ device, mac: wanted }) =>
    device === undefined ? wanted === mac : device === link,
  );
}

function unmanaged(evidence: FamilyEvidence): FamilyFinding {
  const { running, installed, leftAlone } = evidence;
  const onlyNetworkManager = running.networkManager && !running.networkd;
  if (installed.netplan && !onlyNetworkManager) return underNetplan(evidence, 'it is installed');
  if (running.networkd && running.networkManager) {
    return { found: 'systemd-networkd and NetworkManager, and neither manages a link of the node' };
  }
  if (running.networkd) return { family: 'networkd', found: 'systemd-networkd runs' };
  if (running.networkManager && leftAlone !== undefined) {
    const others = running.others.map((name) => `, and ${name}`).join('');
    return { found: `NetworkManager, which is told to leave ${leftAlone} alone${others}` };
  }
  // It takes keyfiles whatever else it takes.
  if (running.networkManager) return { family: 'keyfile', found: 'NetworkManager runs' };
  return idle(evidence);
}

/** Nothing runs that is known: what is installed counts where somebody wrote files for it. */
function idle(evidence: FamilyEvidence): FamilyFinding {
  const families = evidence.running.others.length > 0 ? [] : inFiles(evidence);
  const [family, ...more] = families;
  if (family && more.length === 0) return { family, found: `files of ${family}` };
  const names = presentIn(evidence);
  return { found: `no netplan, but ${names.join(' and ') || 'no manager that is known'}` };
}

/** Families of managers that are installed and have files. */
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
  return `systemd-networkd manages ${link} by ${file.replace(/^.*\//, '')}`;
}

function ofNetworkManager(links: readonly ManagedLink[]): string {
  return `NetworkManager manages ${links[0]?.link ?? ''}`;
}
