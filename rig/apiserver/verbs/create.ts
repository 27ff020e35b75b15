import { type Cluster, nameSuffix, newUid, read, type Target, timestamp } from '../cluster.ts';
import { type JsonObject, without } from '../objects/json.ts';
import { type KubeObject, type Meta, withMeta } from '../objects/object.ts';
import { alreadyExists, badRequest, forbidden, notFound } from '../objects/status-error.ts';
import {
  atStorageVersion,
  atVersion,
  type ResourceType,
  resourceOf,
} from '../resources/resource-type.ts';
import { type Managed, track } from '../ssa/apply.ts';
import { managedFields, type Owners } from '../ssa/managers.ts';
import { ownable } from './content.ts';
import { decoded } from './decoded.ts';
import { refuseOverQuota } from './quota.ts';
import { refuseInvalid, refuseOtherKind, refuseOtherPlace } from './refuse.ts';
import { trackedWrite, type WriteOptions } from './write-options.ts';

const nothing: Managed = { content: {}, owners: new Map() };

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
  const metadata = freshMetadata(cluster, body, namespace, uid, type);
  const shaped = shape({ ...body, metadata }, type);
  const target: Target = { type, namespace, name: metadata.name };
  if (namespace !== undefined) refuseOverQuota(cluster, type, namespace, metadata.name);
  const write = trackedWrite(cluster, target, 'Update', options);
  const fields = managedFields(owners ?? track(nothing, trackable(shaped, type), write));
  const prepared = type.strategy.prepareCreate?.(shaped, uid) ?? shaped;
  const object = withMeta(prepared, { managedFields: fields.length > 0 ? fields : undefined });
  refuseInvalid(object, undefined, type);
  if (read(cluster, target)) throw alreadyExists(type, target.name);
  if (options.dryRun) return object;
  return atVersion(cluster.storage.put(resourceOf(type), atStorageVersion(object, type)), type);
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

function shape(object: KubeObject, type: ResourceType): KubeObject {
  const dropsStatus = type.hasStatus && !type.strategy.keepsStatus;
  return decoded(dropsStatus ? (without(object, 'status') as KubeObject) : object, type);
}

/** Status has managers of its own: its fields are not the creator's. */
function trackable(object: KubeObject, type: ResourceType): JsonObject {
  return type.hasStatus ? without(ownable(object), 'status') : ownable(object);
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
