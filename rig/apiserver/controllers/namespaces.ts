import type { Cluster } from '../cluster.ts';
import type { KubeObject } from '../objects/object.ts';
import { resourceOf } from '../resources/resource-type.ts';
import { crdResource } from '../resources/type-registry.ts';
import { remove } from '../verbs/delete.ts';
import type { ClusterController } from './loop.ts';

/** Empties namespaces that are being deleted, then lets them go. */
export function namespaceController(cluster: Cluster): ClusterController {
  return {
    keys({ resource, key, object }) {
      const { namespace } = object.metadata;
      if (resource === 'namespaces') return [key];
      return namespace === undefined ? [] : [namespace];
    },
    reconcile(name) {
      const namespace = cluster.storage.get('namespaces', name);
      if (namespace?.metadata.deletionTimestamp === undefined) return undefined;
      if (removeAll(cluster, (object) => object.metadata.namespace === name) > 0) return undefined;
      cluster.storage.remove('namespaces', name);
      return undefined;
    },
  };
}

/** Deletes the objects of CustomResourceDefinitions that are being deleted, then lets the definition go. */
export function definitionController(cluster: Cluster): ClusterController {
  return {
    keys({ resource, key }) {
      if (resource === crdResource) return [key];
      return cluster.storage.get(crdResource, resource) ? [resource] : [];
    },
    reconcile(name) {
      const definition = cluster.storage.get(crdResource, name);
      if (definition?.metadata.deletionTimestamp === undefined) return undefined;
      if (removeAll(cluster, (_object, resource) => resource === name) > 0) return undefined;
      cluster.storage.remove(crdResource, name);
      return undefined;
    },
  };
}

/** Deletes what is not being deleted yet; says how many objects are still there. */
function removeAll(
  cluster: Cluster,
  concerned: (object: KubeObject, resource: string) => boolean,
): number {
  let left = 0;
  for (const type of cluster.types.all()) {
    if (type.version !== type.storageVersion) continue;
    const resource = resourceOf(type);
    for (const object of cluster.storage.each(resource)) {
      if (!concerned(object, resource)) continue;
      const { namespace, name, deletionTimestamp } = object.metadata;
      const gone =
        deletionTimestamp === undefined &&
        remove(cluster, { type, namespace, name }, { propagationPolicy: 'Background' }).gone;
      if (!gone) left += 1;
    }
  }
  return left;
}
