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

/** The identity in a spec, checked; its entries are checked one by one by `acceptEntries`. */
const readableSpec = z.object({
  providerId: z.string().optional().catch(undefined),
  nodeName: z.string().optional(),
  instanceId: z.string().optional(),
  specHash: z.string().optional(),
  interfaces: z.array(z.unknown()).optional(),
});

export type ReadableSpec = z.infer<typeof readableSpec>;

/** A MultiNicNodeConfig as it was read: nothing in it is taken on trust. */
export interface NodeConfig extends KubeObject {
  /** Undefined when the spec is of no known form; then nothing may be changed on any node. */
  readonly spec: ReadableSpec | undefined;
  /** Which field of the spec has which flaw; empty when `spec` is there. */
  readonly flaw: string;
  /** Undefined when there is none, or one of a form that we cannot read: it is rebuilt then. */
  readonly status: NodeConfigStatus | undefined;
  /** Top-level keys of the status as stored, also those that we do not know. */
  readonly statusKeys: readonly string[];
}

type RawObject = KubeObject & { readonly spec?: unknown; readonly status?: unknown };

/** Reads what a server with an older or looser CRD may hold; never throws. */
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

/** Nova server id that the object names, lower case; undefined when it names none. */
export function instanceIdOf({ spec, metadata }: NodeConfig): string | undefined {
  const id = spec?.instanceId || metadata.labels?.[labels.instanceId];
  return id?.trim().toLowerCase() || undefined;
}

/** Name of the node as the object gives it. */
export function nodeNameOf({ spec, metadata }: NodeConfig): string {
  return spec?.nodeName || metadata.name;
}

/**
 * Whether the deployed controller wrote this status. When it is started it looks at every node, before it works on any, and
 * writes what we never do: when, and what it saw. Else it writes `state` and replaces all conditions by one that has no time.
 * A condition that a user adds to ours, or to no status at all, is no trace of it.
 */
export function isWrittenByOther(status: NodeConfigStatus): boolean {
  const { conditions = [], state, nodeReady, lastInterfaceCheck } = status;
  if (nodeReady !== undefined || lastInterfaceCheck !== undefined) return true;
  const others = conditions.filter(({ type }) => type !== otherControllerActive);
  const isTimed = others.some(({ lastTransitionTime }) => lastTransitionTime !== undefined);
  return state !== undefined && others.length > 0 && !isTimed;
}

/** The condition that we add to a status while we yield to the deployed controller; it leaves the rest as it is. */
export const otherControllerActive = 'OtherControllerActive';

/** Nodes by what tells who they are. */
export interface NodeDirectory {
  /** Nodes whose `systemUUID`, lower case, is this. */
  bySystemUuid(uuid: string): readonly Node[];
  byName(name: string): Node | undefined;
}

/** Keys of objects by what tells which node they mean: nobody looks at them where there is only one. */
export interface ConfigDirectory {
  byInstanceId(id: string): readonly string[];
  byNodeName(name: string): readonly string[];
}

/** Objects and nodes as they were last seen, found by what they have in common. */
export interface Stores {
  readonly configs: Store<NodeConfig>;
  readonly nodes: Store<Node>;
  readonly configDirectory: ConfigDirectory;
  readonly nodeDirectory: NodeDirectory;
  /** Objects that mean a node and are not being deleted: how many, and their keys, without a look at any of them. */
  readonly meaning: NodeMeaning;
  /** Keys of objects whose record says that they were the last to change the node of this name. */
  readonly recordsOf: (nodeName: string) => readonly string[];
  /** Keys of objects that were deleted in this second without anybody's consent, and are still there. */
  readonly leavingSince: (second: Date) => readonly string[];
  /** Name of an object whose status the deployed controller wrote, and that nobody told us to take over. */
  readonly foreign: () => string | undefined;
  /** How many objects have a status that is about their spec as it is now. */
  readonly processed: () => number;
}

/** Which objects mean a node, by its systemUUID or, those without an instance id, by its name. */
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
      // An index knows no time: a consent given more than a day later counts in `hasConsent` alone.
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
    // Keys alone: each visit asks, and an object is parsed at each look.
    leavingSince: (second) => configs.keysByIndex('leaving', secondOf(second) ?? ''),
    foreign: () => {
      const key = configs.keyByIndex('foreign', 'yes');
      return key && refOf(key).name;
    },
    processed: () => configs.countByIndex('processed', 'yes'),
  };
}

/** When the object was deleted, by the API server's clock. */
export function deletedAt({ metadata }: NodeConfig): Date | undefined {
  return metadata.deletionTimestamp === undefined
    ? undefined
    : new Date(metadata.deletionTimestamp);
}

/** The API server says it in whole seconds; whoever else wrote it may have said more. */
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

/** The node of a record that may count; `recordOf` decides whether it does. */
function recordedNode({ metadata, status }: NodeConfig): string | undefined {
  const { nodeName, objectUid = metadata.uid, undone = false } = status?.applied ?? {};
  return undone || objectUid !== metadata.uid ? undefined : nodeName;
}

/** Whether a user or Viola said that the object is deleted on purpose. */
export function hasConsent(config: NodeConfig, now: Date): boolean {
  const at = deletedAt(config);
  return at !== undefined && (consentsTo(config.metadata, at, now) || hasNewLeave(config));
}

/** Whether NICs may leave the node for this spec: Viola says so with its hash, a user with a value that no run has used. */
export function allowsRemovals(config: NodeConfig): boolean {
  const consent = config.metadata.annotations?.[annotations.removalConsent];
  return (consent !== undefined && consent === ownSpecHash(config)) || hasNewLeave(config);
}

function hasNewLeave(config: NodeConfig): boolean {
  const value = allowRemovalsOf(config);
  return value !== undefined && value !== config.status?.applied?.allowedRemovals;
}

/** Value of the annotation as the record keeps it; an API server keeps no half of a character that a cut left over. */
export function allowRemovalsOf({ metadata }: NodeConfig): string | undefined {
  return metadata.annotations?.[annotations.allowRemovals]?.slice(0, 64).toWellFormed();
}

/** specHash of what the spec says now, whatever hash stands in it; undefined when the spec cannot be read. */
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

/** Objects without a value are found by none: they have nothing in common. */
function given(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}

/** Drops fields that the controller does not read: a Node with its images is 10 KiB. `label`: the one label that is cached. */
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
      ...keptLabel(metadata, label),
    },
    status: {
      addresses,
      // Its heartbeat is left out: it says nothing new ten times a minute.
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

function keptLabel({ labels: all = {} }: Node['metadata'], label = '') {
  const value = all[label];
  return value === undefined ? {} : { labels: { [label]: value } };
}

/** The reference by which an object is written. */
export function refOfConfig({
  metadata: { namespace = '', name },
}: NodeConfig): Required<ObjectRef> {
  return { namespace, name };
}
