import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Effect } from '../../api/effects.ts';
import { annotations, finalizers, managementGroup } from '../../api/names.ts';
import {
  type OpenstackConfigSettings,
  type OpenstackConfigStatus,
  openstackConfigSpec,
  openstackConfigStatus,
} from '../../api/openstackconfig.ts';
import { type Pause, pauseOf } from '../../api/pause.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import { defineResource } from '../../kube/resource.ts';
import type { Owner } from '../../plan/plan.ts';
import type { Perform } from '../../process/effects.ts';

/** An OpenstackConfig as read: an API server without our schema may return anything. */
export interface ConfigObject extends KubeObject {
  readonly spec?: unknown;
  readonly status?: unknown;
}

export const openstackConfigs = defineResource<ConfigObject>({
  group: managementGroup,
  version: 'v1alpha1',
  plural: 'openstackconfigs',
  kind: 'OpenstackConfig',
  namespaced: true,
});

/** Parsed statuses by raw status: a sync reads the same status a dozen times. */
const parsedStatuses = new WeakMap<object, OpenstackConfigStatus>();

/**
 * Returns the readable status fields; the next status write replaces unreadable fields. Parsed field by
 * field: a broken field must not lose `deliveredTo` or a used approval.
 */
export function statusOf({ status }: ConfigObject): OpenstackConfigStatus {
  if (typeof status !== 'object' || status === null) return {};
  const known = parsedStatuses.get(status);
  if (known) return known;
  const whole = openstackConfigStatus.safeParse(status);
  const parsed = whole.success ? whole.data : (readableStatus.safeParse(status).data ?? {});
  parsedStatuses.set(status, parsed);
  return parsed;
}

const readableStatus = z.object(
  Object.fromEntries(
    Object.entries(openstackConfigStatus.shape).map(([key, field]) => [
      key,
      z.catch(field, undefined),
    ]),
  ),
);

export function ownerOf({ metadata: { namespace = '', name, uid = '' } }: ConfigObject): Owner {
  return { namespace, name, uid };
}

export function generationOf({ metadata }: ConfigObject): number {
  return metadata.generation ?? 0;
}

/** Shortens a value to the length allowed in the status; a longer value would make every status write fail. */
function shortened(value: string): string {
  const hash = () => createHash('sha256').update(value).digest('hex');
  return value.length <= 253 ? value : `${value.slice(0, 180)} ${hash()}`;
}

/** Returns the value requesting a full sync, from either annotation; '': no request. */
export function reconcileAtOf({ metadata }: ConfigObject): string {
  const values = metadata.annotations ?? {};
  const requests = [values[annotations.reconcileAt], values[annotations.forceReconcile]];
  return shortened(requests.filter(Boolean).join(' '));
}

/** Returns the value of the annotation multinic.io/reconcile-at as stored in the status; '': none. */
export function reconcileRequestOf({ metadata }: ConfigObject): string {
  return shortened(metadata.annotations?.[annotations.reconcileAt] ?? '');
}

/** Returns the value releasing blocked removals; '': none. */
export function allowRemovalsOf({ metadata }: ConfigObject): string {
  return shortened(metadata.annotations?.[annotations.allowRemovals] ?? '');
}

/** Returns whether the operator has already written the object's status. */
function isObserved(object: ConfigObject): boolean {
  return statusOf(object).observedGeneration !== undefined;
}

/**
 * Returns whether the object has an unused approval of removals. An annotation present at creation is no
 * approval: the value may be copied from an earlier object, where different removals were approved.
 */
export function hasRemovalApproval(object: ConfigObject): boolean {
  const value = allowRemovalsOf(object);
  return isObserved(object) && value !== '' && value !== statusOf(object).lastHandledAllowRemovals;
}

/**
 * Returns whether nodes stay unchanged when the object is deleted: by deletionPolicy, or because a legacy
 * Viola deletes nothing.
 */
export function isRetained(object: ConfigObject): boolean {
  return deletionPolicyOf(object) === 'Retain' || isOfLegacyViola(object);
}

/** Returns what happens to the NICs when the object is deleted; unset: Ask. */
export function deletionPolicyOf(
  object: ConfigObject,
): NonNullable<OpenstackConfigSettings['deletionPolicy']> {
  return settingsOf(object).deletionPolicy ?? 'Ask';
}

