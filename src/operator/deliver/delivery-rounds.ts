import type { HeldNode } from '../../api/node-configs-http.ts';
import { calculate } from '../../plan/calculate.ts';
import type { NodePlan, Problem } from '../../plan/plan.ts';
import { mapBounded } from '../../process/bounded.ts';
import { StepFailure } from '../status/step-failure.ts';
import { type DeliverOptions, type Delivery, deliver } from './deliver.ts';
import type { Planned } from './plan-nodes.ts';
import type { ViolaClient } from './viola-client.ts';
import { ViolaError } from './viola-error.ts';

/** Plans that met a change of the business cluster are made again so often, then at the next poll. */
const rounds = 3;
const readsAtOnce = 8;

export interface Rounds {
  /** The nodes as they were planned last. */
  readonly nodes: readonly NodePlan[];
  readonly delivery: Delivery;
  /** The business cluster as it was last read. */
  readonly held: readonly HeldNode[];
  /** What plans that were made again could not do. */
  readonly problems: readonly Problem[];
}

/** Delivers a plan; nodes that have moved since they were read are read again and planned again. */
export async function deliverInRounds(
  { plan: first, input }: Planned,
  options: DeliverOptions & { readonly viola: ViolaClient },
  signal: AbortSignal,
): Promise<Rounds> {
  const problems: Problem[] = [];
  const nodes = new Map(first.nodes.map((node) => [`${node.nodeName}/${node.instanceId}`, node]));
  let { held } = input;
  let delivery = await deliver(first.nodes, options, signal);
  for (let round = 1; round < rounds && delivery.stale.length > 0; round++) {
    const moved = new Set(delivery.stale);
    held = await reread(held, moved, options.viola, signal);
    const servers = first.nodes.filter(({ nodeName }) => moved.has(nodeName));
    const scope = servers.map(({ instanceId }) => instanceId);
    const plan = calculate({ ...input, held, scope });
    problems.push(...plan.problems);
    for (const node of plan.nodes) nodes.set(`${node.nodeName}/${node.instanceId}`, node);
    delivery = merge(delivery, await deliver(plan.nodes, options, signal));
  }
  const failures = [...delivery.failures, ...restless(delivery)];
  return { nodes: [...nodes.values()], delivery: { ...delivery, failures }, held, problems };
}

function restless({ stale }: Delivery): Delivery['failures'] {
  return stale.map((nodeName) => {
    const message = `viola: node ${nodeName} changes all the time; tried again at the next poll`;
    return { nodeName, message, retryAfterMs: undefined };
  });
}

/** The nodes as they are now, in place of those that have moved. */
async function reread(
  held: readonly HeldNode[],
  names: ReadonlySet<string>,
  viola: Pick<ViolaClient, 'get'>,
  signal: AbortSignal,
): Promise<HeldNode[]> {
  const reads = await mapBounded(
    [...names],
    readsAtOnce,
    async (name) =>
      viola.get(name, signal).catch((error: unknown) => {
        throw violaFailure(error);
      }),
    signal,
  );
  const others = held.filter(({ nodeName }) => !names.has(nodeName));
  return [...others, ...reads.flatMap((node) => node ?? [])];
}

function merge(before: Delivery, now: Delivery): Delivery {
  return {
    accepted: [...before.accepted, ...now.accepted],
    removed: [...before.removed, ...now.removed],
    stale: now.stale,
    waiting: [...before.waiting, ...now.waiting],
    failures: [...before.failures, ...now.failures],
  };
}

/** Without knowing what the business cluster holds nothing may be sent: names would be given twice. */
export function violaFailure(error: unknown): unknown {
  if (!(error instanceof ViolaError)) return error;
  const { message, retryAfterMs } = error;
  return new StepFailure(
    { reason: 'ViolaPostError', message },
    { cause: error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
  );
}
