import * as z from 'zod';
import { labelValue } from '../api/label-value.ts';
import { annotations, bizConfigGroups, fieldManagers, labels } from '../api/names.ts';

/** The MultiNicBizConfig that a MultiNicNodeConfig was made from. */
const bizSource = z.object({
  group: z.enum(bizConfigGroups),
  name: z.string().min(1),
  uid: z.string(),
  generation: z.int(),
});

export type BizSource = z.infer<typeof bizSource>;

interface Metadata {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** The source named in the annotation; undefined when there is none, or one that cannot be read. */
export function sourceIn({ annotations: noted }: Metadata): BizSource | undefined {
  const text = noted?.[annotations.bizSource];
  if (text === undefined) return undefined;
  try {
    return bizSource.safeParse(JSON.parse(text)).data;
  } catch {
    // No JSON: not written by the expansion.
    return undefined;
  }
}

/** Whether label and annotation say that the object was made from this source; a user can forge both. */
export function isLabelledAs(
  metadata: Metadata,
  { group, name }: Pick<BizSource, 'group' | 'name'>,
) {
  const source = sourceIn(metadata);
  const label = metadata.labels?.[labels.bizConfig];
  return label === labelValue(name) && source?.group === group && source.name === name;
}

/** Label and annotation of an object that is made from this source. */
export function marksOf(source: BizSource) {
  const { group, name, uid, generation } = source;
  return {
    labels: { [labels.bizConfig]: labelValue(name) },
    annotations: { [annotations.bizSource]: JSON.stringify({ group, name, uid, generation }) },
  };
}

const managedObject = z.object({
  metadata: z.object({
    managedFields: z
      .array(
        z.object({
          manager: z.string().catch(''),
          subresource: z.string().optional(),
          fieldsV1: z.record(z.string(), z.unknown()).catch({}),
        }),
      )
      .catch([]),
  }),
});

/**
 * Field managers that own fields of the spec, from `metadata.managedFields`. Cached objects do not have them: pass an object that was
 * just read from the API server.
 */
export function specManagers(object: unknown): ReadonlySet<string> {
  const { managedFields } = managedObject.parse(object).metadata;
  const owners = managedFields.filter(
    ({ subresource, fieldsV1 }) => subresource === undefined && Object.hasOwn(fieldsV1, 'f:spec'),
  );
  return new Set(owners.map(({ manager }) => manager));
}

/** Whether the expansion alone owns the spec: no other writer has set a field of it since. */
export function isOwnedByExpansion(object: unknown): boolean {
  const managers = specManagers(object);
  return managers.size === 1 && managers.has(fieldManagers.bizConfig);
}
