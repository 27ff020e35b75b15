import { readState } from './apply/state-file.ts';
import { bootId } from './apply/workshop.ts';
import { netplan } from './backends/netplan.ts';
import { IpSession } from './ip-session.ts';
import { observeHost, viewOf, wrongFamily } from './observe/host.ts';
import { type AgentOptions, UsageError } from './options.ts';
import { planAll, type WholePlan } from './planning/plan.ts';
import { readRequest } from './request.ts';
import { atBoot } from './state.ts';

/** Looks at the host and plans as a run would, without lock, recovery or any change. Throws a UsageError. */
export async function dryRun({ request: path, hostRoot }: AgentOptions): Promise<WholePlan> {
  const read = readRequest(path);
  if ('problem' in read) throw new UsageError(`--request ${path}: ${read.problem}`);
  const { request } = read;
  const boot = bootId();
  const state = atBoot(readState(hostRoot), boot);
  const macs = new Set([...request.interfaces, ...state.nics].map(({ mac }) => mac));
  using ip = new IpSession();
  const view = viewOf(hostRoot, ip);
  const host = await observeHost(view, macs, state);
  const problem = wrongFamily(view, host);
  if (problem) throw new UsageError(`--host-root ${hostRoot}: ${problem}`);
  return planAll({ request, state, host, backend: netplan, bootId: boot });
}
