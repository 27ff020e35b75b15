import { coded } from '../../api/nic-codes.ts';
import { matchesPattern } from '../shell-pattern.ts';
import { type ConfigFile, linkNamed, type Snapshot } from '../snapshot.ts';
import { type Refusal, type RefusalFacts, refusal, type WantedNic } from './refusals.ts';

/** Returns the foreign file that configures the NIC with this MAC or one of these names. */
export function claimOn(
  mac: string,
  names: readonly string[],
  { files }: Pick<Snapshot, 'files'>,
): ConfigFile | undefined {
  return files.find((file) => !file.own && (file.macs.includes(mac) || mentions(file, names)));
}

/** Refuses a NIC that a foreign file configures by MAC or name: after a boot two files would configure the NIC. */
export function claimed(nic: WantedNic, { host }: RefusalFacts): Refusal | undefined {
  const claim = claimOn(nic.desired.mac, namesOf(nic, host), host);
  if (!claim) return undefined;
  return refusal(
    'NICInUse',
    `${claim.path} configures the NIC; remove the NIC from that file`,
    coded('FileConfiguresNic', { path: claim.path }),
  );
}

/**
 * Refuses a new NIC while a file is unreadable: the file may configure this NIC. A managed NIC already coexists with
 * the file and stays allowed.
 */
export function unreadableFile({ record }: WantedNic, { host }: RefusalFacts): Refusal | undefined {
  const file = record ? undefined : host.files.find((each) => each.unread !== undefined);
  if (!file) return undefined;
  const message = `${file.path} may configure the NIC and cannot be read: ${file.unread}; make it readable or move it away`;
  return refusal('NICInUse', message, coded('FileUnreadable', { path: file.path }));
}

/**
 * Refuses a NIC matched by a file's name pattern: at the next boot the file would configure the NIC beside or instead
 * of ours.
 */
export function matchedByPattern(nic: WantedNic, { host }: RefusalFacts): Refusal | undefined {
  if (nic.record) return undefined;
  const all = namesOf(nic, host);
  const leavesOut = ({ except = [] }: ConfigFile) =>
    except.some((item) => item === nic.desired.mac || matchesAny(all, item));
  for (const file of host.files.filter((each) => !leavesOut(each))) {
    const { path, leases = [], patterns = [] } = file;
    const names = namesFor(file, all);
    const lease = leases.find((each) => matchesAny(names, each));
    const pattern = lease ?? patterns.find((each) => matchesAny(names, each));
    if (pattern === undefined) continue;
    const how = lease === undefined ? '' : ' by DHCP';
    const message = `${path} configures every NIC named ${pattern}${how}; exclude this NIC there`;
    return refusal(
      lease === undefined ? 'NICInUse' : 'LeasedByHost',
      message,
      coded('FileMatchesNic', { path, pattern }),
    );
  }
  return undefined;
}

/**
 * Returns current, former and desired names: a file may exist for a name the NIC gets later. A former name now used by
 * another link is left out.
 */
function namesOf({ link, record, desired }: WantedNic, host: Snapshot): string[] {
  const former = record?.originalName ?? '';
  const isOthers = (linkNamed(host, former) ?? link).index !== link.index;
  const names = [link.name, ...link.altNames, isOthers ? '' : former, desired.name];
  return names.filter((name) => name !== '');
}

/** Returns the NIC names the file may apply to, without names excluded by `notNames`. */
function namesFor({ notNames = [] }: ConfigFile, own: readonly string[]): string[] {
  return own.filter((name) => !notNames.some((pattern) => matchesPattern(name, pattern)));
}

function matchesAny(names: readonly string[], pattern: string): boolean {
  return names.some((name) => matchesPattern(name, pattern));
}

function mentions(file: ConfigFile, own: readonly string[]): boolean {
  const names = namesFor(file, own);
  return file.names?.some((name) => names.includes(name)) ?? false;
}
