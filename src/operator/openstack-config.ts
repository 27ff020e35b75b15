import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Effect } from '../api/effects.ts';
import { annotations, finalizers, managementGroup } from '../api/names.ts';
import {
  type OpenstackConfigStatus,
  openstackConfigSpec,
  openstackConfigStatus,
} from '../api/openstackconfig.ts';
import { type Pause, pauseOf } from '../api/pause.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isNotFound } from '../kube/errors.ts';
import type { KubeObject } from '../kube/object.ts';
import { defineResource } from '../kube/resource.ts';
import type { Owner } from '../plan/plan.ts';
import type { Perform } from '../process/effects.ts';

/** An OpenstackConfig as it was read: a server without our schema may hold anything. */
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

/**
 * The status, as far as it can be read; what cannot is written anew. Field by field: one that somebody else has spoilt must
 * not make us forget where nodes are, or which leave to remove was used.
 */
export function statusOf({ status = {} }: ConfigObject): OpenstackConfigStatus {
  const whole = openstackConfigStatus.safeParse(status);
  return whole.success ? whole.data : (readableStatus.safeParse(status).data ?? {});
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

/** What the status can hold of a value; a longer one would make every write of the status fail. */
function shortened(value: string): string {
  const hash = () => createHash('sha256').update(value).digest('hex');
  return value.length <= 253 ? value : `${value.slice(0, 180)} ${hash()}`;
}

/** The value that asks for a full sync, whichever annotation it is in; '' = nobody asked. */
export function reconcileAtOf({ metadata }: ConfigObject): string {
  const values = metadata.annotations ?? {};
  const asked = [values[annotations.reconcileAt], values[annotations.forceReconcile]];
  return shortened(asked.filter(Boolean).join(' '));
}

/** The value that releases held removals; '' = none. */
export function allowRemovalsOf({ metadata }: ConfigObject): string {
  return shortened(metadata.annotations?.[annotations.allowRemovals] ?? '');
}

/** Whether we have said anything about the object yet. */
export function isObserved(object: ConfigObject): boolean {
  return statusOf(object).observedGeneration !== undefined;
}

/**
 * Whether somebody gave leave to remove that was not used yet. What a new object was made with is copied from one before,
 * where it was given for something else.
 */
export function hasLeaveToRemove(object: ConfigObject): boolean {
  const value = allowRemovalsOf(object);
  return isObserved(object) && value !== '' && value !== statusOf(object).lastHandledAllowRemovals;
}

/** Whether the nodes stay as they are when the object goes: by its deletionPolicy, or because its Viola deletes nothing. */
export function isRetained(object: ConfigObject): boolean {
  return settingsOf(object).deletionPolicy === 'Retain' || isOfLegacyViola(object);
}

/** Whether the object delivers through a legacy Viola. */
export function isOfLegacyViola(object: ConfigObject): boolean {
  return settingsOf(object).violaCompatibility === 'legacy';
}

function settingsOf({ spec }: ConfigObject) {
  return openstackConfigSpec.safeParse(spec).data?.settings ?? {};
}

/** Another OpenstackConfig, `namespace/name`, whose nodes this one may take over; '' = none. */
export function takeOverFromOf({ metadata }: ConfigObject): string {
  return metadata.annotations?.[annotations.takeOverFrom]?.trim() ?? '';
}

/** Another OpenstackConfig, `namespace/name`, that may take over the nodes of this one; '' = none. */
export function handOverToOf({ metadata }: ConfigObject): string {
  return metadata.annotations?.[annotations.handOverTo]?.trim() ?? '';
}

const ours: readonly string[] = [finalizers.openstackConfig, ...finalizers.openstackConfigEarlier];

/** Whether the object waits for us before it goes; finalizers of earlier generations are ours too. */
export function hasFinalizer({ metadata }: ConfigObject): boolean {
  return metadata.finalizers?.some((name) => ours.includes(name)) === true;
}

/** The finalizers with ours as it is called today, in place of those of earlier generations. */
export function withFinalizer(object: ConfigObject): string[] {
  return [...withoutFinalizer(object), finalizers.openstackConfig];
}

function withoutFinalizer({ metadata }: ConfigObject): string[] {
  return (metadata.finalizers ?? []).filter((name) => !ours.includes(name));
}

/** Whether two states of an object differ in something that asks for work; our own status does not. */
export function asksForWork(before: ConfigObject, now: ConfigObject): boolean {
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

/** Makes sure that the object cannot go before its nodes are clean; finalizers of earlier generations are replaced. */
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

/** Lets the object go. */
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

/** The list is replaced as a whole, so the version that it was read at goes along. */
async function write(
  { metadata: { namespace = '', name, resourceVersion } }: ConfigObject,
  list: readonly string[],
  client: Writer['client'],
  signal: AbortSignal,
): Promise<void> {
  const patch = { metadata: { resourceVersion, finalizers: list } };
  await client.patch(openstackConfigs, { namespace, name }, patch, { signal });
}
