import { type JsonObject, without } from '../objects/json.ts';
import type { KubeObject, Meta } from '../objects/object.ts';
import type { ResourceType } from '../resources/resource-type.ts';

/** Metadata that the server alone writes: never owned by a manager. */
const serverMetadata = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
];

/** The part of an object that field managers own. */
export function ownable(object: KubeObject): JsonObject {
  const metadata = without(object.metadata, ...serverMetadata);
  return { ...without(object, 'apiVersion', 'kind'), metadata };
}

/** What an applier may speak about through this path: everything but status, or status alone. */
export function applicable(
  config: KubeObject,
  type: ResourceType,
  subresource: string | undefined,
): JsonObject {
  const content = ownable(config);
  if (subresource === 'status') {
    return 'status' in content ? { status: content['status'] ?? null } : {};
  }
  return type.hasStatus ? without(content, 'status') : content;
}

/** The live object with other ownable content; what the server alone writes stays. */
export function withContent(live: KubeObject, content: JsonObject): KubeObject {
  const kept = Object.fromEntries(
    Object.entries(live.metadata).filter(([key]) => serverMetadata.includes(key)),
  );
  const metadata = { ...kept, ...(content['metadata'] as JsonObject) } as Meta;
  return { ...content, apiVersion: live.apiVersion, kind: live.kind, metadata };
}
