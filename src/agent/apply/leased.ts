import { join } from 'node:path';
import { DeadlineReached, withDeadline } from '../../time/deadline.ts';
import { disconnectNic, type ManagedNic, unmanageNic } from '../bus/network-manager.ts';
import { observeHost, observeLinks } from '../observe/host.ts';
import { isThere } from '../observe/host-files.ts';
import type { PlanInput } from '../planning/candidates.ts';
import { hostWithoutLeases, isLeased, withoutAutomaticProfiles } from '../planning/leases.ts';
import { isLinkLocal } from '../planning/nic-state.ts';
import { planAll, type WholePlan } from '../planning/plan.ts';
import { isNetworkManager } from '../planning/takeover.ts';
import type { FileChanges, Unit } from '../planning/unit.ts';
import type { KernelSnapshot } from '../snapshot.ts';
import type { AgentState } from '../state.ts';
import type { Context } from './context.ts';
import { discardStaged, stageFiles } from './disk.ts';
import { answerTimeoutMs, busSocket } from './handover.ts';

/** Timeout in ms: NetworkManager removes its configuration from the NIC step by step. */
const releaseTimeoutMs = 10_000;
const pauseMs = 20;

/** Plan with the host state behind it. */
export interface Planned {
  readonly input: PlanInput;
  readonly plan: WholePlan;
}

/**
 * Replans after NetworkManager released NICs: NICs with a lease as the only refusal, and NICs whose profile is adopted.
 * A failed release is explained in the refusal; an adopted NIC waits for the next boot then.
 */
export async function planWithoutLeases(
  { input, plan }: Planned,
  state: AgentState,
  context: Context,
): Promise<Planned> {
  const adopted = await adoptedNics({ plan }, context);
  const nics = [...leasedNics({ input, plan }, context), ...adopted];
  if (nics.length === 0) return { input, plan: withReturn(plan, []) };
  const problems = await problemsOf(nics, context);
  if (problems.size === nics.length && adopted.length === 0)
    return { input, plan: withReturn(explained(plan, problems), []) };
  const free = nics.filter(({ mac }) => !problems.has(mac));
  const seen = await observeHost(context, context.macs, state);
  const names = free.map(({ name }) => name);
  const [problem] = adopted.flatMap(({ mac }) => problems.get(mac) ?? []);
  const next = {
    ...input,
    host: withoutAutomaticProfiles(seen, names),
    ...(problem === undefined ? {} : { bus: { problem } }),
  };
  return { input: next, plan: withReturn(explained(planAll(next), problems), free) };
}

/**
 * Marks exactly the NICs whose adopted profile NetworkManager released: after a failure NetworkManager takes the NIC back.
 */
function withReturn(plan: WholePlan, free: readonly ManagedNic[]): WholePlan {
  const macs = free.flatMap(({ mac, isAdopted }) => (isAdopted ? [mac] : []));
  const units = plan.apply.units.map((unit): Unit => {
    const { handover, ...rest } = unit;
    if (macs.includes(unit.nic.mac))
      return { ...rest, handover: { by: 'NetworkManager', names: [] } };
    return handover?.by === 'NetworkManager' ? rest : unit;
  });
  return { ...plan, apply: { ...plan.apply, units } };
}

/** Returns release problems by MAC. After a timeout the remaining NICs fail without another wait. */
async function problemsOf(
  nics: readonly ManagedNic[],
  context: Context,
): Promise<ReadonlyMap<string, string>> {
  const problems = new Map<string, string>();
  let silence: string | undefined;
  for (const nic of nics) {
    try {
      const problem = silence ?? (await released(nic, context));
      if (problem !== undefined) problems.set(nic.mac, problem);
    } catch (error) {
      const { message } = error as Error;
      problems.set(nic.mac, message);
      if (error instanceof DeadlineReached) silence = message;
    }
    const problem = problems.get(nic.mac);
    context.log.info({ ...nic, problem }, 'NIC release requested from NetworkManager');
  }
  return problems;
}

/**
 * Returns planned NICs with an active profile to adopt. Without writable files the adoption fails anyway, and the release
 * would interrupt the NIC on every attempt.
 */
async function adoptedNics(
  { plan }: Pick<Planned, 'plan'>,
  context: Context,
): Promise<ManagedNic[]> {
  if (!isThere(context.hostRoot, busSocket)) return [];
  const units = plan.apply.units.filter(({ handover }) => handover?.by === 'NetworkManager');
  const nics: ManagedNic[] = [];
  for (const { nic, before, files } of units) {
    if (before.link && (await canStage(files, context)))
      nics.push({ mac: nic.mac, name: before.link.name, isAdopted: true });
  }
  return nics;
}

/** Stages the files as a change does, and discards the staged files. */
async function canStage(files: FileChanges, context: Context): Promise<boolean> {
  try {
    await stageFiles(files, context);
    return true;
  } catch {
    // The change itself fails in the same way, and reports the error.
    return false;
  } finally {
    discardStaged(files, context);
  }
}

function leasedNics({ input, plan }: Planned, { backend, hostRoot }: Context): ManagedNic[] {
  if (!isNetworkManager(backend.name)) return [];
  const leased = plan.apply.refused.filter(({ refusal }) => refusal.reason === 'LeasedByHost');
  if (leased.length === 0 || !isThere(hostRoot, busSocket)) return [];
  const nics = leased.map(({ target: { mac }, name }) => ({ mac, name }));
  const host = hostWithoutLeases(
    input.host,
    nics.map(({ name }) => name),
  );
  const possible = planAll({ ...input, host }).apply.units.map(({ target }) => target.mac);
  return nics.filter(({ mac }) => possible.includes(mac));
}

/** Returns why NetworkManager keeps the NIC; undefined if released. Rejects if unknown. */
async function released(nic: ManagedNic, context: Context): Promise<string | undefined> {
  return (
    (await requestRelease(disconnectNic, nic, context)) ??
    (await stillConfigured(nic, context)) ??
    (await requestRelease(unmanageNic, nic, context))
  );
}

function requestRelease(
  what: typeof disconnectNic,
  nic: ManagedNic,
  { clock, hostRoot, perform }: Context,
): Promise<string | undefined> {
  const socket = join(hostRoot, busSocket);
  return perform('agent.manager.release', () =>
    withDeadline({ clock, ms: answerTimeoutMs }, (signal) => what(socket, nic, signal)),
  );
}

async function stillConfigured(
  { name, isAdopted }: ManagedNic,
  context: Context,
): Promise<string | undefined> {
  const { clock, macs } = context;
  const end = clock.monotonicMs() + releaseTimeoutMs;
  for (;;) {
    const seen = await observeLinks(context, macs);
    if (!isLeased(seen, name) && !(isAdopted && hasAddress(seen, name))) return undefined;
    if (clock.monotonicMs() >= end) return `${name} still has its configuration after Disconnect`;
    await clock.sleep(pauseMs);
  }
}

function hasAddress({ addresses }: KernelSnapshot, name: string): boolean {
  return addresses.some((address) => address.link === name && !isLinkLocal(address));
}

function explained(plan: WholePlan, problems: ReadonlyMap<string, string>): WholePlan {
  const refused = plan.apply.refused.map((nic) => {
    const problem = problems.get(nic.target.mac);
    if (problem === undefined || nic.refusal.reason !== 'LeasedByHost') return nic;
    const message = `${nic.refusal.message}; NetworkManager: ${problem}`;
    return { ...nic, refusal: { ...nic.refusal, message } };
  });
  return { ...plan, apply: { ...plan.apply, refused } };
}
