import * as z from 'zod';
import { existingConfiguration } from '../../api/found-configuration.ts';
import { isWrittenByLegacy } from '../../api/legacy-status.ts';
import {
  type NodeConfigSpec,
  type NodeConfigStatus,
  nodeConfigMode,
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
  /** A mode of a later version may not permit changes. */
  mode: nodeConfigMode.optional().catch('Observe'),
  /** A later version's consent is no consent for this version. */
  existingConfiguration: existingConfiguration.optional().catch(undefined),
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
  /** Returns the name of an object whose status the legacy controller wrote, without a take-over annotation. */
  readonly foreign: () => string | undefined;
  /** Returns the number of objects whose status matches the current spec. */
  readonly processed: () => number;
  /** Returns the number of objects with NICs. */
  readonly withNics: () => number;
  /** Returns the podCIDRs of all Nodes; parses no object. */
  readonly podCidrs: () => readonly string[];
}

/** Objects that refer to a node by systemUUID or, without an instance id, by name. */
interface NodeMeaning {
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
      foreign: (config) => (isForeign(config) ? ['yes'] : []),
      bizConfig: ({ metadata }) => given(metadata.labels?.[labels.bizConfig]),
      processed: (config) => (isProcessed(config) ? ['yes'] : []),
      withNics: ({ spec }) => (spec?.interfaces?.length ? ['yes'] : []),
    },
  });
  const nodes = new Store<Node>({
    packed: true,
    indexes: { systemUuid: uuidsOf, podCidr: podCidrsOf },
  });
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
    foreign: () => {
      const key = configs.keyByIndex('foreign', 'yes');
      return key && refOf(key).name;
    },
    processed: () => configs.countByIndex('processed', 'yes'),
    withNics: () => configs.countByIndex('withNics', 'yes'),
    podCidrs: () => nodes.indexValues('podCidr'),
  };
}

/** Returns the deletion timestamp, by the API server's clock. */
export function deletedAt({ metadata }: NodeConfig): Date | undefined {
  return metadata.deletionTimestamp === undefined
    ? undefined
    : new Date(metadata.deletionTimestamp);
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
  const { nodeName, objectUid = metadata.uid, undone = false, action } = status?.applied ?? {};
  return undone || action === 'check' || objectUid !== metadata.uid ? undefined : nodeName;
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
  return status !== undefined && isWrittenByLegacy(status);
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
export function slimNode(node: Node, label?: string): Node {
  const { apiVersion, kind, metadata, status } = node;
  const { name, uid, resourceVersion } = metadata;
  const podCIDRs = podCidrsOf(node);
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
    ...(podCIDRs.length > 0 ? { spec: { podCIDRs: [...podCIDRs] } } : {}),
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

/** Returns a Node's Pod networks; older Kubernetes versions set `podCIDR` only. */
function podCidrsOf({ spec }: Pick<Node, 'spec'>): readonly string[] {
  const { podCIDR = '', podCIDRs = podCIDR === '' ? [] : [podCIDR] } = spec ?? {};
  return podCIDRs;
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
