import type { HeldNode } from '../api/node-configs-http.ts';
import type { Network, Port, Server, Verdict } from './observation.ts';
import type { PlanInput } from './plan.ts';
import { type SubnetFacts, subnetFacts } from './subnet-facts.ts';
import { compareText } from './text-order.ts';

/** The input of a plan, made quick to look things up in. */
export interface View {
  readonly input: PlanInput;
  /** Whether unusually many removals are held back. */
  readonly hold: boolean;
  readonly servers: ReadonlyMap<string, Server>;
  readonly missingServers: ReadonlySet<string>;
  readonly subnets: ReadonlyMap<string, SubnetFacts>;
  readonly networks: ReadonlyMap<string, Network>;
  /** Place of a selected subnet in the order of precedence. */
  readonly rank: ReadonlyMap<string, number>;
  readonly heldByName: ReadonlyMap<string, HeldNode>;
  portsOf(serverId: string): readonly Port[];
  heldOf(serverId: string): readonly HeldNode[];
  verdict(serverId: string, portId: string): Verdict | undefined;
}

export function viewOf(input: PlanInput, hold: boolean): View {
  const { observation, selection, held, evidence } = input;
  const ports = Map.groupBy(observation.ports, ({ deviceId }) => deviceId);
  const byInstance = Map.groupBy(held, ({ spec }) => spec.instanceId ?? '');
  const verdicts = new Map(evidence.map((e) => [`${e.serverId}/${e.portId}`, e.verdict]));
  return {
    input,
    hold,
    servers: byId(observation.servers),
    missingServers: new Set(observation.missingServers),
    subnets: byId(observation.subnets.map(subnetFacts)),
    networks: byId(observation.networks),
    rank: new Map(selection.subnetIds.map((id, rank) => [id, rank])),
    heldByName: new Map(held.map((node) => [node.nodeName, node])),
    portsOf: (serverId) => (ports.get(serverId) ?? []).toSorted((a, b) => compareText(a.id, b.id)),
    heldOf: (serverId) => byInstance.get(serverId) ?? [],
    verdict: (serverId, portId) => verdicts.get(`${serverId}/${portId}`),
  };
}

function byId<T extends { readonly id: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.id, item]));
}
