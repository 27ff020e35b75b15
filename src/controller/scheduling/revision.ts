import { hash } from 'node:crypto';
import * as z from 'zod';
import { findCondition } from '../../api/condition.ts';
import { isWrittenByLegacy } from '../../api/legacy-status.ts';
import { annotations } from '../../api/names.ts';
import { nicReasons } from '../../api/reasons/nic.ts';
import { machineIn, recordOf } from '../jobs/applied.ts';
import type { AgentTask } from '../jobs/runner.ts';
import { isReplaced } from '../objects/machine.ts';
import { type NodeConfig } from '../objects/stores.ts';

/** The origin of an object's content: an OpenstackConfig, a MultiNicBizConfig, a business cluster or a namespace. */
export interface Source {
  readonly uid: string;
  /** 0 for a business cluster and a namespace, where users edit single objects. */
  readonly generation: number;
}

// Any user may write the annotation; a value without a usable uid is ignored.
const sourceSchema = z.object({
  uid: z
    .string()
    .max(64)
    .regex(/^[^\s/]+$/),
  generation: z.int().min(0),
});

type Sourced = Pick<NodeConfig, 'metadata' | 'spec'>;

/**
 * Returns the object's source. Objects without a source annotation share their business cluster's source: only a new
 * agent image and changed subnet settings make a new revision; further edits never wait.
 */
export function sourceOf({ metadata, spec }: Sourced): Source {
  const noted = metadata.annotations ?? {};
  const named = readSource(noted[annotations.source]) ?? readSource(noted[annotations.bizSource]);
  if (named) return named;
  const provider = spec?.providerId;
  const uid = provider ? `provider/${shortId(provider)}` : `namespace/${metadata.namespace ?? ''}`;
  return { uid, generation: 0 };
}

const longestId = 64;

/** A revision has at most 128 characters. */
function shortId(id: string): string {
  return id.length <= longestId ? id : hash('sha256', id);
}

function readSource(text: string | undefined): Source | undefined {
  if (text === undefined) return undefined;
  try {
    return sourceSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Returns the image hash used in a revision: 12 hex digits. */
export function imageHash(image: string): string {
  return hash('sha256', image).slice(0, 12);
}

/** Earlier versions append a hash of changed settings to a revision, behind this mark. */
const changesMark = '~';

/**
 * Returns the revision of source and image that the object wants: `<source uid>/<source generation>/<hash of the agent
 * image>`.
 */
export function wantedRevision(
  config: NodeConfig,
  image: string,
  { uid, generation } = sourceOf(config),
): string {
  const base = `${uid}/${generation}/${image}`;
  const recorded = withoutChanges(recordIn(config)?.revision ?? base);
  return isOfBase(recorded, base, config) ? recorded : base;
}

/** Without an annotation, earlier versions record the object itself as the source. */
function isOfBase(own: string, base: string, { metadata }: NodeConfig): boolean {
  if (own === base) return true;
  const isOwnSource = own.startsWith(`${metadata.uid}/0/`) && imageIn(own) === imageIn(base);
  return isOwnSource && /^(provider|namespace)\//.test(base);
}

export type RecordFields = NonNullable<NonNullable<NodeConfig['status']>['applied']>;

/** Returns the object's own record without a schema, for thousands of objects; undefined: no record in force. */
export function recordIn({
  metadata,
  status,
}: Pick<NodeConfig, 'metadata' | 'status'>): RecordFields | undefined {
  if (!status?.applied || isWrittenByLegacy(status)) return undefined;
  const { applied } = status;
  return applied.undone || applied.objectUid !== metadata.uid ? undefined : applied;
}

/** True if everything in the spec is applied: thousands at rest need no comparison. */
export function isAtRest({ metadata, status }: NodeConfig): boolean {
  if (status?.observedGeneration !== metadata.generation || !status?.applied?.done) return false;
  return findCondition(status.conditions, 'Ready')?.status === 'True';
}

/** Returns a revision's source: the text before the last two slashes. */
export function sourceIn(revision: string): string {
  const image = revision.lastIndexOf('/');
  return revision.slice(0, Math.max(0, revision.lastIndexOf('/', image - 1)));
}

/** Returns a revision's image hash. */
export function imageIn(revision: string): string {
  return withoutChanges(revision).slice(revision.lastIndexOf('/') + 1);
}

/** Returns a revision of source and image alone. A source may contain the mark. */
export function withoutChanges(revision: string): string {
  const mark = revision.indexOf(changesMark, revision.lastIndexOf('/'));
  return mark < 0 ? revision : revision.slice(0, mark);
}

/** Returns the hash of changed settings that an earlier version recorded; empty: none. */
export function changesIn(revision: string): string {
  return revision.slice(withoutChanges(revision).length + changesMark.length);
}

/**
 * True if a run changes configured NICs: the record says that the node has NICs with other content. First applies,
 * retries and clean-ups do not. A run replaced before its end does: the node may still have NICs.
 */
export function changesNics(
  config: NodeConfig,
  { action, content, machine }: Pick<AgentTask, 'action' | 'content' | 'machine'>,
): boolean {
  const record = recordOf(config);
  if (action !== 'apply' || record?.action !== 'apply' || record.undone) return false;
  if (record.content === content) return false;
  const { nodeName, macs } = record;
  if (nodeName !== machine.nodeName || isReplaced(machineIn(record), machine)) return false;
  // A record from an earlier version does not list its NICs.
  return macs === undefined || macs.length > 0;
}

/** True if the object has consent to adoption, and no run had the consent: existing configuration may change. */
export function isNewAdoption(config: Pick<NodeConfig, 'metadata' | 'spec' | 'status'>): boolean {
  if (config.spec?.existingConfiguration !== 'Adopt') return false;
  const record = recordIn(config);
  return record?.action !== 'apply' || record.existingConfiguration !== 'Adopt';
}

/** True if the record has another revision of source and image. Records from earlier versions name no revision. */
export function isOtherRevision(config: NodeConfig, revision: string): boolean {
  const recorded = recordOf(config)?.revision;
  return recorded === undefined || withoutChanges(recorded) !== revision;
}

interface Ended {
  readonly done?: boolean | undefined;
  readonly reasons?: readonly string[] | undefined;
}

/** True if the agent reported on its NICs, which proves the image on a node in this cluster. */
export function isReported({ done, reasons = [] }: Ended): boolean {
  if (done !== false) return done === true;
  return reasons.length > 0 && reasons.every((reason) => Object.hasOwn(nicReasons, reason));
}
