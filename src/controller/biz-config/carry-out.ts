import { mapBounded } from '../../process/bounded.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { Observed } from './holders.ts';
import type { LiveObjects, Written } from './live-objects.ts';
import { connections, type Ownerships } from './ownerships.ts';
import type { ExpansionPlan, NodeWrite, PlannedNode } from './plan.ts';

/** Successful writes per reconcile. The rest waits for the next reconcile, which sees a newer edit or mode. */
const mostWrites = 200;
/** Requeue delay while the cache lags behind the API server. */
const lagPauseMs = 1_000;
/** Retry delay after a refused write, until a user changes the cause, such as a policy. */
const refusedPauseMs = 60_000;

export interface CarriedOut {
  /** Refusal messages from the API server by entry position. */
  readonly failures: ReadonlyMap<number, string>;
  /** Positions of entries not written yet; their objects still match an earlier spec. */
  readonly open: ReadonlySet<number>;
  /** Refused deletions, consents and label removals, with reasons. */
  readonly refusals: readonly string[];
  /** Requeue delay for the rest of the plan; undefined: complete. */
  readonly againInMs: number | undefined;
}

export const nothingDone: CarriedOut = {
  failures: new Map(),
  open: new Set(),
  refusals: [],
  againInMs: undefined,
};

interface Context {
  readonly live: LiveObjects;
  readonly ownerships: Ownerships;
  readonly observed: Observed;
  /** True: removals wait until the status shows the consent of a new annotation value. */
  readonly defersRemovals: boolean;
  readonly signal: AbortSignal;
}

/** Resolves to true if the API server stored the write. */
type Writing = (context: Context, progress: Progress) => Promise<boolean>;

/** Writes a source's objects according to the plan. Rejects if the API server is unreachable. */
export async function carryOut(plan: ExpansionPlan, context: Context): Promise<CarriedOut> {
  const { consentAt = '' } = plan;
  const isDue = ({ loses }: NodeWrite): boolean => !(loses && context.defersRemovals);
  const deletions = context.defersRemovals ? [] : plan.deletions;
  const all: Writing[] = [
    ...plan.releases.map((config) => release(config)),
    ...plan.nodes.flatMap((node) =>
      node.step.kind === 'write' && isDue(node.step.write) ? [write(node, node.step.write)] : [],
    ),
    ...plan.editConsents.map((consent) => consentToEdit(consent)),
    ...plan.deletionConsents.map((config) => consentToDeletion(config, consentAt)),
    ...deletions.map((config) => remove(config, plan.consentAt)),
  ];
  const progress = new Progress();
  for (const { entry, step } of plan.nodes) {
    if (step.kind === 'write') progress.open.add(entry.position);
  }
  await mapBounded(all, connections, async (one) => {
    // Refused writes do not count: they come first in each reconcile and would use up the limit.
    if (progress.takePlace() && !(await one(context, progress))) progress.givePlaceBack();
  });
  return progress;
}

class Progress implements CarriedOut {
  readonly failures = new Map<number, string>();
  readonly open = new Set<number>();
  readonly refusals: string[] = [];
  againInMs: number | undefined;
  #places = mostWrites;

  /** Takes one write from the limit; false: none left, the write waits for the next reconcile. */
  takePlace(): boolean {
    if (this.#places === 0) {
      this.again(0);
      return false;
    }
    this.#places -= 1;
    return true;
  }

  givePlaceBack(): void {
    this.#places += 1;
  }

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
      // Another writer may have taken the node over; the cache does not show the spec's owner.
      const ownership = await live.ownership(wanted.object, observed.marks, signal);
      ownerships.set(wanted.object, ownership);
      if (ownership !== 'own') {
        progress.again(0);
        return false;
      }
    }
    if (written.kind === 'contested' || written.kind === 'refused') {
      progress.failures.set(entry.position, written.message);
    }
    return settle(written, progress);
  };
}

function release(config: NodeConfig): Writing {
  return async ({ live, ownerships, observed, signal }, progress) => {
    const written = await live.release(config, observed.marks, signal);
    ownerships.forget(config);
    noteRefusal(written, `label of MultiNicNodeConfig ${config.metadata.name}`, progress);
    return settle(written, progress);
  };
}

function consentToEdit(consent: NodeWrite): Writing {
  return async ({ live, observed, signal }, progress) => {
    const { namespace = '' } = observed.source.metadata;
    const written = await live.apply(consent, namespace, signal);
    noteRefusal(written, `consent for MultiNicNodeConfig ${consent.metadata.name}`, progress);
    return settle(written, progress);
  };
}

function consentToDeletion(config: NodeConfig, consentAt: string): Writing {
  return async ({ live, ownerships, observed, signal }, progress) => {
    const written = await live.consentToDeletion(config, observed.marks, consentAt, signal);
    if (written.kind === 'foreign') ownerships.set(config, 'foreign');
    noteRefusal(written, `consent for MultiNicNodeConfig ${config.metadata.name}`, progress);
    return settle(written, progress);
  };
}

function remove(config: NodeConfig, consentAt: string | undefined): Writing {
  return async ({ live, ownerships, observed, signal }, progress) => {
    const written = await live.delete(config, observed.marks, consentAt, signal);
    if (written.kind === 'foreign') {
      ownerships.set(config, 'foreign');
      progress.again(0);
      return false;
    }
    noteRefusal(written, `deletion of MultiNicNodeConfig ${config.metadata.name}`, progress);
    return settle(written, progress);
  };
}

function noteRefusal(written: Written, what: string, { refusals }: Progress): void {
  if (written.kind === 'refused' || written.kind === 'contested')
    refusals.push(`${what}: ${written.message}`);
}

function settle({ kind }: Written, progress: Progress): boolean {
  if (kind === 'moved') progress.again(lagPauseMs);
  if (kind === 'refused' || kind === 'contested') progress.again(refusedPauseMs);
  return kind === 'done';
}
