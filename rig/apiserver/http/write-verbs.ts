import { type Cluster, read, type Target } from '../cluster.ts';
import { defined, type Json, type JsonObject } from '../objects/json.ts';
import {
  badRequest,
  invalid,
  methodNotAllowed,
  type Subject,
  unsupportedMediaType,
} from '../objects/status-error.ts';
import { requiredCause } from '../resources/strategies.ts';
import { unknownFields } from '../schema/prune.ts';
import { create } from '../verbs/create.ts';
import { remove } from '../verbs/delete.ts';
import { jsonPatch } from '../verbs/json-patch.ts';
import { mergePatch } from '../verbs/merge-patch.ts';
import { applyConfiguration, patchLive } from '../verbs/patch.ts';
import { update } from '../verbs/update.ts';
import type { WriteOptions } from '../verbs/write-options.ts';
import { decodeBody, objectOf, parseBody } from './body.ts';
import { deleteOptions } from './delete-options.ts';
import type { ResourceRequest } from './request-info.ts';

/** A write as it came: what it is about, its body, and what its headers say. */
export interface WriteCall {
  readonly request: ResourceRequest;
  readonly body: string;
  readonly contentType: string;
  readonly userAgent: string;
  /** Throws 403 unless the caller may create this kind of object. */
  readonly mayCreate: () => void;
}

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

const jsonType = 'application/json-patch+json';
const mergeType = 'application/merge-patch+json';
const applyType = 'application/apply-patch+yaml';

/** Carries out a create, update, patch or delete. */
export function write(cluster: Cluster, call: WriteCall): Answer {
  const { verb } = call.request;
  if (verb === 'create') return postObject(cluster, call);
  if (verb === 'update') return putObject(cluster, call);
  return verb === 'patch' ? patchObject(cluster, call) : deleteObject(cluster, call);
}

function postObject(cluster: Cluster, call: WriteCall): Answer {
  const { type, namespace } = call.request;
  if (type.namespaced && namespace === undefined) throw methodNotAllowed();
  // kubectl writes built-in kinds in protobuf unless it is told that only JSON is read.
  if (call.contentType.includes('protobuf')) throw unsupportedMediaType(['application/json']);
  const object = objectOf(parseBody(call.body), type);
  refuseUnknownFields(call.request, object);
  return { status: 201, body: create(cluster, { type, namespace }, object, options(call)) };
}

function putObject(cluster: Cluster, call: WriteCall): Answer {
  const target = targetOf(call.request);
  const object = objectOf(parseBody(call.body), target.type);
  refuseUnknownFields(call.request, object);
  if (object.metadata.name !== target.name) {
    throw badRequest(
      `the name of the object (${object.metadata.name}) does not match the name on the URL (${target.name})`,
    );
  }
  const body = update(cluster, target, () => object, { ...options(call), replace: true });
  return { status: 200, body };
}

function patchObject(cluster: Cluster, call: WriteCall): Answer {
  const target = targetOf(call.request);
  const [contentType = ''] = call.contentType.split(';');
  if (contentType === mergeType) {
    refuseForce(call.request.query);
    const patch = parseBody(call.body);
    refuseUnknownFields(call.request, patch);
    const patched = (live: Json) => mergePatch(live, patch);
    return { status: 200, body: patchLive(cluster, target, patched, options(call)) };
  }
  if (contentType === jsonType) {
    refuseForce(call.request.query);
    const patched = (live: Json) => jsonPatch(live, decodeBody(call.body));
    return { status: 200, body: patchLive(cluster, target, patched, options(call)) };
  }
  if (contentType !== applyType) {
    throw unsupportedMediaType([jsonType, mergeType, applyType]);
  }
  refuseAnonymousApply(call.request.query);
  const existed = read(cluster, target) !== undefined;
  const force = call.request.query.get('force') === 'true';
  const config = objectOf(parseBody(call.body, true), target.type);
  const applyOptions = { ...options(call), force, mayCreate: call.mayCreate };
  const body = applyConfiguration(cluster, target, config, applyOptions);
  return { status: existed ? 200 : 201, body };
}

function deleteObject(cluster: Cluster, call: WriteCall): Answer {
  const { query, type } = call.request;
  const { gone, object } = remove(cluster, targetOf(call.request), deleteOptions(call.body, query));
  // A deleted Pod is answered with its last state, everything else with a Status.
  if (!gone || type.plural === 'pods') return { status: 200, body: object };
  const { name, uid } = object.metadata;
  const details = defined({ name, group: type.group || undefined, kind: type.plural, uid });
  return {
    status: 200,
    body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details },
  };
}

function targetOf({ type, namespace, name = '' }: ResourceRequest): Target {
  return { type, namespace, name };
}

/** Without a name for the manager the user agent up to its first slash stands for it. */
function options({ request, userAgent }: WriteCall): WriteOptions {
  const { query, subresource } = request;
  const manager = query.get('fieldManager') || (userAgent.split('/')[0] ?? '').slice(0, 128);
  return { manager, subresource, dryRun: isDryRun(query) };
}

function isDryRun(query: URLSearchParams): boolean {
  return query.get('dryRun') === 'All';
}

const patchOptions: Subject = {
  group: 'meta.k8s.io',
  plural: 'patchoptions',
  kind: 'PatchOptions',
};

function refuseAnonymousApply(query: URLSearchParams): void {
  if (query.get('fieldManager')) return;
  throw invalid(patchOptions, '', [requiredCause('fieldManager', 'is required for apply patch')]);
}

/** Throws 400 for a field that the kind does not have when the caller asks for strict validation, as kubectl does. */
function refuseUnknownFields({ query, type }: ResourceRequest, body: JsonObject): void {
  if (!type.custom || query.get('fieldValidation') !== 'Strict') return;
  const unknown = unknownFields(body, type.schema).map((path) => `unknown field "${path}"`);
  if (unknown.length > 0) throw badRequest(`strict decoding error: ${unknown.join(', ')}`);
}

function refuseForce(query: URLSearchParams): void {
  if (query.get('force') === null) return;
  const message = 'Forbidden: may not be specified for non-apply patch';
  throw invalid(patchOptions, '', [{ reason: 'FieldValueForbidden', message, field: 'force' }]);
}
