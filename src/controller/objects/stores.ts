import * as z from 'zod';
import { consentsTo } from '../../api/delete-consent.ts';
import {
  type NodeConfigSpec,
  type NodeConfigStatus,
  nodeConfigStatus,
} from '../../api/multinicnodeconfig.ts';
import { annotations, businessGroup, labels } from '../../api/names.ts';
import { specHash } from '../../api/spec-hash.ts';
import { Store } from '../../kube/cache/store.ts';
import type { Node } from '../../kube/core-resources.ts';
import { type KubeObject, type ObjectRef, refOf } from '../../kube/object.ts';
import { defineResource } from '../../kube/resource.ts';
import { systemUuidOf } from './machine.ts';

/** Schema for the spec's identity fields; `acceptEntries` checks the entries one by one. */
const readableSpec = z.object({
  providerId: z.string().optional().catch(undefined),
  nodeName: z.string().optional(),
  instanceId: z.string().optional(),
  specHash: z.string().optional(),
  interfaces: z.array(z.unknown()).optional(),
});

export type ReadableSpec = z.infer<typeof readableSpec>;

/** A MultiNicNodeConfig as read from the API server, without trust in any field. */
export interface NodeConfig extends KubeObject {
  /** Undefined: unreadable spec; no node may be changed then. */
  readonly spec: ReadableSpec | undefined;
  /** Field and error of an unreadable spec; empty if `spec` is defined. */
  readonly flaw: string;
  /** Undefined: missing or unreadable; the status is rebuilt then. */
  readonly status: NodeConfigStatus | undefined;
  /** Stored top-level keys of the status, including unknown keys. */
  readonly statusKeys: readonly string[];
}

type RawObject = KubeObject & { readonly spec?: unknown; readonly status?: unknown };

/** Reads objects accepted by an older or looser CRD; never throws. */
export function readNodeConfig(raw: unknown): NodeConfig {
  const { spec, status, ...object } = raw as RawObject;
  const readSpec = readableSpec.safeParse(spec);
  const readStatus = nodeConfigStatus.safeParse(status);
  const { managedFields: _, ...metadata } = object.metadata;
  return {
    ...object,
    metadata,
    spec: readSpec.data,
    flaw: readSpec.success ? '' : flawOf(readSpec.error),
    status: readStatus.data,
    statusKeys: status !== null && typeof status === 'object' ? Object.keys(status) : [],
  };
}

function flawOf(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => `${['spec', ...path].join('.')}: ${message}`)
    .join('; ');
}

export const nodeConfigs = defineResource<NodeConfig>({
  group: businessGroup,
  version: 'v1',
  plural: 'multinicnodeconfigs',
  kind: 'MultiNicNodeConfig',
  namespaced: true,
  parse: readNodeConfig,
});

/** Returns the object's Nova server id in lower case; undefined: none. */
export function instanceIdOf({ spec, metadata }: NodeConfig): string | undefined {
  const id = spec?.instanceId || metadata.labels?.[labels.instanceId];
  return id?.trim().toLowerCase() || undefined;
}

/** Returns the node name from the spec, otherwise the object's name. */
export function nodeNameOf({ spec, metadata }: NodeConfig): string {
  return spec?.nodeName || metadata.name;
}

/**
 * True if the legacy controller wrote this status. On start the legacy controller inspects every node and writes fields
 * that ours never writes: nodeReady and lastInterfaceCheck. Later it writes `state` and replaces all conditions by a
 * single condition without a time. A condition added by a user, to our status or to an empty status, is no evidence.
 */
export function isWrittenByOther(status: NodeConfigStatus): boolean {
  const { conditions = [], state, nodeReady, lastInterfaceCheck } = status;
  if (nodeReady !== undefined || lastInterfaceCheck !== undefined) return true;
  const others = conditions.filter(({ type }) => type !== otherControllerActive);
  const isTimed = others.some(({ lastTransitionTime }) => lastTransitionTime !== undefined);
  return state !== undefined && others.length > 0 && !isTimed;
}

/** Condition added to a status while yielding to the legacy controller; the rest stays unchanged. */
export const otherControllerActive = 'OtherControllerActive';

