import type { Pod } from '../../kube/core-resources.ts';
import { containerName } from '../job.ts';

type Statuses = NonNullable<NonNullable<Pod['status']>['containerStatuses']>;
export type Terminated = NonNullable<NonNullable<Statuses[number]['state']>['terminated']>;

/** What the kubelet says about the agent's container. */
export type AgentState =
  | { readonly kind: 'waiting'; readonly reason: string; readonly message: string }
  | { readonly kind: 'running' }
  | { readonly kind: 'terminated'; readonly terminated: Terminated };

/** State of the agent's container; waiting without a reason while the kubelet has said nothing. */
export function agentState({ status }: Pod): AgentState {
  const container = status?.containerStatuses?.find(({ name }) => name === containerName);
  const state = container?.state ?? {};
  if (state.terminated) return { kind: 'terminated', terminated: state.terminated };
  if (state.running) return { kind: 'running' };
  const { reason = '', message = '' } = state.waiting ?? {};
  return { kind: 'waiting', reason, message };
}

/** How the agent's container ended; undefined while it has not. */
export function terminatedOf(pod: Pod): Terminated | undefined {
  const agent = agentState(pod);
  return agent.kind === 'terminated' ? agent.terminated : undefined;
}
