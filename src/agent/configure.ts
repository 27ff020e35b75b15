import { familyOf } from '../api/address.ts';
import type { JobRequest, NicResult } from '../api/job.ts';
import { beforeChange, connectivityAfter } from './apply/before-change.ts';
import type { Connect } from './apply/connectivity.ts';
import { bootId, type Context, openContext, type Tools } from './apply/context.ts';
import { busOn, socketOn } from './apply/handover.ts';
import { type Planned, planWithoutLeases } from './apply/leased.ts';
import { type JournalEntry, readJournals, readState } from './apply/memory.ts';
import { receiversOf } from './apply/receivers.ts';
import { type Recovered, recover } from './apply/recover.ts';
import { restoreForeign } from './apply/restore-foreign.ts';
import { type Outcome, transact } from './apply/transaction.ts';
import { withCarrier } from './carrier.ts';
import { compare } from './check.ts';
import { fitOf } from './fit.ts';
import type { Ip } from './ip/session.ts';
import { writeLastRun } from './last-run.ts';
import { observeFamily } from './observe/family.ts';
import type { UnicastFilter } from './observe/fdb.ts';
import { hostOf, observeHost, siteAt } from './observe/host.ts';
import type { PathReader } from './path/ip.ts';
import { judgePaths, pathsAfter } from './path/paths.ts';
import type { PlanInput } from './planning/candidates.ts';
import { foreignOnNic } from './planning/foreign-on-nic.ts';
import { withFound } from './planning/found.ts';
import { blockedRecords } from './planning/obsolete.ts';
import { withGeneratedConfig } from './planning/ownership.ts';
import { isToChange, planAll, planApply, type WholePlan } from './planning/plan.ts';
import { hostAfterRemoval } from './planning/plan-removal.ts';
import {
  inOrder,
  isDone,
  type Plan,
  removalHolds,
  stateAfter,
  type Unit,
  unitLines,
} from './planning/unit.ts';
import {
  type Findings,
  isCompleted,
  isGood,
  memoryOf,
  ofWrongFamily,
  refusedResult,
  refusedWhole,
  stayingLast,
  unitResult,
} from './result.ts';
import { lackedNetwork } from './rights.ts';
import type { KernelSnapshot, Snapshot } from './snapshot.ts';
import { type AgentState, advanceFence, atBoot, staleness, withNic } from './state.ts';
import { warningsOn } from './warnings.ts';

export interface ConfigureDeps extends Tools {
  readonly ip: Ip;
  readonly unicastFilter: UnicastFilter;
  readonly paths: PathReader;
  readonly tcp: Connect;
  /** Stops a run before its first change. */
  readonly signal: AbortSignal;
}

/**
 * Ends interrupted changes, then brings the host to the requested state. Action check only compares, and changes
 * nothing.
 */
export async function configure(
  request: JobRequest,
  hostRoot: string,
  deps: ConfigureDeps,
): Promise<Findings> {
  const onDisk = readState(hostRoot);
  const journals = readJournals(hostRoot);
  const inUse = [...onDisk.nics, ...journals];
  const macs = macsOf(request, atBoot(onDisk, bootId()), journals);
  const { protectedAddresses } = request;
  const site = {
    ...siteAt(hostRoot, deps.ip, knowsIPv6(request, onDisk, journals)),
    known: { records: onDisk.nics, bootId: bootId(), protectedAddresses },
  };
  const foreign = await lackedNetwork(request, site, macs);
  if (foreign) return refusedWhole('RightMissing', foreign);
  const finding = await observeFamily(site, { macs, protectedAddresses });
  const { backend, misfit = '', family } = fitOf(finding, request);
  const named = family ? { family } : {};
  if (!backend) return { ...ofWrongFamily(request, inUse, misfit), ...named };
  const context = openContext(hostOf(site, backend), request, onDisk, macs, deps);
  const boot = context.run.bootId;

  if (request.action === 'check') {
    if (misfit) return { ...ofWrongFamily(request, inUse, misfit), ...named };
    return {
      ...(await check(request, atBoot(onDisk, boot), journals, { ...context, ...deps })),
      ...named,
    };
  }
  const recovered = await recover(journals, atBoot(onDisk, boot), context);
  const { state: known, inHand, claims } = recovered;
  const claimed = (state: AgentState) => claims.reduce(withNic, state);
  const stale = staleness(known, request);
  if (stale) {
    const findings = { ...refusedWhole('StaleRequest', stale), ...memoryOf(known, request) };
    return afterRecovery(recovered, findings);
  }
  if (misfit) return afterRecovery(recovered, ofWrongFamily(request, claimed(known).nics, misfit));
  const host = await observeHost(context, context.macs, known);
  deps.signal.throwIfAborted();

  const state = withGeneratedConfig(advanceFence(known, request), host);
  const { backend: files } = context;
  const planRequest = {
    request,
    state: claimed(state),
    host,
    backend: files,
    bootId: boot,
    inHand,
  };
  const input = { ...planRequest, receives: await receiversOf(planRequest, deps.unicastFilter) };
  const findings = await executePlan(
    input,
    { state, claimed },
    { ...context, claims, start: host },
    deps,
  );
  return { ...afterRecovery(recovered, findings), ...named };
}

