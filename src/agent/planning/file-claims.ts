import { argsOf } from '../../api/args.ts';
import { coded, type NicCode } from '../../api/nic-codes.ts';
import type { Snapshot } from '../snapshot.ts';
import {
  addressClaim,
  claimOn,
  claimText,
  claimValues,
  type NamedNic,
  namesOf,
  patternClaim,
  unreadClaim,
} from './claim.ts';
import { type Refusal, type RefusalFacts, refusal, type WantedNic } from './refusals.ts';

/** Refuses a NIC that a foreign file configures by MAC or name: after a boot two files would configure the NIC. */
export function claimed(nic: WantedNic, { host }: RefusalFacts): Refusal | undefined {
  const claim = claimOn(namedNic(nic, host), host);
  if (!claim) return undefined;
  return refusal(
    'NICInUse',
    `${claimText(claim)} configures the NIC; remove the NIC from that file`,
    coded('FileConfiguresNic', claimValues(claim, {}, 'path')),
  );
}

/**
 * Refuses a new NIC while a file is unreadable: the file may configure this NIC. A managed NIC already coexists with
 * the file and stays allowed.
 */
export function unreadableFile({ record }: WantedNic, { host }: RefusalFacts): Refusal | undefined {
  const file = record ? undefined : unreadClaim(host)?.file;
  if (!file) return undefined;
  const message = `${file.path} may configure the NIC and cannot be read: ${file.unread}; make it readable or move it away`;
  return refusal('NICInUse', message, coded('FileUnreadable', { path: file.path }));
}

/**
 * Refuses a NIC matched by a file's name pattern: at the next boot the file would configure the NIC beside or instead
 * of ours.
 */
export function matchedByPattern(nic: WantedNic, { host }: RefusalFacts): Refusal | undefined {
  const claim = nic.record ? undefined : patternClaim(namedNic(nic, host), host);
  if (claim?.pattern === undefined) return undefined;
  const { pattern, isLease } = claim;
  const how = isLease ? ' by DHCP' : '';
  const message = `${claimText(claim)} configures every NIC named ${pattern}${how}; exclude this NIC there`;
  return refusal(
    isLease ? 'LeasedByHost' : 'NICInUse',
    message,
    coded('FileMatchesNic', claimValues(claim, { pattern }, 'path')),
  );
}

function namedNic({ link, record, desired, takeover }: WantedNic, host: Snapshot): NamedNic {
  const names = namesOf(link, record, desired.name, host);
  return { mac: desired.mac, names, adopted: takeover?.adopted };
}

/** Cases with link state from a file. */
const effects: ReadonlySet<string> = new Set<NicCode>([
  'LeasedAddress',
  'LeasedRoute',
  'NodeDefaultRoute',
  'ForeignAddress',
  'ForeignRoute',
  'LinkHasMaster',
  'LinkHasUpper',
]);

/**
 * Adds the foreign file behind a refusal because of link state: the file restores the state at the next boot. A generated
 * profile is left out, because users cannot edit generated files.
 */
export function withFile(
  refused: Refusal | undefined,
  nic: WantedNic,
  host: Snapshot,
): Refusal | undefined {
  if (!refused?.code || !effects.has(refused.code)) return refused;
  const { code, args, message } = refused;
  const claim = addressClaim(namedNic(nic, host), nic.record !== undefined, host);
  if (!claim || claim.file.generated) return refused;
  return {
    ...refused,
    message: `${claimText(claim)} configures the NIC; ${message}`,
    ...coded(code, claimValues(claim, argsOf(args), 'section')),
  };
}
