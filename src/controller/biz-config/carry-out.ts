import type { NodeConfig } from '../objects/stores.ts';
import { atOnce } from './at-once.ts';
import type { Observed } from './holders.ts';
import type { LiveObjects, Written } from './live-objects.ts';
import { connections, type Ownerships } from './ownerships.ts';
import type { ExpansionPlan, NodeWrite, PlannedNode } from './plan.ts';

/** Writes of one visit. The rest waits for the next visit, which sees an edit or a mode that came meanwhile. */
const mostWrites = 200;
/** For a cache that lags behind the API server. */
const lagPauseMs = 1_000;

export interface CarriedOut {
  /** Why the API server refused the object of an entry, by the position of the entry. */
  readonly failures: ReadonlyMap<number, string>;
  /** Positions of the entries whose object is not written yet; their objects still have the state of an earlier spec. */
  readonly open: ReadonlySet<number>;
  /** When the rest of the plan is due; undefined: all is done. */
  readonly againInMs: number | undefined;
}

export const nothingDone: CarriedOut = {
  failures: new Map(),
  open: new Set(),
  againInMs: undefined,
};

interface Context {
  readonly live: LiveObjects;
  readonly ownerships: Ownerships;
  readonly observed: Observed;
  readonly signal: AbortSignal;
}

type Writing = (context: Context, progress: Progress) => Promise<void>;

/** Brings the objects of a source to its plan. Rejects when the API server cannot be reached. */
export async function carryOut(plan: ExpansionPlan, context: Context): Promise<CarriedOut> {
  const all: Writing[] = [
    ...plan.releases.map((config) => release(config)),
    ...plan.nodes.flatMap((node) =>
      node.step.kind === 'write' ? [write(node, node.step.write)] : [],
    ),
    ...plan.deletions.map((config) => remove(config)),
  ];
  const progress = new Progress();
  for (const { entry, step } of plan.nodes) {
    if (step.kind === 'write') progress.open.add(entry.position);
  }
  await atOnce(connections, all.slice(0, mostWrites), (one) => one(context, progress));
  if (all.length > mostWrites) progress.again(0);
  return progress;
}

class Progress implements CarriedOut {
  readonly failures = new Map<number, string>();
  readonly open = new Set<number>();
  againInMs: number | undefined;

  again(ms: number): void {
    this.againInMs = Math.min(ms, this.againInMs ?? ms);
  }
}

function write({ entry }: PlannedNode, wanted: NodeWrite): Writing {
  return async ({ live, ownerships, observed, signal }, progress) => {
    const { namespace = '' } = observed.source.metadata;
    const written = await live.apply(wanted, namespace, signal);
    if (written.kind === 'done') progress.open.delete(entry.position);
    if (written.kind === 'contested' && wanted.object) {
      // Another writer may have taken the node over: the cache does not show who owns the spec.
      const ownership = await live.ownership(wanted.object, observed.marks, signal);
      ownerships.set(wanted.object, ownership);
      if (ownership !== 'own') return progress.again(0);
    }
    if (written.kind === 'contested' || written.kind === 'refused') {
      progress.failures.set(entry.position, written.message);
    }
    if (written.kind === 'moved') progress.again(lagPauseMs);
  };
}

function release(config: NodeConfig): Writing {
  return async ({ live, ownerships, observed, signal }, progress) => {
    const written = await live.release(config, observed.marks, signal);
    ownerships.forget(config);
    settle(written, progress);
  };
}

function remove(config: NodeConfig): Writing {
  return async ({ live, ownerships, observed, signal }, progress) => {
    const written = await live.delete(config, observed.marks, signal);
    if (written.kind === 'foreign') {
      ownerships.set(config, 'foreign');
      return progress.again(0);
    }
    settle(written, progress);
  };
}

function settle({ kind }: Written, progress: Progress): void {
  if (kind === 'moved') progress.again(lagPauseMs);
}
