import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { familyOf } from '../api/address.ts';
import type { Effect } from '../api/effects.ts';
import type { JobRequest, JobResult, NicResult } from '../api/job.ts';
import type { Perform } from '../process/effects.ts';
import type { Logger } from '../process/log.ts';
import type { Clock } from '../time/clock.ts';
import { bootId, type Context, openContext } from './apply/context.ts';
import { textOf } from './apply/disk.ts';
import { type Changes, lossesOf, othersOn } from './apply/foreign.ts';
import { planWithoutLeases } from './apply/leased.ts';
import { type JournalEntry, readJournals, readState, UnknownStateError } from './apply/memory.ts';
import { recover } from './apply/recover.ts';
import { transact } from './apply/transaction.ts';
import { compare } from './check.ts';
import { fitOf } from './fit.ts';
import type { Ip } from './ip-session.ts';
import { HostBusyError, underLock } from './lock.ts';
import { observeFamily } from './observe/family.ts';
import { hostOf, observeHost, siteAt } from './observe/host.ts';
import type { PlanInput } from './planning/candidates.ts';
import { planAll, planApply, type WholePlan } from './planning/plan.ts';
import type { Refusal } from './planning/refusals.ts';
import { inOrder, isDone, type Plan, stateAfter, type Unit, unitLines } from './planning/unit.ts';
import { type AgentOptions, parseOptions, readRequest, UsageError, usage } from './request.ts';
import {
  type Findings,
  isGood,
  jobResultOf,
  memoryOf,
  refusedResult,
  unitResult,
  warningsOf,
} from './result.ts';
import type { KernelSnapshot, Snapshot } from './snapshot.ts';
import { type AgentState, advanceFence, atBoot, staleness, withNic } from './state.ts';

type RefusalReason = NonNullable<JobResult['refusal']>['reason'];

export interface AgentDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly perform: Perform<Effect>;
  /** Starts what does lines of `ip`. */
  readonly startIp: () => Ip & Disposable;
  /** Stops a run that has not begun to change anything. */
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
  readonly complain: (text: string) => void;
}

const usageExit = 2;

