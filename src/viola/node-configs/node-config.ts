import * as z from 'zod';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import { annotations, businessGroup, fieldManagers, labels } from '../../api/names.ts';
import { KubeError } from '../../kube/errors.ts';
import type { ObjectMeta } from '../../kube/object.ts';
import { defineResource } from '../../kube/resource.ts';

export const nodeConfigs = defineResource<MultiNicNodeConfig>({
  group: businessGroup,
  version: 'v1',
  plural: 'multinicnodeconfigs',
  kind: 'MultiNicNodeConfig',
  namespaced: true,
});

/**
 * True if the object belongs to the provider. Two registrations may name one cluster and namespace, and neither token
 * may reach the other's nodes. Objects without provider, or with the take-over annotation, belong to any provider.
 */
export function isOf(providerId: string, object: MultiNicNodeConfig): boolean {
  const { providerId: owner } = textsOf(object);
  return (
    owner === '' ||
    owner === providerId ||
    object.metadata.annotations?.[annotations.takeOver] !== undefined
  );
}

/** Returns the object's node name; an object without node name, refused by the controller, goes by its own name. */
export function nodeNameOf(object: MultiNicNodeConfig): string {
  return textsOf(object).nodeName || object.metadata.name;
}

/** True if the object concerns this server; the API server and Nova may spell ids in different case. */
export function isOnServer(object: MultiNicNodeConfig, instanceId: string | undefined): boolean {
  const own = textsOf(object).instanceId.toLowerCase();
  return own !== '' && own === instanceId?.toLowerCase();
}

/** Returns the object's Nova server id in lower case; '' when missing. */
export function instanceIdOf(object: MultiNicNodeConfig): string {
  const id = textsOf(object).instanceId || object.metadata.labels?.[labels.instanceId] || '';
  return id.trim().toLowerCase();
}

const text = z.string().trim().catch('');
const texts = z.object({ providerId: text, nodeName: text, instanceId: text });

/** Returns the readable identity fields; an earlier, looser schema admitted any content. */
function textsOf({ spec }: { readonly spec: unknown }): z.infer<typeof texts> {
  return texts.catch({ providerId: '', nodeName: '', instanceId: '' }).parse(spec);
}

/** Returns whether an older CRD does not declare the field of spec. */
export function isUndeclared(error: unknown, field: string): boolean {
  return (
    error instanceof KubeError &&
    error.message.includes(`.spec.${field}: field not declared in schema`)
  );
}

const pause = z.object({
  'f:metadata': z.object({
    'f:annotations': z.object({ [`f:${annotations.paused}`]: z.object({}) }),
  }),
});
const mode = z.object({ 'f:spec': z.object({ 'f:mode': z.object({}) }) });
const consent = z.object({ 'f:spec': z.object({ 'f:existingConfiguration': z.object({}) }) });
const managed = z
  .array(z.object({ manager: z.string().catch(''), fieldsV1: z.unknown() }))
  .catch([]);

/**
 * Returns whether Viola set the annotation multinic.io/paused, for mode Observe. A user's annotation has a different field
 * manager.
 */
export function isPausedToObserve(object: Managed): boolean {
  return sets(object, pause);
}

/** Returns whether Viola set `spec.mode`; a user may have removed or changed the annotation since. */
export function isSetToObserve(object: Managed): boolean {
  return sets(object, mode);
}

/** Returns whether Viola set `spec.existingConfiguration`. */
export function isSetToAdopt(object: Managed): boolean {
  return sets(object, consent);
}

interface Managed {
  readonly metadata: ObjectMeta;
}

function sets({ metadata }: Managed, field: z.ZodType): boolean {
  return managed
    .parse(metadata.managedFields)
    .some(
      ({ manager, fieldsV1 }) =>
        manager === fieldManagers.viola && field.safeParse(fieldsV1).success,
    );
}
