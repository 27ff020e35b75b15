import type { HeldNode, Source } from '../../api/node-configs-http.ts';
import type { Cloud } from '../../openstack/cloud.ts';
import { calculate } from '../../plan/calculate.ts';
import { missingPorts } from '../../plan/missing-ports.ts';
import type { Plan, PlanInput } from '../../plan/plan.ts';
import type { Random } from '../../time/clock.ts';
import type { ChosenSubnets } from '../observe/choose-subnets.ts';
import { readEvidence } from '../observe/evidence.ts';
import type { Look } from '../observe/observe.ts';
import type { ResolvedConfig } from '../resolve/resolve.ts';

/** What one sync of an OpenstackConfig is to bring about. */
export interface Wish {
  readonly config: ResolvedConfig;
  readonly source: Source;
  /** NICs of the whole cloud among these nodes. */
  readonly cloudInterfaces: (held: readonly HeldNode[]) => number;
  readonly allowRemovals: boolean;
  /** Somebody asked for a full look and delivery. */
  readonly force: boolean;
}

/** The input of a plan, with everything that was seen and nothing that was proven yet. */
export function planInput(
  { config, source, cloudInterfaces, allowRemovals, force }: Wish,
  subnets: ChosenSubnets,
  look: Look,
  held: readonly HeldNode[],
): PlanInput {
  return {
    owner: source,
    selection: {
      serverIds: config.serverIds,
      serversComplete: true,
      subnetIds: subnets.ids,
      subnetsComplete: subnets.found.length === subnets.ids.length,
      pinned: { servers: true, subnets: config.subnets.kind === 'ids' },
      statuses: config.statuses,
      createdAfter: config.createdAfter,
      maxInterfaces: config.maxInterfaces,
      nodeNameKey: config.nodeNameKey,
    },
    scope: 'all',
    observation: look.observation,
    held,
    evidence: [],
    cloudInterfaces: cloudInterfaces(held),
    removals: allowRemovals ? 'allowed' : 'guarded',
    force,
  };
}

/** A plan with what it was made of. */
export interface Planned {
  readonly input: PlanInput;
  readonly plan: Plan;
}

/** Reads the evidence about delivered ports that were not seen, and plans with it. */
export async function planNodes(
  input: PlanInput,
  cloud: Cloud,
  { random }: { readonly random: Random },
  signal: AbortSignal,
): Promise<Planned> {
  const missing = missingPorts(input);
  if (missing.length === 0) return { input, plan: calculate(input) };
  const { verdicts, found } = await readEvidence(cloud, missing, random, signal);
  const { observation } = input;
  const ports = [...observation.ports, ...found];
  const wiser = { ...input, observation: { ...observation, ports }, evidence: verdicts };
  return { input: wiser, plan: calculate(wiser) };
}
