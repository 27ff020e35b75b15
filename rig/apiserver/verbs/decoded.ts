import type { KubeObject } from '../objects/object.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import { withDefaults } from '../schema/defaults.ts';
import { prune } from '../schema/prune.ts';

/** The object as the server understands it: unknown fields dropped, defaults filled in. */
export function decoded(object: KubeObject, type: ResourceType): KubeObject {
  const known = type.custom ? prune(object, type.schema) : object;
  const shaped = withDefaults(known, type.schema);
  return type.strategy.decode?.(shaped) ?? shaped;
}