/** Adds warnings from recovery to the findings, whatever the request's outcome. */
function afterRecovery({ warnings }: Recovered, findings: Findings): Findings {
  // Change and record may both report the same unreachable file.
  return { ...findings, warnings: [...new Set([...warnings, ...findings.warnings])] };
}

/** State for state.json, and a function adding claims for unfinished changes. */
interface Memory {
  readonly state: AgentState;
  readonly claimed: (state: AgentState) => AgentState;
}

async function executePlan(
  input: PlanInput,
  memory: Memory,
  start: Context,
  deps: Pick<ConfigureDeps, 'paths' | 'tcp'>,
): Promise<Findings> {
  const planned = await planWithoutLeases(await planWithBus(input, start), memory.state, start);
  const { input: now, plan } = planned;
  const { host } = now;
  logPlan(plan, host, start);
  const before = await beforeChange(plan, now, deps);
  const blocked = blockedRecords(now);
  const context = { ...start, blocked, ...connectivityAfter(before, deps, start) };
  const { removed, applied } = await runPlans(now, plan, memory, context);
  // Without a read after the last change the carriers are unknown.
  const seen = applied.seen ?? (isToChange(plan) ? undefined : host);
  const carriers = { before: host.links, after: seen?.links ?? [] };
  const done = withCarrier([...applied.nics, ...stayingLast(removed.nics)], carriers);
  const after = { request: now.request, state: applied.state, seen };
  const paths = await pathsAfter(done, after, {
    context,
    reader: deps.paths,
    before: before.paths,
  });
  const concluded = await conclude(paths.nics, now, applied.state, context);
  await restoreAfter([removed, applied], host, context);
  const warnings = [removed, applied, concluded, paths].flatMap((step) => step.warnings);
  const findings = { ...concluded, warnings };
  // A run without a change writes only its result.
  if (isToChange(plan)) {
    await writeLastRun({ request: now.request, plan, findings, before, after: paths }, context);
  }
  return findings;
}

/** Plans with the system bus; if networkd does not answer, adopted links wait for the next boot. */
async function planWithBus(given: PlanInput, context: Context): Promise<Planned> {
  const input = { ...given, bus: socketOn(context) };
  const plan = planAll(input);
  const isNeeded = plan.apply.units.some(({ handover }) => handover?.by === 'networkd');
  const bus = isNeeded ? await busOn(context) : 'present';
  if (bus === 'present') return { input, plan };
  const without = { ...input, bus };
  return { input: without, plan: planAll(without) };
}

/** Restores foreign state on NICs with a transaction; `host` is the host before any change. */
async function restoreAfter(
  steps: readonly Step[],
  host: Snapshot,
  context: Context,
): Promise<void> {
  const changing = steps.filter(({ units }) => units.length > 0);
  const units = changing.flatMap((step) => step.units);
  const changed = units.map(({ nic }) => ({ nic, had: foreignOnNic(nic, host) }));
  await restoreForeign(changed, context, changing.at(-1)?.seen);
}

/** Removes NICs, then configures NICs. */
async function runPlans(
  now: PlanInput,
  plan: WholePlan,
  { state, claimed }: Memory,
  context: Context,
) {
  const { host } = now;
  const removed = await runPlan(plan.removal, state, host, context);
  const asPlanned = removed.nics.every(isGood);
  // A failed removal leaves state in place, which invalidates the remaining plan: plan again.
  const { apply, left } = asPlanned
    ? { apply: plan.apply, left: hostAfterRemoval(host, plan.removal.units) }
    : await replan({ ...now, state: claimed(removed.state) }, context);
  const latest = asPlanned ? removed.seen : undefined;
  const applied = await runPlan(apply, removed.state, left, withLatest(context, latest));
  return { removed, applied };
}

async function check(
  request: JobRequest,
  state: AgentState,
  journals: readonly JournalEntry[],
  {
    unicastFilter,
    paths: reader,
    ...context
  }: Context & Pick<ConfigureDeps, 'unicastFilter' | 'paths'>,
): Promise<Findings> {
  const older = staleness(state, request);
  if (older) return { ...refusedWhole('StaleRequest', older), ...memoryOf(state, request) };
  const host = await observeHost(context, context.macs, state);
  const memory = memoryOf(state, request, blockedRecords({ request, state, host }));
  const receives = await receiversOf({ request, state, host }, unicastFilter);
  const wanted = { request, state, journals, receives };
  const { links } = host;
  const compared = withCarrier(compare(host, wanted, context), { before: links, after: links });
  const bus = socketOn(context);
  const found = withFound(compared, { request, state, host, backend: context.backend, bus });
  const paths = await judgePaths(found, { request, state, host }, { reader, site: context });
  const { nics } = paths;
  const warnings = [...warningsOn(nics, { host, state }, context), ...paths.warnings];
  return { nics, warnings, ...memory };
}

