import { basename } from 'node:path';
import type { Family } from '../../api/job.ts';
import { coded } from '../../api/nic-codes.ts';
import { matchesPattern } from '../shell-pattern.ts';
import type { Link, ManagedLink, Snapshot } from '../snapshot.ts';
import type { DesiredNic } from './desired.ts';
import type { Refusal } from './refusals.ts';

/** System bus: present, or why the network manager cannot be reached. */
export type Bus = 'present' | { readonly missing: true } | { readonly problem: string };

/** Makes the network manager release a link. */
export interface Handover {
  /**
   * `networkd` selects the link's file again, only among the files in memory: no other link changes. `NetworkManager`
   * disconnects the link and ignores the link until the next boot.
   */
  readonly by: 'networkd' | 'NetworkManager';
  /** Alternative names by which the foreign file would match the link again. */
  readonly names: readonly string[];
}

/** True for the families with NetworkManager. */
export function isNetworkManager(family: Family): boolean {
  return family === 'keyfile' || family === 'ifcfg';
}

/** What the network manager does with a link while the NIC is taken over. */
export type ManagerStep = { readonly handover: Handover } | { readonly atBoot: Refusal };

/**
 * Returns how the manager stops configuring the link by a foreign file; undefined if no manager does. networkd selects
 * a file by the link's names: once no name matches, networkd drops the link's configuration. A file matching by MAC
 * alone stays in effect until the next boot. NetworkManager releases a link on request.
 */
export function managerStep(
  { index }: Pick<Link, 'index'>,
  { name }: Pick<DesiredNic, 'name'>,
  { managedLinks }: Pick<Snapshot, 'managedLinks'>,
  bus: Bus,
): ManagerStep | undefined {
  const managed = managedLinks?.get(index);
  if (!managed || !isForeign(managed)) return undefined;
  if (bus !== 'present') return { atBoot: 'missing' in bus ? busMissing : busFailed(bus.problem) };
  const { names, file = '', profile } = managed;
  if (profile) return { handover: { by: 'NetworkManager', names: [] } };
  if (names.length === 0 || names.some((pattern) => matchesPattern(name, pattern)))
    return { atBoot: linkHeld(file) };
  return { handover: { by: 'networkd', names } };
}

/** True if the manager configures the link by a file or profile of other software. */
export function isForeign({ file, profile }: Pick<ManagedLink, 'file' | 'profile'>): boolean {
  if (profile) return profile === 'foreign';
  return file !== undefined && !ownFile.test(basename(file));
}

/** Names of our files, and of the files netplan generates from ours. */
const ownFile = /^(?:9\d*|05|10-netplan-0[01])-multinic\d+\.network$/;

const effect = 'the files take effect when the node boots';

const busMissing: Refusal = {
  reason: 'AdoptedAtBoot',
  message: `the agent has no system bus; ${effect}`,
  ...coded('BusMissing', {}),
};

function linkHeld(file: string): Refusal {
  const message = `systemd-networkd keeps ${basename(file)}, which matches by MAC; ${effect}`;
  return { reason: 'AdoptedAtBoot', message, ...coded('BusFailed', { cause: 'MatchesByMac' }) };
}

/** Returns the result for a NIC whose manager did not answer as needed. */
export function busFailed(problem: string): Refusal {
  const message = `${problem}; ${effect}`;
  return { reason: 'AdoptedAtBoot', message, ...coded('BusFailed', { cause: problem }) };
}
