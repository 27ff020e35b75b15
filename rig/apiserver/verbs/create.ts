import { type Cluster, nameSuffix, newUid, read, type Target, timestamp } from '../cluster.ts';
import { without } from '../objects/json.ts';
import { type KubeObject, type Meta, withMeta } from '../objects/object.ts';
import { alreadyExists, badRequest, forbidden, notFound } from '../objects/status-error.ts';
import { atStorageVersion, type ResourceType, resourceOf } from '../resources/resource-type.ts';
import { withDefaults } from '../schema/defaults.ts';
import { prune } from '../schema/prune.ts';
import { track } from '../ssa/apply.ts';
import { managedFields, type Owners } from '../ssa/managers.ts';
import { ownable } from './content.ts';
import { refuseInvalid, refuseOtherKind, refuseOtherPlace } from './refuse.ts';
import { trackedWrite, type WriteOptions } from './write-options.ts';

/** Creates an object; `owners` when an apply has already settled who owns what. Answers what is stored now. */
export function create(
  cluster: Cluster,
  { type, namespace }: Omit<Target, 'name'>,
  body: KubeObject,
  options: WriteOptions,
  owners?: Owners,
): KubeObject {
  refuseOtherKind(body, type);
  refuseOtherPlace(body, { namespace });
  if (body.metadata.resourceVersion) {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  if (namespace !== undefined) refuseClosedNamespace(cluster, type, namespace, body);
  const uid = newUid(cluster.random);
  const named = { ...body, metadata: freshMetadata(cluster, body, namespace, uid, type) };
  const prepared = prepare(named, type, uid);
  const target: Target = { type, namespace, name: prepared.metadata.name };
  const settled =
    owners ??
    track(
      { content: {}, owners: new Map() },
      ownable(prepared),
      trackedWrite(cluster, target, 'Update', options),
    );
  const object = withMeta(prepared, { managedFields: managedFields(settled) });
  refuseInvalid(object, undefined, type);
  if (read(cluster, target)) throw alreadyExists(type, target.name);
  return options.dryRun
    ? object
    : cluster.storage.put(resourceOf(type), atStorageVersion(object, type));
}

function freshMetadata(
  cluster: Cluster,
  { metadata }: KubeObject,
  namespace: string | undefined,
  uid: string,
  type: ResourceType,
): Meta {
  const { generateName = '', name } = metadata;
  const named = name || (generateName && generateName + nameSuffix(cluster.random));
  const asked = without(metadata, 'deletionTimestamp', 'selfLink', 'generation', 'managedFields');
  return {
    ...asked,
    name: named,
    ...(namespace === undefined ? {} : { namespace }),
    uid,
    creationTimestamp: timestamp(cluster),
    ...(type.hasGeneration ? { generation: 1 } : {}),
  };
}

function prepare(object: KubeObject, type: ResourceType, uid: string): KubeObject {
  const spec = type.hasStatus ? (without(object, 'status') as KubeObject) : object;
  const shaped = withDefaults(type.custom ? prune(spec, type.schema) : spec, type.schema);
  return type.strategy.prepareCreate?.(shaped, uid) ?? shaped;
}

function refuseClosedNamespace(
  cluster: Cluster,
  type: ResourceType,
  namespace: string,
  body: KubeObject,
): void {
  const found = cluster.storage.get('namespaces', namespace);
  const namespaces = { group: '', plural: 'namespaces', kind: 'Namespace' };
  if (!found) throw notFound(namespaces, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbidden(type, body.metadata.name, why);
}
