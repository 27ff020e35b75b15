import { hash } from 'node:crypto';
import * as z from 'zod';
import { findCondition } from '../../api/condition.ts';
import { isWrittenByLegacy } from '../../api/legacy-status.ts';
import { annotations } from '../../api/names.ts';
import { nicReasons } from '../../api/reasons/nic.ts';
import { changedShared, sharedOf } from '../../api/shared-content.ts';
import { type Applied, machineIn, recordOf } from '../jobs/applied.ts';
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

/** Separates the hash of changed settings from the rest of a revision. */
const changesMark = '~';

/**
 * Returns the revision that the object wants: `<source uid>/<source generation>/<hash of the agent image>`, and
 * `~<hash>` while a recorded subnet's settings differ from the spec. A new consent to adoption is such a setting, too. Once applied, the recorded revision stays in
 * force until the source, the image or a setting changes.
 */
export function wantedRevision(
  config: NodeConfig,
  image: string,
  { uid, generation } = sourceOf(config),
): string {
  const base = `${uid}/${generation}/${image}`;
  const record = recordIn(config);
  const settings = isAtRest(config) ? [] : changedIn(config, record);
  const changed = [...settings, ...(isNewAdoption(config) ? ['existingConfiguration'] : [])];
  if (changed.length > 0)
    return `${base}${changesMark}${hash('sha256', changed.join(' ')).slice(0, 8)}`;
  const recorded = record?.revision;
  return recorded !== undefined && isOfBase(recorded, base, config) ? recorded : base;
}

/** Returns the recorded revision if source and image are unchanged; undefined otherwise. */
export function revisionBeforeChange(config: NodeConfig, image: string): string | undefined {
  const { uid, generation } = sourceOf(config);
  const recorded = recordIn(config)?.revision;
  if (recorded === undefined) return undefined;
  return isOfBase(recorded, `${uid}/${generation}/${image}`, config) ? recorded : undefined;
}

/** Without an annotation, earlier versions record the object itself as the source. */
function isOfBase(recorded: string, base: string, { metadata }: NodeConfig): boolean {
  const own = withoutChanges(recorded);
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

function changedIn({ spec }: NodeConfig, record: RecordFields | undefined): readonly string[] {
  if (!record?.shared || record.action !== 'apply') return [];
  return changedShared(record.shared, sharedOf(spec?.interfaces ?? []));
}

/** True if everything in the spec is applied: thousands at rest need no comparison. */
function isAtRest({ metadata, status }: NodeConfig): boolean {
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

/** A source may contain the mark. */
function withoutChanges(revision: string): string {
  const mark = revision.indexOf(changesMark, revision.lastIndexOf('/'));
  return mark < 0 ? revision : revision.slice(0, mark);
}

/**
 * True if the rollout budget counts a run: a record with different content and revision says the node has NICs. A new
 * consent to adoption counts, too. Other first applies, retries and clean-ups are not counted. Records from earlier versions name no revision. A run replaced before
 * its end counts too: the node may still have NICs.
 */
export function isBudgeted(
  config: NodeConfig,
  { action, content, machine }: Pick<AgentTask, 'action' | 'content' | 'machine'>,
  revision: string,
): boolean {
  const record = recordOf(config);
  if (action !== 'apply') return false;
  const adopts = isNewAdoption(config);
  if (record?.action !== 'apply' || record.undone) return adopts;
  const isSame = record.content === content && !adopts;
  if (isSame || record.revision === revision) return false;
  return adopts || hasNicsOn(machine, record);
}

/** True if the record has NICs on the machine. A record from an earlier version does not list its NICs. */
function hasNicsOn(machine: AgentTask['machine'], record: Applied): boolean {
  const { nodeName, macs } = record;
  if (nodeName !== machine.nodeName || isReplaced(machineIn(record), machine)) return false;
  return macs === undefined || macs.length > 0;
}

/** True if the object has consent to adoption, and no run had the consent: existing configuration may change. */
export function isNewAdoption(config: Pick<NodeConfig, 'metadata' | 'spec' | 'status'>): boolean {
  if (config.spec?.existingConfiguration !== 'Adopt') return false;
  const record = recordIn(config);
  return record?.action !== 'apply' || record.existingConfiguration !== 'Adopt';
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
