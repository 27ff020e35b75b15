import { join } from 'node:path';
import { withDeadline } from '../../time/deadline.ts';
import { activateNic } from '../bus/network-manager.ts';
import { generateNetplan, pingNetworkd, reconfigureLink } from '../bus/networkd.ts';
import { linkOf } from '../identity.ts';
import { observeLinks } from '../observe/host.ts';
import { isThere } from '../observe/host-files.ts';
import { networkFileOn } from '../observe/managed-links.ts';
import type { Operation } from '../planning/operation.ts';
import { type Bus, busFailed, isForeign } from '../planning/takeover.ts';
import type { Unit } from '../planning/unit.ts';
import { matchesPattern } from '../shell-pattern.ts';
import type { Link } from '../snapshot.ts';
import type { Context } from './context.ts';
import { changeNics } from './gate.ts';
import type { Changed } from './links.ts';
import type { TransactionBatch } from './rollback.ts';

/** Mounted only if the installation grants agents this right. */
export const busSocket = '/run/dbus/system_bus_socket';
/** Timeout in ms: the managers answer at once unless hung. */
export const answerTimeoutMs = 5_000;
/** Time limit in ms for udev to keep the former name as alternative name after a rename. */
const renamedMs = 500;
/** Time limit in ms for networkd to drop its configuration: systemd 252 answers before it acts. */
const releaseMs = 2_000;
const pauseMs = 20;
/** Pause in ms between two calls that NetworkManager refuses. */
const refusedPauseMs = 100;

type Access = Pick<Context, 'hostRoot' | 'clock'>;

/** Returns whether the system bus is present. */
export function socketOn({ hostRoot }: Pick<Context, 'hostRoot'>): Bus {
  return isThere(hostRoot, busSocket) ? 'present' : { missing: true };
}

/** Returns whether networkd can be reached, without any change. */
export async function busOn(access: Access): Promise<Bus> {
  const problem = await answered(pingNetworkd, access);
  return problem === undefined ? 'present' : { problem };
}

