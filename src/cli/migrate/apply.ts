import { counted } from '../../api/counted.ts';
import { namedSome } from '../../api/named-some.ts';
import { Refusal } from '../refusal.ts';
import { observe } from './observe.ts';
import { ownershipOf } from './ownership.ts';
import { type PlannedNode, planOf } from './plan.ts';
import { makeReadOnly } from './read-only.ts';
import { eachInOrder, type Run } from './run.ts';
import { checkReadable, migrationStart, type Source, shownNodes, sourceText } from './source.ts';
import { createObject, writeLabel } from './write-object.ts';

export interface ApplyOptions {
  /** Maximum wait for the controller, in milliseconds. */
  readonly timeoutMs: number;
  /** Migrates even if objects differ from their entries. */
  readonly keepDifferences: boolean;
}

/** Nodes changed by `apply`. */
export interface Applied {
  readonly created: readonly string[];
  readonly released: readonly string[];
  /** Nodes whose object another writer created in the meantime. */
  readonly existing: readonly string[];
  /** Nodes whose object the API server refused, with its message. */
  readonly refused: readonly { readonly node: string; readonly message: string }[];
}

/** Refuses a migration that cannot succeed, before any change. */
export function checkApply(
  source: Source,
  plan: readonly PlannedNode[],
  { keepDifferences }: ApplyOptions,
): void {
  const { config } = source;
  if (config.metadata.deletionTimestamp) {
    throw new Refusal(
      `${sourceText(source)} is being deleted`,
      'nothing to do: all objects and NICs stay',
    );
  }
  checkReadable(source);
  // After the start the controller follows no entry: existing differences stay.
  if (keepDifferences || migrationStart(source) !== undefined) return;
  const differing = plan.filter(({ row }) => row.state === 'differs').map(({ row }) => row.node);
  if (differing.length === 0) return;
  throw new Refusal(
    `${counted(differing.length, 'node differs', 'nodes differ')} from ${sourceText(source)}: ${namedSome(differing, shownNodes)}`,
    'wait until condition Applied is True (with reason RemovalHeld, follow its message), or give --keep-differences to leave these objects unchanged',
  );
}

/**
 * Marks the source read-only, creates missing objects and removes the label node by node. All state is in the
 * objects: an interrupted run can be repeated.
 */
export async function applyMigration(
  run: Run,
  before: Source,
  { timeoutMs }: ApplyOptions,
): Promise<Applied> {
  const source = await makeReadOnly(run, before, timeoutMs);
  const plan = planOf(source, await observe(run.client, source, run.signal));
  const created: string[] = [];
  const released: string[] = [];
  const existing: string[] = [];
  const refused: { readonly node: string; readonly message: string }[] = [];
  const missing = plan.filter(({ row }) => row.action === 'create');
  await eachInOrder(run, 'created objects', missing, async ({ row, desired }) => {
    if (!desired) return;
    const creation = await createObject(run, source, desired);
    // A failure at one node must not block the other nodes.
    if (creation.kind === 'refused') refused.push({ node: row.node, message: creation.message });
    else (creation.kind === 'created' ? created : existing).push(row.node);
  });
  const labelled = plan.filter(({ row }) => row.action === 'release');
  await eachInOrder(run, 'removed labels', labelled, async ({ row, live }) => {
    if (!live) return;
    const isOurs = (object: typeof live) => ownershipOf(object, source).isLabelled;
    if (await writeLabel(run, live, null, isOurs)) released.push(row.node);
  });
  return { created, released, existing, refused };
}