/** Returns whether the object delivers through a legacy Viola. */
export function isOfLegacyViola(object: ConfigObject): boolean {
  return settingsOf(object).violaCompatibility === 'legacy';
}

/** Returns whether the nodes are only checked. */
export function observesNodes(object: ConfigObject): boolean {
  return settingsOf(object).mode === 'Observe';
}

/** Settings by raw spec: a read of the nodes needs the mode of each object once a minute. */
const parsedSettings = new WeakMap<object, OpenstackConfigSettings>();

function settingsOf({ spec }: ConfigObject): OpenstackConfigSettings {
  if (typeof spec !== 'object' || spec === null) return {};
  const settings =
    parsedSettings.get(spec) ?? openstackConfigSpec.safeParse(spec).data?.settings ?? {};
  parsedSettings.set(spec, settings);
  return settings;
}

/** Returns the OpenstackConfig, as `namespace/name`, to take nodes over from; '': none. */
export function takeOverFromOf({ metadata }: ConfigObject): string {
  return metadata.annotations?.[annotations.takeOverFrom]?.trim() ?? '';
}

/** Returns the OpenstackConfig, as `namespace/name`, allowed to take over this config's nodes; '': none. */
export function handOverToOf({ metadata }: ConfigObject): string {
  return metadata.annotations?.[annotations.handOverTo]?.trim() ?? '';
}

const ours: readonly string[] = [finalizers.openstackConfig, ...finalizers.openstackConfigEarlier];

/** Returns whether deletion waits for the operator; finalizers from earlier generations count too. */
export function hasFinalizer({ metadata }: ConfigObject): boolean {
  return metadata.finalizers?.some((name) => ours.includes(name)) === true;
}

/** Returns the finalizers with our current finalizer in place of finalizers from earlier generations. */
export function withFinalizer(object: ConfigObject): string[] {
  return [...withoutFinalizer(object), finalizers.openstackConfig];
}

function withoutFinalizer({ metadata }: ConfigObject): string[] {
  return (metadata.finalizers ?? []).filter((name) => !ours.includes(name));
}

/**
 * Returns whether two object states differ in a field that needs a reconcile; the operator's status writes do
 * not count.
 */
export function needsReconcile(before: ConfigObject, now: ConfigObject): boolean {
  return (
    before.metadata.generation !== now.metadata.generation ||
    before.metadata.uid !== now.metadata.uid ||
    before.metadata.deletionTimestamp !== now.metadata.deletionTimestamp ||
    !isSamePause(pauseOf(before), pauseOf(now)) ||
    reconcileAtOf(before) !== reconcileAtOf(now) ||
    allowRemovalsOf(before) !== allowRemovalsOf(now) ||
    takeOverFromOf(before) !== takeOverFromOf(now)
  );
}

function isSamePause(a: Pause, b: Pause): boolean {
  return a.isPaused === b.isPaused && a.unclear === b.unclear;
}

interface Writer {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly perform: Perform<Effect>;
}

/**
 * Adds the finalizer, which blocks deletion until the nodes are clean. Replaces finalizers from earlier
 * generations.
 */
export async function addFinalizer(
  object: ConfigObject,
  { client, perform }: Writer,
  signal: AbortSignal,
): Promise<void> {
  const wanted = withFinalizer(object);
  const present = object.metadata.finalizers ?? [];
  const complete = present.length === wanted.length && present.includes(finalizers.openstackConfig);
  if (complete) return;
  await perform('operator.finalizer.add', async () => write(object, wanted, client, signal));
}

/** Removes the finalizer to release the object. */
export async function removeFinalizer(
  object: ConfigObject,
  { client, perform }: Writer,
  signal: AbortSignal,
): Promise<void> {
  await perform('operator.finalizer.remove', async () => {
    try {
      await write(object, withoutFinalizer(object), client, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  });
}

/** Replaces the whole list; resourceVersion protects concurrent changes to the list. */
async function write(
  { metadata: { namespace = '', name, resourceVersion } }: ConfigObject,
  list: readonly string[],
  client: Writer['client'],
  signal: AbortSignal,
): Promise<void> {
  const patch = { metadata: { resourceVersion, finalizers: list } };
  await client.patch(openstackConfigs, { namespace, name }, patch, { signal });
}