/** Returns why a call failed; undefined after success. */
async function answered(
  call: (socket: string, signal: AbortSignal) => Promise<string | undefined | void>,
  { hostRoot, clock }: Access,
): Promise<string | undefined> {
  const socket = join(hostRoot, busSocket);
  try {
    const problem = await withDeadline({ clock, ms: answerTimeoutMs }, (signal) =>
      call(socket, signal),
    );
    return problem ?? undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Makes networkd release adopted links, after their new names are set and before verification: verification sets again
 * all state deleted by networkd. A link kept by networkd is reported; the files take effect at the next boot.
 */
export async function handOver(
  work: TransactionBatch,
  changed: Changed,
  context: Context,
): Promise<Changed> {
  if (!work.going.some(isAdopted)) return changed;
  await work.each('ApplyFailed', async (unit) => {
    if (!isAdopted(unit)) return;
    const problem = await handOverLink(unit, context);
    context.log.info({ mac: unit.nic.mac, problem }, 'systemd-networkd releases the link');
    if (problem !== undefined) work.report(unit, busFailed(problem));
  });
  return { ...changed, seen: undefined };
}

function isAdopted({ action, handover }: Unit): boolean {
  return action === 'apply' && handover?.by === 'networkd';
}

async function handOverLink(unit: Unit, context: Context): Promise<string | undefined> {
  await dropNames(unit, context);
  const index = linkOf(await observeLinks(context, context.macs), unit.nic.mac)?.index;
  return index === undefined ? undefined : releaseLink(index, context);
}

/** Deletes alternative names matching the foreign file. */
async function dropNames(unit: Unit, context: Context): Promise<void> {
  const { clock, macs, udev } = context;
  const end = clock.monotonicMs() + (isRenamed(unit) && udev ? renamedMs : 0);
  for (;;) {
    const seen = await observeLinks(context, macs);
    const operations = deletedNames(unit, linkOf(seen, unit.nic.mac));
    if (operations.length > 0) {
      await changeNics(new Map([[unit, { sysctls: [], operations }]]), seen, context);
      return;
    }
    if (clock.monotonicMs() >= end) return;
    await clock.sleep(pauseMs);
  }
}

function isRenamed({ before, after }: Unit): boolean {
  return before.link?.name !== after.link?.name;
}

function deletedNames({ handover }: Unit, link: Link | undefined): Operation[] {
  const patterns = handover?.names ?? [];
  if (!link) return [];
  const matching = link.altNames.filter((name) =>
    patterns.some((pattern) => matchesPattern(name, pattern)),
  );
  return matching.map((name) => ({ kind: 'link.altname-delete', dev: link.name, name }));
}

/** Returns why networkd keeps configuring the link; undefined once released. */
async function releaseLink(index: number, context: Context): Promise<string | undefined> {
  const problem = await reconfigured(index, context);
  if (problem !== undefined) return problem;
  const { clock, hostRoot } = context;
  const end = clock.monotonicMs() + releaseMs;
  for (;;) {
    const file = networkFileOn(hostRoot, index);
    if (!isForeign(file === undefined ? {} : { file })) return undefined;
    if (clock.monotonicMs() >= end) return `systemd-networkd keeps ${file} on the link`;
    await clock.sleep(pauseMs);
  }
}

function reconfigured(index: number, context: Context): Promise<string | undefined> {
  return context.perform('agent.manager.release', () =>
    answered((socket, signal) => reconfigureLink(socket, index, signal), context),
  );
}

/**
 * Makes the network manager configure released or rolled back links by the foreign files again, as far as the manager
 * still has them in memory; otherwise the files take effect at the next boot.
 */
export async function handBack(units: readonly Unit[], context: Context): Promise<void> {
  const affected = units.filter(({ handover }) => handover !== undefined);
  if (affected.length === 0 || !isThere(context.hostRoot, busSocket)) return;
  const seen = await observeLinks(context, context.macs);
  await generated(affected, context);
  for (const { nic, handover } of affected) {
    const link = linkOf(seen, nic.mac);
    if (!link || !handover) continue;
    const problem =
      handover.by === 'networkd'
        ? await reconfigured(link.index, context)
        : await context.perform('agent.manager.release', () => untilActivated(link, context));
    context.log.info({ mac: nic.mac, problem }, `link returned to ${handover.by}`);
  }
}

/**
 * Makes NetworkManager configure a NIC; returns why it did not. Repeats a refused call: NetworkManager knows a new
 * name, and offers the profiles of a managed NIC, only after the device has changed its state.
 */
export async function untilActivated(
  { name, mac }: Pick<Link, 'name' | 'mac'>,
  access: Access,
): Promise<string | undefined> {
  const { clock } = access;
  const end = clock.monotonicMs() + answerTimeoutMs;
  for (;;) {
    const problem = await answered(
      (socket, signal) => activateNic(socket, { name, mac }, signal),
      access,
    );
    if (problem === undefined || clock.monotonicMs() >= end) return problem;
    await clock.sleep(refusedPauseMs);
  }
}

/**
 * Makes netplan generate files for networkd's next start, and so checks that netplan accepts all files: an invalid file
 * would leave the node without network at the next boot. Returns netplan's objection; undefined if none, or if
 * netplan cannot be asked.
 */
export async function generated(
  units: readonly Unit[],
  context: Context,
): Promise<string | undefined> {
  const isAffected = units.some(
    ({ desired, handover, atBoot }) => handover || (desired?.adopted && !atBoot),
  );
  if (context.backend.name !== 'netplan' || !isAffected) return undefined;
  if (!isThere(context.hostRoot, busSocket)) return undefined;
  const problem = await context.perform('agent.manager.release', () =>
    answered(generateNetplan, context),
  );
  if (problem === undefined || problem.startsWith(refusedByNetplan)) return problem;
  context.log.info({ problem }, 'netplan did not check the files');
  return undefined;
}

/** Error if netplan rejects a file; all other errors mean a netplan without this call, or no answer. */
const refusedByNetplan = 'org.freedesktop.DBus.Error.Failed';
