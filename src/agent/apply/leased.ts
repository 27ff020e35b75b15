import { join } from 'node:path';
import { DeadlineReached, withDeadline } from '../../time/deadline.ts';
import { disconnectNic, unmanageNic } from '../bus/network-manager.ts';
import { observeHost, observeLinks } from '../observe/host.ts';
import { isThere } from '../observe/host-files.ts';
import type { PlanInput } from '../planning/candidates.ts';
import { hostWithoutLeases, isLeased, withoutAutomaticProfiles } from '../planning/leases.ts';
import { planAll, type WholePlan } from '../planning/plan.ts';
import type { AgentState } from '../state.ts';
import type { Context } from './context.ts';
import { answerTimeoutMs, busSocket } from './handover.ts';

/** Timeout in ms: NetworkManager removes its configuration from the NIC step by step. */
const releaseTimeoutMs = 10_000;
const pauseMs = 100;

/** Plan with the host state behind it. */
export interface Planned {
  readonly input: PlanInput;
  readonly plan: WholePlan;
}

/**
 * Replans after NetworkManager released NICs taken by an automatic profile. Only NICs without any other refusal are
 * released. A failed release is explained in the refusal.
 */
export async function planWithoutLeases(
  { input, plan }: Planned,
  state: AgentState,
  context: Context,
): Promise<Planned> {
  const nics = leasedNics({ input, plan }, context);
  if (nics.length === 0) return { input, plan };
  const problems = await problemsOf(nics, context);
  if (problems.size === nics.length) return { input, plan: explained(plan, problems) };
  const free = nics.filter(({ mac }) => !problems.has(mac)).map(({ name }) => name);
  const seen = await observeHost(context, context.macs, state);
  const next = { ...input, host: withoutAutomaticProfiles(seen, free) };
  return { input: next, plan: explained(planAll(next), problems) };
}

/** Returns release problems by MAC. After a timeout the remaining NICs fail without another wait. */
async function problemsOf(
  nics: readonly Nic[],
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

interface Nic {
  readonly mac: string;
  readonly name: string;
}

function leasedNics({ input, plan }: Planned, { backend, hostRoot }: Context): Nic[] {
  if (backend.name !== 'keyfile' && backend.name !== 'ifcfg') return [];
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
async function released(nic: Nic, context: Context): Promise<string | undefined> {
  return (
    (await requestRelease(disconnectNic, nic, context)) ??
    (await stillLeased(nic, context)) ??
    (await requestRelease(unmanageNic, nic, context))
  );
}

function requestRelease(
  what: typeof disconnectNic,
  nic: Nic,
  { clock, hostRoot, perform }: Context,
): Promise<string | undefined> {
  const socket = join(hostRoot, busSocket);
  return perform('agent.manager.release', () =>
    withDeadline({ clock, ms: answerTimeoutMs }, (signal) => what(socket, nic, signal)),
  );
}

async function stillLeased({ name }: Nic, context: Context): Promise<string | undefined> {
  const { clock, macs } = context;
  const end = clock.monotonicMs() + releaseTimeoutMs;
  while (isLeased(await observeLinks(context, macs), name)) {
    if (clock.monotonicMs() >= end) return 'the DHCP lease is still there after Disconnect';
    await clock.sleep(pauseMs);
  }
  return undefined;
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
