import { sameJson } from '../objects/json.ts';
import { metadataCauses } from '../objects/names.ts';
import type { KubeObject, Meta } from '../objects/object.ts';
import { badRequest, type Cause, conflict, invalid, modified } from '../objects/status-error.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';
import { forbiddenCause, invalidCause } from '../resources/strategies.ts';
import { validate } from '../schema/validate.ts';

/** Throws the server's refusal when the object may not be stored over `live`. */
export function refuseInvalid(
  object: KubeObject,
  live: KubeObject | undefined,
  type: ResourceType,
): void {
  const shape = schemaCauses(object, live, type);
  const causes = [
    ...metadataCauses(object),
    ...(live ? updateCauses(object, live) : []),
    ...shape,
    ...(type.strategy.validate?.(object, live) ?? []),
  ];
  if (causes.length > 0) throw invalid(type, object.metadata.name, causes);
}

/** A custom object is refused field by field; a built-in one cannot even be decoded into its Go type. */
function schemaCauses(
  object: KubeObject,
  live: KubeObject | undefined,
  type: ResourceType,
): readonly Cause[] {
  const causes = validate(object, type.schema);
  if (type.custom) return ratcheted(causes, object, live, type);
  const [first] = causes;
  if (!first) return [];
  throw badRequest(
    `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${first.message}`,
  );
}

/** An update that leaves an invalid field as it was is accepted (CRD validation ratcheting, on by default since 1.30). */
function ratcheted(
  causes: readonly Cause[],
  object: KubeObject,
  live: KubeObject | undefined,
  type: ResourceType,
): readonly Cause[] {
  if (!live || causes.length === 0) return causes;
  const before = new Set(
    validate(live, type.schema).map((cause) => `${cause.field} ${cause.message}`),
  );
  return causes.filter(
    (cause) =>
      !before.has(`${cause.field} ${cause.message}`) ||
      !sameJson(object[topField(cause)], live[topField(cause)]),
  );
}

function topField(cause: Cause): string {
  return cause.field.split(/[.[]/)[0] ?? '';
}

function updateCauses(object: KubeObject, live: KubeObject): readonly Cause[] {
  const { uid = '' } = object.metadata;
  return [
    ...(uid === live.metadata.uid ? [] : [invalidCause('metadata.uid', uid, 'field is immutable')]),
    ...finalizerCauses(object, live),
  ];
}

function finalizerCauses(object: KubeObject, live: KubeObject): readonly Cause[] {
  if (live.metadata.deletionTimestamp === undefined) return [];
  const before = live.metadata.finalizers ?? [];
  const added = (object.metadata.finalizers ?? []).filter((one) => !before.includes(one));
  if (added.length === 0) return [];
  const list = added.map((one) => JSON.stringify(one)).join(', ');
  return [
    forbiddenCause(
      'metadata.finalizers',
      `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
    ),
  ];
}

/** Throws when the body's kind is not the path's; in a custom kind that is an invalid field, in a built-in one no body. */
export function refuseOtherKind(object: KubeObject, type: ResourceType): void {
  const wanted = apiVersionOf(type);
  if (object.kind === type.kind && object.apiVersion === wanted) return;
  if (object.apiVersion !== wanted) {
    const both = `the API version in the data (${object.apiVersion}) does not match the expected API version (${wanted})`;
    throw badRequest(both);
  }
  if (!type.custom) {
    throw badRequest(
      `${object.kind} in version "${type.version}" cannot be handled as a ${type.kind}`,
    );
  }
  const cause = invalidCause('kind', object.kind, `must be ${type.kind}`);
  throw invalid({ ...type, kind: object.kind }, object.metadata.name, [cause]);
}

/** Throws when the body's name or namespace is not the path's. */
export function refuseOtherPlace(
  object: KubeObject,
  place: { readonly namespace: string | undefined; readonly name?: string },
): void {
  const { name, namespace } = object.metadata;
  if (namespace !== undefined && namespace !== '' && namespace !== place.namespace) {
    throw badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  if (place.name !== undefined && name !== '' && name !== place.name) {
    throw badRequest(
      `the name of the object (${name}) does not match the name on the URL (${place.name})`,
    );
  }
}

/** Throws when a write was computed from another state. */
export function refuseStale(asked: Meta, live: KubeObject, type: ResourceType): void {
  const { name, resourceVersion } = live.metadata;
  if (asked.resourceVersion && asked.resourceVersion !== resourceVersion)
    throw modified(type, name);
}

/** Throws when a PUT is meant for another object of the name, or lacks the resource version its kind needs. */
export function refuseReplacement(
  { metadata }: KubeObject,
  live: KubeObject,
  type: ResourceType,
): void {
  const { name, uid } = live.metadata;
  if (metadata.uid && metadata.uid !== uid) {
    const both = `UID in precondition: ${metadata.uid}, UID in object meta: ${uid ?? ''}`;
    throw conflict(type, name, `Precondition failed: ${both}`);
  }
  if (type.unconditionalUpdate || metadata.resourceVersion) return;
  const why = 'must be specified for an update';
  throw invalid(type, name, [invalidCause('metadata.resourceVersion', 0, why)]);
}
