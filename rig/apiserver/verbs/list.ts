import type { Cluster } from '../cluster.ts';
import { defined, type JsonObject, without } from '../objects/json.ts';
import { type KubeObject, keyOf } from '../objects/object.ts';
import { expired, StatusError } from '../objects/status-error.ts';
import {
  apiVersionOf,
  atVersion,
  type ResourceType,
  resourceOf,
} from '../resources/resource-type.ts';
import { decodeContinuation, encodeContinuation } from '../storage/continue-token.ts';
import { fieldSelector, labelSelector, type Selector } from '../storage/selectors.ts';

/** What a list or watch is about. */
export interface Selection {
  readonly type: ResourceType;
  readonly namespace: string | undefined;
  readonly labelSelector: string;
  readonly fieldSelector: string;
}

export interface ListRequest extends Selection {
  readonly limit: number | undefined;
  readonly continueToken: string | undefined;
  readonly resourceVersion: number;
  readonly exactVersion: boolean;
}

/** True for the objects that a list or watch is about. */
export function selectorOf(selection: Selection): Selector {
  const byLabel = labelSelector(selection.labelSelector);
  const byField = fieldSelector(selection.fieldSelector, selection.type);
  const { namespace } = selection;
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    byLabel(object) &&
    byField(object);
}

/** One page of a list, all pages from the same state of the storage. */
export function list(cluster: Cluster, request: ListRequest): JsonObject {
  const { type, limit } = request;
  const from = request.continueToken ? decodeContinuation(request.continueToken) : undefined;
  const revision = from?.revision ?? wantedRevision(cluster, request);
  const rest = remaining(cluster, request, revision, from?.afterKey);
  const items = limit ? rest.slice(0, limit) : rest;
  return {
    kind: `${type.kind}List`,
    apiVersion: apiVersionOf(type),
    metadata: { resourceVersion: String(revision), ...more(request, revision, items, rest) },
    items: items.map((object) => listed(object, type)),
  };
}

/** Items of a built-in kind come without apiVersion and kind, which the list itself names. */
function listed(object: KubeObject, type: ResourceType): JsonObject {
  return type.custom ? atVersion(object, type) : without(object, 'apiVersion', 'kind');
}

function remaining(
  cluster: Cluster,
  request: ListRequest,
  revision: number,
  afterKey: string | undefined,
): readonly KubeObject[] {
  const { type, namespace } = request;
  const all = cluster.storage.listAt(resourceOf(type), revision, namespace);
  if (!all) {
    throw afterKey === undefined ? tooOld(revision, cluster) : staleContinuation(cluster, afterKey);
  }
  const selected = all.filter(selectorOf(request));
  return afterKey === undefined ? selected : selected.filter((one) => keyOf(one) > afterKey);
}

/** How a page that is not the last one says so; the count is left out when a selector made it expensive. */
function more(
  { type, labelSelector: labels, fieldSelector: fields }: ListRequest,
  revision: number,
  items: readonly KubeObject[],
  rest: readonly KubeObject[],
): JsonObject {
  const last = items.at(-1);
  if (!last || items.length === rest.length) return type.custom ? { continue: '' } : {};
  const token = encodeContinuation({ revision, afterKey: keyOf(last) });
  const counted = labels === '' && fields === '';
  return defined({
    continue: token,
    remainingItemCount: counted ? rest.length - items.length : undefined,
  });
}

/** An asked-for version is a lower bound, unless the caller wants exactly it. */
function wantedRevision(cluster: Cluster, request: ListRequest): number {
  const current = cluster.storage.revision;
  const asked = request.resourceVersion;
  if (asked > current) {
    const what = 'Too large resource version';
    const causes = [{ reason: 'ResourceVersionTooLarge', message: what, field: '' }];
    const message = `Timeout: ${what}: ${asked}, current: ${current}`;
    throw new StatusError(504, 'Timeout', message, { retryAfterSeconds: 1, causes });
  }
  return request.exactVersion && asked > 0 ? asked : current;
}

/** The answer to a watch or an exact list from before the kept history. */
export function tooOld(revision: number, cluster: Cluster): StatusError {
  return expired(`too old resource version: ${revision} (${cluster.storage.revision})`);
}

function staleContinuation(cluster: Cluster, afterKey: string): StatusError {
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
  return expired(message, encodeContinuation({ revision: cluster.storage.revision, afterKey }));
}
