import * as z from 'zod';
import { maxRemoved } from '../../api/applied-record.ts';
import { rfc3339 } from '../../api/condition.ts';
import {
  budgetWindowMs,
  countsInBudget,
  type NicRemoval,
  type RemovalBasis,
} from '../../api/removals.ts';
import { isOpen } from './evidence.ts';
import type { AgentTask, RunOutcome } from './runner.ts';

const allowedRemoval = z.object({
  mac: z.string(),
  basis: z.enum(['evidence', 'consent', 'named'] satisfies RemovalBasis[]),
  /** Evidence against a link that is present on a Ready node. */
  counts: z.boolean().optional(),
});

/** A NIC that an agent run may remove. */
export type AllowedRemoval = z.infer<typeof allowedRemoval>;

const runBasis = z.object({
  content: z.string(),
  generation: z.int(),
  at: z.iso.datetime({ offset: true }),
  removals: z.array(allowedRemoval),
  used: z.boolean().optional(),
});

/** Removals allowed for the runs of one act, stored when the first run enters the queue. */
export type RunBasis = z.infer<typeof runBasis>;

/** Record fields about removals. An unreadable field counts as missing: nothing may leave then. */
export const removalFields = {
  requested: z.array(z.string()).optional().catch(undefined),
  knownFrom: z.object({ uid: z.string(), job: z.string() }).optional().catch(undefined),
  basis: runBasis.optional().catch(undefined),
  removed: z
    .array(
      z.object({
        ...allowedRemoval.shape,
        at: z.iso.datetime({ offset: true }),
        /** Absent: the record's node. */
        node: z.string().optional(),
      }),
    )
    .optional()
    .catch(undefined),
};

type RemovalRecord = z.infer<z.ZodObject<typeof removalFields>>;
/** A removal that a run has started. */
export type StartedRemoval = NonNullable<RemovalRecord['removed']>[number];
type Content = Pick<AgentTask, 'action' | 'content'>;

/** A change of an object by which NICs leave a node. A repeated edit is a new act. */
export type Act = Pick<AgentTask, 'action' | 'content' | 'generation'>;

function contentKey({ action, content }: Content): string {
  return `${action} ${content}`;
}

/** True if the basis is for this act: consent to an edit is none to a deletion, nor to a later edit. */
export function isFor({ content, generation }: RunBasis, act: Act): boolean {
  return content === contentKey(act) && generation === act.generation;
}

/** Returns the removals by a run with evidence, once the list of NICs is newer than the run; undefined: no run. */
export function triedIfGone({
  basis,
  done,
  job,
  knownFrom,
}: TriedRun): ReadonlySet<string> | undefined {
  // A run without a result lists no NICs: the list is older than the run.
  const isListed = done === true || knownFrom?.job === job;
  if (!basis || done === undefined || !isListed) return undefined;
  return new Set(basis.removals.filter(isIfGone).map(({ mac }) => mac));
}

interface TriedRun extends Pick<RemovalRecord, 'basis' | 'knownFrom'> {
  readonly done?: boolean | undefined;
  readonly job: string;
}

/** Returns removals that a run may make: allowed for this act, and not used by a successful run. */
export function standingRemovals(
  record: Pick<RemovalRecord, 'basis'> | undefined,
  act: Act,
): readonly AllowedRemoval[] {
  const { basis } = record ?? {};
  return basis && isFor(basis, act) && !basis.used ? basis.removals : [];
}

/** True if the record lists these removals as started. */
export function isRecorded(
  { removed = [] }: { readonly removed?: readonly StartedRemoval[] | undefined },
  removals: readonly AllowedRemoval[],
): boolean {
  return removals.every((removal) => isIn(removed, removal));
}

/** Returns the record with queued removals; the same record if already complete. */
export function withQueued<T extends RemovalRecord>(
  record: T,
  act: Act,
  removals: readonly AllowedRemoval[],
  now: Date,
): T {
  const standing = standingRemovals(record, act);
  const isQueued = removals.every((removal) =>
    standing.some((one) => one.mac === removal.mac && isIfGone(one) === isIfGone(removal)),
  );
  return isQueued ? record : { ...record, basis: basisOf(act, removals, now) };
}

function basisOf(act: Act, removals: readonly AllowedRemoval[], now: Date): RunBasis {
  const { generation } = act;
  return { content: contentKey(act), generation, at: rfc3339(now), removals: [...removals] };
}