/** Nodes by identity. */
export interface NodeDirectory {
  /** Returns Nodes with this `systemUUID` (lower case). */
  bySystemUuid(uuid: string): readonly Node[];
  byName(name: string): Node | undefined;
}

/** Keys of objects by their node identity; returning keys avoids parsing objects. */
export interface ConfigDirectory {
  byInstanceId(id: string): readonly string[];
  byNodeName(name: string): readonly string[];
}

/** Caches of objects and Nodes with their indexes. */
export interface Stores {
  readonly configs: Store<NodeConfig>;
  readonly nodes: Store<Node>;
  readonly configDirectory: ConfigDirectory;
  readonly nodeDirectory: NodeDirectory;
  /** Number and keys of objects that refer to a node and are not being deleted; parses no object. */
  readonly meaning: NodeMeaning;
  /** Returns keys of objects whose record says they changed this node last. */
  readonly recordsOf: (nodeName: string) => readonly string[];
  /** Returns keys of objects deleted in this second without consent and still present. */
  readonly leavingSince: (second: Date) => readonly string[];
  /** Returns the name of an object whose status the legacy controller wrote, without a take-over annotation. */
  readonly foreign: () => string | undefined;
  /** Returns the number of objects whose status matches the current spec. */
  readonly processed: () => number;
}

/** Objects that refer to a node by systemUUID or, without an instance id, by name. */
export interface NodeMeaning {
  count(node: Node): number;
  keys(node: Node): readonly string[];
}

export function createStores(): Stores {
  const configs = new Store<NodeConfig>({
    packed: true,
    indexes: {
      instance: (config) => given(instanceIdOf(config)),
      nodeName: (config) => [nodeNameOf(config)],
      meaning: (config) => (deletedAt(config) ? [] : [identityOf(config)]),
      recordOf: (config) => given(recordedNode(config)),
      // An index has no clock: a consent given more than a day later counts in `hasConsent` only.
      leaving: (config) => {
        const at = deletedAt(config);
        return at === undefined || hasConsent(config, at) ? [] : given(secondOf(at));
      },
      foreign: (config) => (isForeign(config) ? ['yes'] : []),
      bizConfig: ({ metadata }) => given(metadata.labels?.[labels.bizConfig]),
      processed: (config) => (isProcessed(config) ? ['yes'] : []),
    },
  });
  const nodes = new Store<Node>({ packed: true, indexes: { systemUuid: uuidsOf } });
  return {
    configs,
    nodes,
    configDirectory: {
      byInstanceId: (id) => configs.keysByIndex('instance', id),
      byNodeName: (name) => configs.keysByIndex('nodeName', name),
    },
    nodeDirectory: {
      bySystemUuid: (uuid) => nodes.byIndex('systemUuid', uuid),
      byName: (name) => nodes.get(name),
    },
    meaning: {
      count: (node) =>
        identitiesOf(node).reduce((sum, id) => sum + configs.countByIndex('meaning', id), 0),
      keys: (node) => identitiesOf(node).flatMap((id) => configs.keysByIndex('meaning', id)),
    },
    recordsOf: (nodeName) => configs.keysByIndex('recordOf', nodeName),
    // Keys only: each reconcile calls this, and reading an object parses its text.
    leavingSince: (second) => configs.keysByIndex('leaving', secondOf(second) ?? ''),
    foreign: () => {
      const key = configs.keyByIndex('foreign', 'yes');
      return key && refOf(key).name;
    },
    processed: () => configs.countByIndex('processed', 'yes'),
  };
}

/** Returns the deletion timestamp, by the API server's clock. */
export function deletedAt({ metadata }: NodeConfig): Date | undefined {
  return metadata.deletionTimestamp === undefined
    ? undefined
    : new Date(metadata.deletionTimestamp);
}

/** The API server writes whole seconds; other writers may add fractions. */
function secondOf(date: Date | undefined): string | undefined {
  return date && String(Math.floor(date.getTime() / 1_000));
}

function identityOf(config: NodeConfig): string {
  const instanceId = instanceIdOf(config);
  return instanceId === undefined ? `name ${nodeNameOf(config)}` : `id ${instanceId}`;
}