/** Runs the agent once; resolves to its exit status: 0 when all is as it shall be, 1 when not, 2 for usage errors. */
export async function runAgent(argv: readonly string[], deps: AgentDeps): Promise<number> {
  try {
    const options = parseOptions(argv);
    if (options && !options.dryRun) return await run(options, deps);
    const text = options ? JSON.stringify(await dryRun(options, deps), undefined, 2) : usage;
    deps.print(`${text}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    deps.complain(`multinic agent: ${error.message}\n\n${usage}`);
    return usageExit;
  }
}

/** Looks at the host and plans as a run would, without lock, recovery or any change. Throws a UsageError. */
async function dryRun(
  { request: path, hostRoot }: AgentOptions,
  { startIp }: AgentDeps,
): Promise<WholePlan> {
  const read = readRequest(path);
  if ('problem' in read) throw new UsageError(`--request ${path}: ${read.problem}`);
  const { request } = read;
  const boot = bootId();
  const state = atBoot(readState(hostRoot), boot);
  const macs = new Set([...request.interfaces, ...state.nics].map(({ mac }) => mac));
  using ip = startIp();
  const site = siteAt(hostRoot, ip, knowsIPv6(request, state));
  const { protectedAddresses } = request;
  const { backend, misfit } = fitOf(
    await observeFamily(site, { macs, protectedAddresses }),
    request,
  );
  if (!backend || misfit) throw new UsageError(`--host-root ${hostRoot}: ${misfit}`);
  const there = hostOf(site, backend);
  const host = await observeHost(there, macs, state);
  return planAll({ request, state, host, backend: there.backend, bootId: boot });
}

async function run(options: AgentOptions, deps: AgentDeps): Promise<number> {
  const read = readRequest(options.request);
  const findings =
    'request' in read
      ? await findingsOf(read.request, options, deps)
      : refusedWhole('InvalidRequest', read.problem);
  const identity = 'request' in read ? read.request : read.identity;
  const result = jobResultOf({ identity, bootId: bootId(), ...findings });
  deps.log.info(result, 'done');
  const { result: path } = options;
  if (path) {
    await deps.perform('agent.result.write', async () =>
      writeFileSync(path, JSON.stringify(result)),
    );
  }
  return result.outcome === 'ok' ? 0 : 1;
}

/** Whatever goes wrong has an answer: silence would look like a lost Pod. */
async function findingsOf(request: JobRequest, options: AgentOptions, deps: AgentDeps) {
  try {
    const wrong = wrongMachine(options.hostRoot, request);
    if (wrong) return refusedWhole('WrongMachine', wrong);
    // Made first, so that it starts while the agent reads what there is to read.
    using ip = deps.startIp();
    const lock = { ...deps, hostRoot: options.hostRoot };
    return await underLock(lock, () => configure(request, options, { ...deps, ip }));
  } catch (error) {
    deps.log.error({ err: error }, 'run failed');
    if (error instanceof UnknownStateError) return refusedWhole('UnknownState', error.message);
    if (error instanceof HostBusyError) return refusedWhole('AlreadyRunning', error.message);
    if (error === deps.signal.reason) return failedWhole(request, stopped);
    return failedWhole(request, { reason: 'ApplyFailed', message: (error as Error).message });
  }
}

const stopped: Refusal = { reason: 'RolledBack', message: 'stopped before anything was changed' };

/** A Job that was made for another machine of this name: nothing on this one is its business. */
function wrongMachine(hostRoot: string, { machineId }: JobRequest): string | undefined {
  const own =
    machineId === undefined ? undefined : textOf(join(hostRoot, '/etc/machine-id'))?.trim();
  if (machineId === undefined || own === machineId) return undefined;
  return `this host has the machine id ${own ?? 'of nobody'}, the Job is for ${machineId}`;
}

async function configure(
  request: JobRequest,
  { hostRoot }: AgentOptions,
  deps: AgentDeps & { readonly ip: Ip },
): Promise<Findings> {
  const onDisk = readState(hostRoot);
  const journals = readJournals(hostRoot);
  const inUse = [...onDisk.nics, ...journals];
  const macs = new Set([...request.interfaces, ...inUse].map(({ mac }) => mac));
  const site = siteAt(hostRoot, deps.ip, knowsIPv6(request, onDisk, journals));
  const { protectedAddresses } = request;
  const finding = await observeFamily(site, { macs, protectedAddresses });
  const { backend, misfit = '', family } = fitOf(finding, request);
  const named = family ? { family } : {};
  if (!backend) return { ...ofWrongFamily(request, inUse, misfit), ...named };
  const context = openContext(hostOf(site, backend), request, onDisk, macs, deps);
  const boot = context.run.bootId;

  if (request.action === 'check') {
    if (misfit) return { ...ofWrongFamily(request, inUse, misfit), ...named };
    return { ...(await check(request, atBoot(onDisk, boot), journals, context)), ...named };
  }
  const recovered = await recover(journals, atBoot(onDisk, boot), context);
  const { state: known, inHand, claims } = recovered;
  const claimed = (state: AgentState) => claims.reduce(withNic, state);
  const stale = staleness(known, request);
  if (stale) return { ...refusedWhole('StaleRequest', stale), ...memoryOf(known, request) };
  if (misfit) return ofWrongFamily(request, claimed(known).nics, misfit);
  const host = await observeHost(context, context.macs, known);
  deps.signal.throwIfAborted();

  const state = advanceFence(known, request);
  const input = {
    request,
    state: claimed(state),
    host,
    backend: context.backend,
    bootId: boot,
    inHand,
  };
  return { ...(await bringAbout(input, { state, claimed }, context)), ...named };
}

/** What state.json says, and with what is still in hand. */
interface Memory {
  readonly state: AgentState;
  readonly claimed: (state: AgentState) => AgentState;
}

async function bringAbout(
  input: PlanInput,
  { state, claimed }: Memory,
  context: Context,
): Promise<Findings> {
  const { input: now, plan } = await planWithoutLeases(
    { input, plan: planAll(input) },
    state,
    context,
  );
  const { host, request } = now;
  announce(plan, host, context);
  const others = isToChange(plan) ? othersOn(host, context) : undefined;
  const removed = await carryOut(plan.removal, state, host, context);
  const asPlanned = removed.nics.every(isGood);
  // What a removal that failed left in place is in the way of what was planned on its absence.
  const apply = asPlanned
    ? plan.apply
    : await planAnew({ ...now, state: claimed(removed.state) }, context);
  const applied = await carryOut(apply, removed.state, host, context);
  const nics = [...applied.nics, ...removed.nics];
  const concluded = await conclude(nics, applied.state, request, context);
  const changes = changesOf([removed, applied]);
  const foreignStateLost = others && changes ? await lossesOf(others, changes, context) : [];
  const warnings = [...removed.warnings, ...applied.warnings, ...concluded.warnings];
  return { ...concluded, warnings, foreignStateLost };
}

async function check(
  request: JobRequest,
  state: AgentState,
  journals: readonly JournalEntry[],
  context: Context,
): Promise<Findings> {
  const memory = memoryOf(state, request);
  const older = staleness(state, request);
  if (older) return { ...refusedWhole('StaleRequest', older), ...memory };
  const nics = await compare({ request, state, journals }, context);
  return { nics, warnings: warningsOf(nics, context.sysctls), ...memory };
}

/** Whether IPv6 is asked for, or there may be something of it to be taken away. */
function knowsIPv6(
  { interfaces }: JobRequest,
  { nics }: AgentState,
  journals: readonly JournalEntry[] = [],
): boolean {
  const addresses = [
    ...interfaces.flatMap((entry) => entry.addresses),
    ...nics.flatMap((nic) => [...nic.addresses, ...(nic.boot?.addresses ?? [])]),
    ...journals.flatMap(({ belongings }) => belongings.ips),
  ];
  return addresses.some((address) => familyOf(address) === 6);
}

/** In the words by which people look for it in the logs of the deployed agent. */
function announce({ removal }: WholePlan, { links }: Snapshot, { log }: Context): void {
  const interfaces = links.map(({ name }) => name).filter((name) => /^multinic\d$/.test(name));
  log.info({ interfaces }, 'DetectActiveInterfaces');
  const orphaned = removal.units.flatMap(({ files }) =>
    inOrder(files).flatMap(({ path, changed }) => (changed ? [path] : [])),
  );
  if (orphaned.length > 0) log.info({ orphaned }, 'CleanupOrphanedConfigs');
}

function isToChange({ removal, apply }: WholePlan): boolean {
  return [...removal.units, ...apply.units].some((unit) => !isDone(unit));
}

async function planAnew(input: PlanInput, context: Context): Promise<Plan> {
  const host = await observeHost(context, context.macs, input.state);
  if (input.request.action === 'cleanup') return { units: [], refused: [] };
  return planApply({ ...input, host });
}

interface Step {
  readonly state: AgentState;
  readonly nics: readonly NicResult[];
  /** What was to be changed. */
  readonly units: readonly Unit[];
  readonly seen?: KernelSnapshot;
  readonly warnings: readonly string[];
}

/** What the steps of a run have changed, or begun to; undefined when that is nothing. */
function changesOf(steps: readonly Step[]): Changes | undefined {
  const changed = steps.filter(({ units }) => units.length > 0);
  const units = changed.flatMap((step) => step.units);
  const seen = changed.at(-1)?.seen;
  if (units.length === 0) return undefined;
  const paths = new Set(units.flatMap(({ files }) => inOrder(files).map(({ path }) => path)));
  return { nics: units.map(({ nic }) => nic), paths, ...(seen ? { seen } : {}) };
}

async function carryOut(
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
  const { state: next, failures, ...rest } = await transact(pending, known, host, context);
  const nics = [
    ...units.map((unit) => unitResult(unit, failures.get(unit))),
    ...refused.map(refusedResult),
  ];
  const inNumber = nics.toSorted((a, b) => a.index - b.index);
  return { state: next, nics: inNumber, units: pending, ...rest };
}

/** What was right already still has to be written down as ours. */
async function conclude(
  nics: readonly NicResult[],
  state: AgentState,
  request: JobRequest,
  context: Context,
): Promise<Findings> {
  const warnings = warningsOf(nics, context.sysctls);
  const memory = memoryOf(state, request);
  try {
    await context.stateFile.write(state);
    return { nics, warnings, ...memory };
  } catch (error) {
    const { message } = error as Error;
    const failure = { state: 'Failed', reason: 'PersistFailed', message } as const;
    const unsaved = nics.map((nic) => (isGood(nic) ? { ...nic, ...failure } : nic));
    return { nics: unsaved, warnings, ...memory, failed: true };
  }
}

/** A host of another family that has nothing of ours is as clean as it can be. */
function ofWrongFamily(request: JobRequest, known: readonly unknown[], message: string): Findings {
  const asked = request.action !== 'cleanup' && request.interfaces.length > 0;
  if (known.length === 0 && !asked) return { nics: [], warnings: [] };
  return failedWhole(request, { reason: 'WrongFamily', message });
}

function refusedWhole(reason: RefusalReason, message: string): Findings {
  return { refusal: { reason, message }, nics: [], warnings: [] };
}

function failedWhole({ interfaces }: JobRequest, refusal: Refusal): Findings {
  const nics = interfaces.map(({ mac, index, portId }) =>
    refusedResult({ target: { mac, index, ...(portId ? { portId } : {}) }, name: '', refusal }),
  );
  // Without NICs there is no other place for it.
  return { nics, warnings: nics.length === 0 ? [refusal.message] : [], failed: true };
}