/** Removals in a run about to start. */
export interface StartedRemovals {
  /** Record from the last run on this machine; undefined: none. */
  readonly last?:
    | (RemovalRecord &
        Content & { readonly nodeName: string; readonly macs?: string[] | undefined })
    | undefined;
  /** The object's last record on any machine: its removals count for an hour; undefined: `last`. */
  readonly before?: StartedRemovals['last'];
  /** MACs that the run requests. */
  readonly requested?: readonly string[] | undefined;
  /** Removals allowed for the run. */
  readonly removals?: readonly AllowedRemoval[] | undefined;
}

/** Returns the record fields about removals: stored before the Job starts, so every removal has an older basis. */
export function startedFields(
  act: Act & { readonly nodeName: string },
  started: StartedRemovals,
  now: Date,
): RemovalRecord {
  const { last, before = last, removals = [], requested = [] } = started;
  const removed = removedWith(before, act.nodeName, removals, now);
  return {
    requested: unique([...requested, ...requestedIn(last)]),
    ...(last?.knownFrom ? { knownFrom: last.knownFrom } : {}),
    ...(removals.length > 0 ? { basis: basisOf(act, removals, now) } : {}),
    ...(removed.length > 0 ? { removed } : {}),
  };
}

/** Records of earlier versions list configured NICs only. */
function requestedIn(last: StartedRemovals['last']): readonly string[] {
  return last?.requested ?? last?.macs ?? [];
}

/** Returns the removals in the last hour, including removals starting now: a retry counts from its last start. */
function removedWith(
  last: StartedRemovals['last'],
  nodeName: string,
  removals: readonly AllowedRemoval[],
  now: Date,
): StartedRemoval[] {
  const oldest = now.getTime() - budgetWindowMs;
  const started = removals.map((removal) => ({ ...removal, at: rfc3339(now) }));
  const recent = (last?.removed ?? [])
    .filter(({ at }) => Date.parse(at) > oldest)
    .map((removal) => withNode(removal, last?.nodeName, nodeName));
  const others = recent.filter((one) => !isIn(started, one));
  const room = maxRemoved - started.length;
  // The schema refuses a longer list, and no run could start. Removals that count matter longest.
  const kept = others.length <= room ? others : others.filter(isCounted).slice(-room);
  return [...kept, ...started];
}

/** Names the node of a removal unless it is the node of the new record. */
function withNode(
  { node: named, ...removal }: StartedRemoval,
  last: string | undefined,
  next: string,
): StartedRemoval {
  const node = named ?? last;
  return node === undefined || node === next ? removal : { ...removal, node };
}

function isIn(
  list: readonly Omit<StartedRemoval, 'at'>[],
  one: Omit<StartedRemoval, 'at'>,
): boolean {
  return list.some(
    ({ mac, basis, node, ...other }) =>
      mac === one.mac &&
      node === one.node &&
      basis === one.basis &&
      isCounted({ basis, ...other }) === isCounted(one),
  );
}

/** Returns the record fields after a run; requested NICs that are not on the node and not awaited are dropped. */
export function endedFields(
  record: RemovalRecord & { readonly objectUid?: string | undefined; readonly job: string },
  verdict: RunOutcome,
  isDone: boolean,
): Partial<RemovalRecord> {
  const { basis } = record;
  return {
    ...(basis && isDone ? { basis: { ...basis, used: true } } : {}),
    ...(verdict.kind === 'result' ? listedFields(record, verdict.result) : {}),
  };
}

function listedFields(
  {
    objectUid,
    job,
    requested = [],
  }: Pick<RemovalRecord, 'requested'> & {
    readonly objectUid?: string | undefined;
    readonly job: string;
  },
  { known, nics }: Extract<RunOutcome, { kind: 'result' }>['result'],
): Partial<RemovalRecord> {
  if (!known || objectUid === undefined) return {};
  const present = new Set(known.map(({ mac }) => mac));
  const awaited = new Set(nics.filter(isOpen).map(({ mac }) => mac.toLowerCase()));
  return {
    knownFrom: { uid: objectUid, job },
    requested: requested.filter((mac) => present.has(mac) || awaited.has(mac)),
  };
}

/** Most MACs stored: twice the NICs that a host may report. */
const maxRequested = 40;

function unique(macs: readonly string[]): string[] {
  return [...new Set(macs)].slice(0, maxRequested);
}

/** True if the agent may remove the NIC only without a link with its MAC: the node confirms the evidence. */
export function isIfGone(removal: AllowedRemoval): boolean {
  return removal.basis === 'evidence' && !isCounted(removal);
}

/** True if the removal counts in the budget. */
export function isCounted(removal: Omit<AllowedRemoval, 'mac'>): boolean {
  return countsInBudget(asRemoval(removal));
}

export function asRemoval({ basis, counts = false }: Omit<AllowedRemoval, 'mac'>): NicRemoval {
  return { basis, isContradicted: counts };
}