function identitiesOf(node: Node): readonly string[] {
  const uuid = systemUuidOf(node);
  return [...(uuid ? [`id ${uuid}`] : []), `name ${node.metadata.name}`];
}

/** Returns the record's node if the record may count; `recordOf` decides. */
function recordedNode({ metadata, status }: NodeConfig): string | undefined {
  const { nodeName, objectUid = metadata.uid, undone = false } = status?.applied ?? {};
  return undone || objectUid !== metadata.uid ? undefined : nodeName;
}

/** True if a user or Viola confirmed the object's deletion. */
export function hasConsent(config: NodeConfig, now: Date): boolean {
  const at = deletedAt(config);
  return at !== undefined && (consentsTo(config.metadata, at, now) || hasNewApproval(config));
}

/**
 * True if NICs may be removed for this spec: consent from Viola by specHash, or from a user by an unused annotation
 * value.
 */
export function allowsRemovals(config: NodeConfig): boolean {
  const consent = config.metadata.annotations?.[annotations.removalConsent];
  return (consent !== undefined && consent === ownSpecHash(config)) || hasNewApproval(config);
}

function hasNewApproval(config: NodeConfig): boolean {
  const value = allowRemovalsOf(config);
  return value !== undefined && value !== config.status?.applied?.allowedRemovals;
}

/**
 * Returns the annotation value as the record stores it. A cut may leave half a surrogate pair, which an API server
 * drops.
 */
export function allowRemovalsOf({ metadata }: NodeConfig): string | undefined {
  return metadata.annotations?.[annotations.allowRemovals]?.slice(0, 64).toWellFormed();
}

/** Returns the specHash computed from the current spec, ignoring the stored hash; undefined: unreadable spec. */
export function ownSpecHash(config: NodeConfig): string | undefined {
  const { spec } = config;
  if (!spec) return undefined;
  const interfaces = (spec.interfaces ?? []) as NonNullable<NodeConfigSpec['interfaces']>;
  const instance = spec.instanceId === undefined ? {} : { instanceId: spec.instanceId };
  return specHash({ nodeName: nodeNameOf(config), interfaces, ...instance });
}

function isProcessed({ metadata, status }: NodeConfig): boolean {
  return (
    status?.observedGeneration !== undefined && status.observedGeneration === metadata.generation
  );
}

function isForeign({ metadata, status }: NodeConfig): boolean {
  if (metadata.annotations?.[annotations.takeOver] !== undefined) return false;
  return status !== undefined && isWrittenByOther(status);
}

function uuidsOf(node: Node): readonly string[] {
  return given(systemUuidOf(node));
}

/** Objects without a value are not indexed: a missing value does not connect objects. */
function given(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}

/**
 * Drops fields that the controller does not read: a Node with its image list is 10 KiB. `label`: the one cached label.
 */
export function slimNode({ apiVersion, kind, metadata, status }: Node, label?: string): Node {
  const { name, uid, resourceVersion } = metadata;

  const { addresses = [], nodeInfo, conditions = [] } = status ?? {};
  return {
    ...(apiVersion ? { apiVersion } : {}),
    ...(kind ? { kind } : {}),
    metadata: {
      name,
      ...(uid ? { uid } : {}),
      ...(resourceVersion ? { resourceVersion } : {}),
      ...cachedLabel(metadata, label),
    },
    status: {
      addresses,
      // The heartbeat time is dropped: it changes ten times a minute without news.
      conditions: conditions
        .filter(({ type }) => type === 'Ready')
        .map(({ type, status: holds, lastTransitionTime }) => ({
          type,
          status: holds,
          ...(lastTransitionTime ? { lastTransitionTime } : {}),
        })),
      ...(nodeInfo ? { nodeInfo } : {}),
    },
  };
}

function cachedLabel({ labels: all = {} }: Node['metadata'], label = '') {
  const value = all[label];
  return value === undefined ? {} : { labels: { [label]: value } };
}

/** Returns the reference for writing an object. */
export function refOfConfig({
  metadata: { namespace = '', name },
}: NodeConfig): Required<ObjectRef> {
  return { namespace, name };
}
