import { type Cluster, read, type Target } from '../cluster.ts';
import { defined, type Json } from '../objects/json.ts';
import { type KubeObject, parseObject, withMeta } from '../objects/object.ts';
import {
  badRequest,
  conflict,
  notFound,
  StatusError,
  unclassified,
} from '../objects/status-error.ts';
import { apiVersionOf } from '../resources/resource-type.ts';
import { apply, type Managed } from '../ssa/apply.ts';
import { conflictCauses, conflictMessage } from '../ssa/conflicts.ts';
import { ownersOf } from '../ssa/managers.ts';
import { typeProblems } from '../ssa/type-problems.ts';
import { applicable, ownable, withContent } from './content.ts';
import { create } from './create.ts';
import { decoded } from './decoded.ts';
import { refuseOtherKind, refuseOtherPlace, refuseStale } from './refuse.ts';
import { commit, liveObject, scoped, update } from './update.ts';
import { trackedWrite, type WriteOptions } from './write-options.ts';

export interface ApplyOptions extends WriteOptions {
  readonly force?: boolean;
  /** Called before an apply creates the object: the caller may be allowed to patch only. */
  readonly mayCreate?: () => void;
}

/** Changes an object by a patch; a resource version in its result is a condition. */
export function patchLive(
  cluster: Cluster,
  target: Target,
  patched: (live: Json) => Json,
  options: WriteOptions,
): KubeObject {
  const change = (live: KubeObject): KubeObject => {
    const parsed = parseObject(patched(live));
    if ('problem' in parsed) throw badRequest(parsed.problem);
    refuseOtherKind(parsed.object, target.type);
    refuseOtherPlace(parsed.object, target);
    return parsed.object;
  };
  return update(cluster, target, change, options);
}

/** Server-side apply: creates the object, or merges the configuration into it. */
export function applyConfiguration(
  cluster: Cluster,
  target: Target,
  config: KubeObject,
  options: ApplyOptions,
): KubeObject {
  const { type } = target;
  refuseOtherObject(config, target);
  if (config.metadata.managedFields) throw badRequest('metadata.managedFields must be nil');
  refuseUntyped(config, target);
  if (read(cluster, target)) return applyToLive(cluster, target, config, options);
  if (options.subresource) throw notFound(type, target.name);
  return applyToNothing(cluster, target, config, options);
}

function applyToLive(
  cluster: Cluster,
  target: Target,
  config: KubeObject,
  options: ApplyOptions,
): KubeObject {
  const { type } = target;
  const live = liveObject(cluster, target);
  refuseStale(config.metadata, live, type);
  const before = { content: ownable(live), owners: ownersOf(live.metadata.managedFields) };
  const merged = settle(cluster, before, target, config, options);
  const { uid } = config.metadata;
  const meant = withMeta(withContent(live, merged.content), uid ? { uid } : {});
  const proposed = scoped(meant, live, type, options.subresource);
  return commit(cluster, target, live, decoded(proposed, type), merged.owners, options);
}

function applyToNothing(
  cluster: Cluster,
  target: Target,
  config: KubeObject,
  options: ApplyOptions,
): KubeObject {
  const { type, name, namespace } = target;
  options.mayCreate?.();
  const { uid } = config.metadata;
  if (uid) {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflict(type, name, why);
  }
  const nothing = { content: {}, owners: new Map() };
  const { content, owners } = settle(cluster, nothing, target, config, options);
  const bare: KubeObject = {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: defined({ name, namespace }) as KubeObject['metadata'],
  };
  return create(cluster, { type, namespace }, withContent(bare, content), options, owners);
}

/** Merges and settles ownership; throws the 409 that names fields and owners. */
function settle(
  cluster: Cluster,
  before: Managed,
  target: Target,
  config: KubeObject,
  options: ApplyOptions,
): Managed {
  const wanted = applicable(config, target.type, options.subresource);
  const write = trackedWrite(cluster, target, 'Apply', options);
  const result = apply(before, wanted, write, options.force === true);
  if (result.kind === 'applied') return result;
  throw new StatusError(409, 'Conflict', conflictMessage(result.conflicts), {
    causes: conflictCauses(result.conflicts),
  });
}

/** A custom kind takes no field that its schema does not declare: an apply of one is an error, not pruned. */
function refuseUntyped(config: KubeObject, { type, name }: Target): void {
  const problems = typeProblems(config, type.schema);
  if (problems.length === 0) return;
  const what = `${config.metadata.namespace ?? ''}/${name}; ${apiVersionOf(type)}, Kind=${type.kind}`;
  throw unclassified(`failed to create typed patch object (${what}): ${problems.join('; ')}`);
}

function refuseOtherObject(config: KubeObject, target: Target): void {
  const { apiVersion, kind } = config;
  if (kind !== target.type.kind || apiVersion !== apiVersionOf(target.type)) {
    throw badRequest(`invalid object type: ${apiVersion}, Kind=${kind}`);
  }
  refuseOtherPlace(config, target);
}
