import { writeFileSync } from 'node:fs';
import type { Effect } from '../api/effects.ts';
import type { JobRequest, NicResult } from '../api/job.ts';
import type { Perform } from '../process/effects.ts';
import type { Logger } from '../process/log.ts';
import type { Clock } from '../time/clock.ts';
import { readJournals } from './apply/journal.ts';
import { recover } from './apply/recover.ts';
import { readState, UnknownStateError } from './apply/state-file.ts';
import { transact } from './apply/transaction.ts';
import { bootId, openWorkshop, type Workshop } from './apply/workshop.ts';
import { netplan } from './backends/netplan.ts';
import { dryRun } from './dry-run.ts';
import type { Host } from './host.ts';
import { type Ip, IpSession } from './ip-session.ts';
import { underLock } from './lock.ts';
import { refusedResult, unitResult } from './nic-results.ts';
import { observeHost } from './observe/host.ts';
import { type AgentOptions, parseOptions, UsageError, usage } from './options.ts';
import { planApply } from './planning/plan-apply.ts';
import { planRemoval } from './planning/plan-removal.ts';
import type { Refusal } from './planning/refuse.ts';
import { unitLines } from './planning/text.ts';
import { isDone, type Plan, stateAfter } from './planning/unit.ts';
import { readRequest } from './request.ts';
import { type Findings, isGood, jobResultOf } from './result.ts';
import { advanceFence, type HostState, staleness } from './state.ts';
import { warningsOf } from './warnings.ts';

export interface AgentDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly perform: Perform<Effect>;
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
    const text = options ? JSON.stringify(await dryRun(options), undefined, 2) : usage;
    deps.print(`${text}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    deps.complain(`multinic agent: ${error.message}\n\n${usage}`);
    return usageExit;
  }
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
    // Made first, so that it starts while the agent reads what there is to read.
    using ip = new IpSession();
    return await underLock(deps, () => configure(request, options, { ...deps, ip }));
  } catch (error) {
    deps.log.error({ err: error }, 'run failed');
    if (error instanceof UnknownStateError) return refusedWhole('UnknownState', error.message);
    return failedWhole(request, { reason: 'ApplyFailed', message: (error as Error).message });
  }
}

async function configure(
  request: JobRequest,
  { hostRoot }: AgentOptions,
  deps: AgentDeps & { readonly ip: Ip },
): Promise<Findings> {
  const onDisk = readState(hostRoot);
  const journals = readJournals(hostRoot);
  const macs = [...request.interfaces, ...onDisk.nics, ...journals].map(({ mac }) => mac);
  const workshop = openWorkshop(hostRoot, request, onDisk, new Set(macs), deps);

  const { state: known, stuck } = await recover(journals, onDisk, workshop);
  const stale = staleness(known, request);
  if (stale) return refusedWhole('StaleRequest', stale);
  const host = await observeHost(workshop.view, workshop.macs, known);
  const unusable = host ? netplan.unusable(host.files) : 'this host has no /etc/netplan';
  if (!host || unusable) {
    // A host of another family that has nothing of ours is as clean as it can be.
    const clean = known.nics.length === 0 && (isCleanup(request) || !request.interfaces.length);
    const message = `${unusable}; supported is netplan with networkd`;
    return clean
      ? { nics: [], warnings: [] }
      : failedWhole(request, { reason: 'PersistFailed', message });
  }
  deps.signal.throwIfAborted();

  const site = { request, workshop, stuck };
  const removed = await removeObsolete(site, advanceFence(known, request), host);
  const applied = await applyRequested(site, removed.state, removed.host);
  const nics = [...applied.nics, ...removed.nics];
  // One that neither the request nor state.json knows any more is still in hand.
  const left = journals.flatMap(({ mac, index }) => {
    const refusal = nics.some((nic) => nic.mac === mac) ? undefined : stuck.get(mac);
    return refusal ? [refusedResult({ target: { mac, index }, name: '', refusal })] : [];
  });
  return conclude([...nics, ...left], applied.state, workshop);
}

interface Site {
  readonly request: JobRequest;
  readonly workshop: Workshop;
  /** NICs, by MAC, that nothing more may be done to. */
  readonly stuck: ReadonlyMap<string, Refusal>;
}

interface Step {
  readonly state: HostState;
  readonly nics: readonly NicResult[];
}

/** Removals come first and are done before anything is added: they free names and tables. */
async function removeObsolete(site: Site, state: HostState, host: Host) {
  const { request, workshop } = site;
  const { view, macs } = workshop;
  const plan = planRemoval({ request, state, host, backend: view.backend });
  const step = await carryOut(plan, state, host, site);
  const changed = plan.units.some((unit) => !isDone(unit));
  return { ...step, host: (changed && (await observeHost(view, macs, step.state))) || host };
}

async function applyRequested(site: Site, state: HostState, host: Host): Promise<Step> {
  const { request, workshop } = site;
  if (isCleanup(request)) return { state, nics: [] };
  const plan = planApply({ request, state, host, backend: workshop.view.backend });
  return carryOut(plan, state, host, site);
}

async function carryOut(
  { units, refused }: Plan,
  state: HostState,
  host: Host,
  { workshop, stuck }: Site,
): Promise<Step> {
  const free = units.filter(({ nic }) => !stuck.has(nic.mac));
  const pending = free.filter((unit) => !isDone(unit));
  const known = free.filter(isDone).reduce(stateAfter, state);
  for (const unit of pending) {
    const { nic, action } = unit;
    workshop.log.info({ mac: nic.mac, action, steps: unitLines(unit) }, 'plan');
  }
  const { state: next, failures } = await transact(pending, known, host, workshop);
  const nics = [
    ...units.map((unit) => unitResult(unit, stuck.get(unit.nic.mac) ?? failures.get(unit))),
    ...refused.map((nic) =>
      refusedResult({ ...nic, refusal: stuck.get(nic.target.mac) ?? nic.refusal }),
    ),
  ];
  return { state: next, nics: nics.toSorted((a, b) => a.index - b.index) };
}

/** What was right already still has to be written down as ours. */
async function conclude(nics: readonly NicResult[], state: HostState, workshop: Workshop) {
  const warnings = warningsOf(nics, workshop.view.sysctls);
  try {
    await workshop.stateFile.write(state);
    return { nics, warnings };
  } catch (error) {
    const { message } = error as Error;
    const failure = { state: 'Failed', reason: 'PersistFailed', message } as const;
    const unsaved = nics.map((nic) => (isGood(nic) ? { ...nic, ...failure } : nic));
    return { nics: unsaved, warnings, failed: true };
  }
}

function isCleanup({ action }: JobRequest): boolean {
  return action === 'cleanup';
}

function refusedWhole(
  reason: 'InvalidRequest' | 'UnknownState' | 'StaleRequest',
  message: string,
): Findings {
  return { refusal: { reason, message }, nics: [], warnings: [] };
}

function failedWhole({ interfaces }: JobRequest, refusal: Refusal): Findings {
  const nics = interfaces.map(({ mac, index, portId }) =>
    refusedResult({ target: { mac, index, ...(portId ? { portId } : {}) }, name: '', refusal }),
  );
  // Without NICs there is no other place for it.
  return { nics, warnings: nics.length === 0 ? [refusal.message] : [], failed: true };
}
