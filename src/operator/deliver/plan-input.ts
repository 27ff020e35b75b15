import { calculate } from '../../plan/calculate.ts';
import type { Plan, PlanInput } from '../../plan/plan.ts';
import type { Random } from '../../time/clock.ts';
import type { CloudView } from '../observe/cloud-views.ts';
import { readEvidence } from '../observe/evidence.ts';
import type { Seen } from '../observe/observe-both.ts';
import type { Wish } from '../wish.ts';

/** The input of a plan, with everything that was seen and nothing that was proven yet. */
export function planInput(
  { config, source, cloudInterfaces, allowRemovals, takeOverFrom, force }: Wish,
  { subnets, look, held, recorded }: Seen & Pick<PlanInput, 'recorded'>,
): PlanInput {
  return {
    owner: source,
    takeOverFrom,
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
    recorded,
    cloudInterfaces: cloudInterfaces(held),
    removals: allowRemovals ? 'allowed' : 'guarded',
    force,
  };
}

/** A plan with what it was made of. */
export interface Planned {
  readonly input: PlanInput;
  readonly plan: Plan;
  /** Whether everything that the plan asked for could be read. */
  readonly evidenceComplete: boolean;
}

/** Plans, and where the plan asks for evidence about delivered ports, reads it and plans again. */
export async function prove(
  input: PlanInput,
  view: Pick<CloudView, 'cloud' | 'sightings'>,
  { random }: { readonly random: Random },
  signal: AbortSignal,
): Promise<Planned> {
  const plan = calculate(input);
  if (plan.ask.length === 0) return { input, plan, evidenceComplete: true };
  const { observation } = input;
  const witness = { ...view, listed: observation.ports };
  const { verdicts, found, complete } = await readEvidence(witness, plan.ask, random, signal);
  const read = new Set(found.map(({ id }) => id));
  const ports = [...observation.ports.filter(({ id }) => !read.has(id)), ...found];
  const wiser = { ...input, observation: { ...observation, ports }, evidence: verdicts };
  return { input: wiser, plan: calculate(wiser), evidenceComplete: complete };
}
