import type { Cloud } from '../../openstack/cloud.ts';
import { missingPorts } from '../../plan/missing-ports.ts';
import type { PlanInput } from '../../plan/plan.ts';
import type { Random } from '../../time/clock.ts';
import { readEvidence } from '../observe/evidence.ts';
import type { Seen } from '../observe/observe-both.ts';
import type { Wish } from '../wish.ts';

/** The input of a plan, with everything that was seen and nothing that was proven yet. */
export function planInput(
  { config, source, cloudInterfaces, allowRemovals, force }: Wish,
  { subnets, look, held }: Seen,
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

/** The input with the evidence about delivered ports that were not seen. */
export async function prove(
  input: PlanInput,
  cloud: Cloud,
  { random }: { readonly random: Random },
  signal: AbortSignal,
): Promise<PlanInput> {
  const missing = missingPorts(input);
  if (missing.length === 0) return input;
  const { verdicts, found } = await readEvidence(cloud, missing, random, signal);
  const { observation } = input;
  const ports = [...observation.ports, ...found];
  return { ...input, observation: { ...observation, ports }, evidence: verdicts };
}
