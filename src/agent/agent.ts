import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobRequest } from '../api/job.ts';
import type { Connect } from './apply/connectivity.ts';
import { bootId, type Tools } from './apply/context.ts';
import { readState, UnknownStateError } from './apply/memory.ts';
import { receiversOf } from './apply/receivers.ts';
import { textOf } from './apply/whole-file.ts';
import { configure, knowsIPv6, macsOf } from './configure.ts';
import { fitOf } from './fit.ts';
import type { Ip } from './ip/session.ts';
import { HostBusyError, underLock } from './lock.ts';
import { observeFamily } from './observe/family.ts';
import type { UnicastFilter } from './observe/fdb.ts';
import { hostOf, observeHost, siteAt } from './observe/host.ts';
import type { PathReader } from './path/ip.ts';
import { planAll, type WholePlan } from './planning/plan.ts';
import type { Refusal } from './planning/refusals.ts';
import { type AgentOptions, parseOptions, readRequest, UsageError, usage } from './request.ts';
import { failedWhole, jobResultOf, refusedWhole } from './result.ts';
import { checkResult, lackedRight } from './rights.ts';
import { atBoot } from './state.ts';

export interface AgentDeps extends Tools {
  /** Starts an `ip` session. */
  readonly startIp: () => Ip & Disposable;
  readonly unicastFilter: UnicastFilter;
  readonly paths: PathReader;
  readonly tcp: Connect;
  /** Stops a run before its first change. */
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
  readonly complain: (text: string) => void;
}

const usageExit = 2;

/** Runs the agent once. Returns the exit status: 0 if all NICs are as requested, 1 if not, 2 for usage errors. */
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

/** Reads the host and plans like a run, without lock, recovery or changes. Throws a UsageError. */
async function dryRun(
  { request: path, hostRoot }: AgentOptions,
  { startIp, unicastFilter }: AgentDeps,
): Promise<WholePlan> {
  const read = readRequest(path);
  if ('problem' in read) throw new UsageError(`--request ${path}: ${read.problem}`);
  const { request } = read;
  const boot = bootId();
  const state = atBoot(readState(hostRoot), boot);
  const macs = macsOf(request, state, []);
  using ip = startIp();
  const { protectedAddresses } = request;
  const site = {
    ...siteAt(hostRoot, ip, knowsIPv6(request, state)),
    known: { records: state.nics, bootId: boot, protectedAddresses },
  };
  const { backend, misfit } = fitOf(
    await observeFamily(site, { macs, protectedAddresses }),
    request,
  );
  if (!backend || misfit) throw new UsageError(`--host-root ${hostRoot}: ${misfit}`);
  const fullSite = hostOf(site, backend);
  const host = await observeHost(fullSite, macs, state);
  const input = { request, state, host, backend: fullSite.backend, bootId: boot };
  return planAll({ ...input, receives: await receiversOf(input, unicastFilter) });
}

async function run(options: AgentOptions, deps: AgentDeps): Promise<number> {
  if (options.result) checkResult(options.result);
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

/** Turns every failure into a result: without a result the Pod would look lost. */
async function findingsOf(request: JobRequest, options: AgentOptions, deps: AgentDeps) {
  try {
    const lacked = lackedRight(request, options.hostRoot);
    if (lacked) return refusedWhole('RightMissing', lacked);
    const wrong = wrongMachine(options.hostRoot, request);
    if (wrong) return refusedWhole('WrongMachine', wrong);
    // Created first: `ip` starts while the agent reads files.
    using ip = deps.startIp();
    deps.paths.start();
    const lock = { ...deps, hostRoot: options.hostRoot, readOnly: request.action === 'check' };
    return await underLock(lock, () => configure(request, options.hostRoot, { ...deps, ip }));
  } catch (error) {
    deps.log.error({ err: error }, 'run failed');
    if (error instanceof UnknownStateError) return refusedWhole('UnknownState', error.message);
    if (error instanceof HostBusyError) return refusedWhole('AlreadyRunning', error.message);
    if (error === deps.signal.reason) return failedWhole(request, stopped);
    return failedWhole(request, { reason: 'ApplyFailed', message: (error as Error).message });
  } finally {
    deps.paths.end();
  }
}

const stopped: Refusal = { reason: 'RolledBack', message: 'stopped before anything was changed' };

/** Returns why the Job is for another machine with this node name; such a Job must not touch this host. */
function wrongMachine(hostRoot: string, { machineId }: JobRequest): string | undefined {
  const own =
    machineId === undefined ? undefined : textOf(join(hostRoot, '/etc/machine-id'))?.trim();
  if (machineId === undefined || own === machineId) return undefined;
  return `this host has ${own ? `machine id ${own}` : 'no machine id'}, the Job is for machine id ${machineId}`;
}
