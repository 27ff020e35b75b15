import { readState } from './apply/state-file.ts';
import { netplan } from './backends/netplan.ts';
import { IpSession } from './ip-session.ts';
import { observeHost, viewOf } from './observe/host.ts';
import { type AgentOptions, UsageError } from './options.ts';
import { hostAfterRemoval } from './planning/after-removal.ts';
import { planApply } from './planning/plan-apply.ts';
import { planRemoval } from './planning/plan-removal.ts';
import { type Plan, stateAfter } from './planning/unit.ts';
import { readRequest } from './request.ts';

/** What a run would do: removals first, then what it would do to the rest. */
export interface DryRun {
  readonly removal: Plan;
  readonly apply?: Plan;
}

/** Looks at the host and plans, without lock, recovery or any change. Throws a UsageError. */
export async function dryRun({ request: path, hostRoot }: AgentOptions): Promise<DryRun> {
  const read = readRequest(path);
  if ('problem' in read) throw new UsageError(`--request ${path}: ${read.problem}`);
  const { request } = read;
  const state = readState(hostRoot);
  const macs = new Set([...request.interfaces, ...state.nics].map(({ mac }) => mac));
  using ip = new IpSession();
  const host = await observeHost(viewOf(hostRoot, ip), macs, state);
  if (!host) throw new UsageError(`--host-root ${hostRoot} has no ${netplan.directory}`);
  const input = { request, state, host, backend: netplan };
  const removal = planRemoval(input);
  if (request.action === 'cleanup') return { removal };
  const kept = removal.units.reduce(stateAfter, state);
  const after = hostAfterRemoval(host, removal.units);
  return { removal, apply: planApply({ ...input, state: kept, host: after }) };
}