/** Logs the legacy agent's messages, because operators search logs for them. */
function logPlan(plan: WholePlan, { links }: Snapshot, { log }: Context): void {
  const interfaces = links.map(({ name }) => name).filter((name) => /^multinic\d$/.test(name));
  log.info({ interfaces }, 'DetectActiveInterfaces');
  const orphaned = plan.removal.units.flatMap(({ files }) =>
    inOrder(files).flatMap(({ path, changed }) => (changed ? [path] : [])),
  );
  if (orphaned.length > 0) log.info({ orphaned }, 'CleanupOrphanedConfigs');
  const held = removalHolds([plan.removal, plan.apply]);
  if (held.length > 0) log.info({ held }, 'RemovalHeld');
}

async function replan(input: PlanInput, context: Context) {
  const left = await observeHost(context, context.macs, input.state);
  if (input.request.action === 'cleanup') return { apply: { units: [], refused: [] }, left };
  return { apply: planApply({ ...input, host: left }), left };
}

interface Step {
  readonly state: AgentState;
  readonly nics: readonly NicResult[];
  /** NIC transactions planned in this step. */
  readonly units: readonly Unit[];
  readonly seen?: KernelSnapshot;
  readonly warnings: readonly string[];
}

async function runPlan(
  { units, refused }: Plan,
  state: AgentState,
  host: Snapshot,
  context: Context,
): Promise<Step> {
  const pending = units.filter((unit) => !isDone(unit));
  const known = units.filter(isDone).reduce(stateAfter, state);
  for (const unit of pending) {
    const { nic, action } = unit;
    context.log.info({ mac: nic.mac, action, steps: unitLines(unit) }, 'plan');
  }
  const { state: next, failures, ...rest } = await inRounds(pending, known, host, context);
  const nics = [
    ...units.map((unit) => unitResult(unit, failures.get(unit))),
    ...refused.map(refusedResult),
  ];
  const inNumber = nics.toSorted((a, b) => a.index - b.index);
  return { state: next, nics: inNumber, units: pending, ...rest };
}

function withLatest(context: Context, latest: KernelSnapshot | undefined): Context {
  return latest ? { ...context, latest } : context;
}

/**
 * Runs transactions with the same index one after another, because their journals share a file name. A reattached NIC
 * may have the index of another released NIC.
 */
async function inRounds(
  units: readonly Unit[],
  known: AgentState,
  host: Snapshot,
  context: Context,
): Promise<Outcome> {
  const firsts = units.filter(
    ({ index }, at) => units.findIndex((unit) => unit.index === index) === at,
  );
  const first = await transact(firsts, known, host, context);
  const others = units.filter((unit) => !firsts.includes(unit));
  if (others.length === 0) return first;
  const rest = await inRounds(others, first.state, host, withLatest(context, first.seen));
  return {
    ...rest,
    failures: new Map([...first.failures, ...rest.failures]),
    warnings: [...first.warnings, ...rest.warnings],
  };
}

/** Writes state.json even without changes: NICs found correct are managed from now on. */
async function conclude(
  nics: readonly NicResult[],
  before: PlanInput,
  state: AgentState,
  context: Context,
): Promise<Findings> {
  const { host, state: known } = before;
  const warnings = warningsOn(nics, { host, state: known, after: state }, context);
  const found = { warnings, ...memoryOf(state, before.request, context.blocked) };
  try {
    await context.stateFile.write(state);
    return { nics, ...found };
  } catch (error) {
    const { message } = error as Error;
    const failure = { state: 'Failed', reason: 'PersistFailed', message } as const;
    const unsaved = nics.map((nic) => (isCompleted(nic) ? { ...nic, ...failure } : nic));
    return { nics: unsaved, ...found, failed: true };
  }
}

/** Returns MACs of NICs a run may change, including NICs detached since boot, as they may be back. */
export function macsOf(
  { interfaces }: JobRequest,
  { nics, left = [] }: AgentState,
  journals: readonly JournalEntry[],
): ReadonlySet<string> {
  return new Set([...interfaces, ...nics, ...left, ...journals].map(({ mac }) => mac));
}

/** True if IPv6 is requested, or IPv6 state may need removal. */
export function knowsIPv6(
  { interfaces }: JobRequest,
  { nics, left = [] }: AgentState,
  journals: readonly JournalEntry[] = [],
): boolean {
  const addresses = [
    ...interfaces.flatMap((entry) => entry.addresses),
    ...nics.flatMap((nic) => [...nic.addresses, ...(nic.boot?.addresses ?? [])]),
    ...left.flatMap((nic) => nic.addresses),
    ...journals.flatMap(({ belongings }) => belongings.ips),
  ];
  return addresses.some((address) => familyOf(address) === 6);
}
