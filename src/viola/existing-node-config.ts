import * as z from 'zod';
import {
  interfaceStatus,
  knownInterface,
  type MultiNicNodeConfig,
  type NodeConfigStatus,
  nodeConfigSpec,
  nodeConfigStatus,
} from '../api/multinicnodeconfig.ts';
import { annotations, labels } from '../api/names.ts';
import {
  type ExistingNodeConfig,
  type Source,
  source,
  type UnreadableNode,
} from '../api/node-configs-http.ts';
import { nodeNameOf } from './node-config.ts';

export type ReadNode =
  | { readonly kind: 'held'; readonly node: ExistingNodeConfig }
  | { readonly kind: 'unreadable'; readonly node: UnreadableNode };

/** Where an object came from, as its annotation says; undefined when it has none that can be read. */
export function sourceOf({ metadata }: MultiNicNodeConfig): Source | undefined {
  const text = metadata.annotations?.[annotations.source];
  if (text === undefined) return undefined;
  return z
    .string()
    .transform((json, context): unknown => {
      try {
        return JSON.parse(json);
      } catch {
        context.addIssue('is not JSON');
        return z.NEVER;
      }
    })
    .pipe(source)
    .safeParse(text).data;
}

/**
 * An object in the form in which callers read it. One whose NICs cannot be read (an earlier, looser schema let it in) is
 * told apart: left out, it would look absent and its names free.
 */
export function toExistingNodeConfig(object: MultiNicNodeConfig): ReadNode {
  const spec = nodeConfigSpec.safeParse(object.spec);
  if (!spec.success) return unreadable(object, 'spec', spec.error);
  const status = readStatus(object.status);
  if (!status.success) return unreadable(object, 'status', status.error);
  const { uid = '', generation = 0, deletionTimestamp } = object.metadata;
  const from = sourceOf(object);
  const labelledInstanceId = object.metadata.labels?.[labels.instanceId];
  const node = {
    nodeName: nodeNameOf(object),
    uid,
    generation,
    spec: spec.data,
    ...(object.status ? { status: status.data } : {}),
    ...(deletionTimestamp ? { deletionTimestamp } : {}),
    ...(from ? { source: from } : {}),
    ...(labelledInstanceId === undefined ? {} : { labelledInstanceId }),
  };
  return { kind: 'held', node };
}

function unreadable(
  object: MultiNicNodeConfig,
  part: string,
  { issues: [issue] }: z.ZodError,
): ReadNode {
  const { name, uid = '', generation = 0, annotations: notes = {} } = object.metadata;
  const field = [part, ...(issue?.path ?? [])].join('.');
  const message = `the object ${name} cannot be read (${field}: ${issue?.message}); correct it in the business cluster`;
  const { instanceId } = partOfSpec.parse(object.spec);
  const from = notes[annotations.source] === undefined ? null : sourceOf(object);
  const node = {
    objectName: name,
    uid,
    generation,
    ...(instanceId === undefined ? {} : { instanceId }),
    ...(from === undefined ? {} : { source: from }),
    message,
  };
  return { kind: 'unreadable', node };
}

const partOfSpec = z
  .object({ instanceId: z.string().optional().catch(undefined) })
  .catch({ instanceId: undefined });

/**
 * A status as far as it can be read. Names in it are taken, so that an entry is kept with what is readable of it, and one
 * that names no NIC at all makes the object unreadable.
 */
function readStatus(status: unknown): z.ZodSafeParseResult<NodeConfigStatus> {
  const whole = nodeConfigStatus.safeParse(status ?? {});
  if (whole.success) return whole;
  return z
    .object({
      ...nodeConfigStatus.shape,
      ...lenient(nodeConfigStatus.shape),
      interfaceStatuses: z.array(entryOf(interfaceStatus.shape)).optional(),
      knownInterfaces: z.array(knownInterface).optional(),
    })
    .safeParse(status);
}

function entryOf(shape: typeof interfaceStatus.shape) {
  return z
    .object(lenient(shape))
    .refine(({ name, id }) => name !== undefined || id !== undefined, 'names no NIC');
}

/** The same fields; one that cannot be read is taken for absent. */
function lenient(shape: z.core.$ZodLooseShape) {
  return Object.fromEntries(
    Object.entries(shape).map(([key, field]) => [key, z.catch(field, undefined)]),
  );
}
