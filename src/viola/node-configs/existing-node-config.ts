import * as z from 'zod';
import {
  interfaceStatus,
  knownInterface,
  type MultiNicNodeConfig,
  type NodeConfigStatus,
  nodeConfigSpec,
  nodeConfigStatus,
} from '../../api/multinicnodeconfig.ts';
import { annotations, labels } from '../../api/names.ts';
import {
  type ExistingNodeConfig,
  type Source,
  source,
  type UnreadableNode,
} from '../../api/node-configs-http.ts';
import { isPausedToObserve, isSetToAdopt, isSetToObserve, nodeNameOf } from './node-config.ts';

export type ReadNode =
  | { readonly kind: 'readable'; readonly node: ExistingNodeConfig }
  | { readonly kind: 'unreadable'; readonly node: UnreadableNode };

/** Returns an object's source annotation; undefined: missing or malformed. */
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
 * Converts an object for callers. Objects with unreadable NICs, admitted by an earlier, looser schema, are returned
 * separately: omitted, they would look absent and their names free.
 */
export function toExistingNodeConfig(object: MultiNicNodeConfig): ReadNode {
  const spec = nodeConfigSpec.safeParse(object.spec);
  if (!spec.success) return unreadable(object, 'spec', spec.error);
  const status = readStatus(object.status);
  if (!status.success) return unreadable(object, 'status', status.error);
  const { uid = '', generation = 0, deletionTimestamp } = object.metadata;
  const node = {
    nodeName: nodeNameOf(object),
    uid,
    generation,
    spec: spec.data,
    ...(object.status ? { status: status.data } : {}),
    ...(deletionTimestamp ? { deletionTimestamp } : {}),
    ...marksOf(object),
  };
  return { kind: 'readable', node };
}

/** Returns Viola's labels and annotations as fields. */
function marksOf(object: MultiNicNodeConfig) {
  const from = sourceOf(object);
  const labelledInstanceId = object.metadata.labels?.[labels.instanceId];
  return {
    ...(from ? { source: from } : {}),
    ...(labelledInstanceId === undefined ? {} : { labelledInstanceId }),
    ...(isPausedToObserve(object) ? { pausedToObserve: true } : {}),
    ...(isSetToObserve(object) ? { setToObserve: true } : {}),
    ...(isSetToAdopt(object) ? { setToAdopt: true } : {}),
  };
}

function unreadable(
  object: MultiNicNodeConfig,
  part: string,
  { issues: [issue] }: z.ZodError,
): ReadNode {
  const { name, uid = '', generation = 0, annotations: notes = {} } = object.metadata;
  const field = [part, ...(issue?.path ?? [])].join('.');
  const message = `MultiNicNodeConfig ${name} cannot be read (${field}: ${issue?.message}); correct it in the business cluster`;
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
 * Parses a status as far as possible. Names in a status are reserved, so entries keep their readable fields; an entry
 * without a NIC name makes the object unreadable.
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
    .refine(({ name, id }) => name !== undefined || id !== undefined, 'has neither name nor id');
}

/** Returns the shape with unreadable fields treated as absent. */
function lenient(shape: z.core.$ZodLooseShape) {
  return Object.fromEntries(
    Object.entries(shape).map(([key, field]) => [key, z.catch(field, undefined)]),
  );
}
