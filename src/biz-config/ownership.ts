import * as z from 'zod';
import { labelValue } from '../api/label-value.ts';
import { annotations, bizConfigGroups, fieldManagers, labels } from '../api/names.ts';

/** The source MultiNicBizConfig for an expanded MultiNicNodeConfig. */
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

/** Returns the source from the annotation; undefined when the annotation is missing or unreadable. */
export function sourceIn({ annotations: existing }: Metadata): BizSource | undefined {
  const text = existing?.[annotations.bizSource];
  if (text === undefined) return undefined;
  try {
    return bizSource.safeParse(JSON.parse(text)).data;
  } catch {
    // Invalid JSON: not written by the expansion.
    return undefined;
  }
}

/** Returns true if label and annotation name this source; a user can forge both. */
export function isLabelledAs(
  metadata: Metadata,
  { group, name }: Pick<BizSource, 'group' | 'name'>,
) {
  const source = sourceIn(metadata);
  const label = metadata.labels?.[labels.bizConfig];
  return label === labelValue(name) && source?.group === group && source.name === name;
}

/** Returns label and annotation for objects expanded from this source. */
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
 * Returns field managers owning spec fields, from `metadata.managedFields`. Cached objects lack this field: pass an
 * object just read from the API server.
 */
export function specManagers(object: unknown): ReadonlySet<string> {
  const { managedFields } = managedObject.parse(object).metadata;
  const owners = managedFields.filter(
    ({ subresource, fieldsV1 }) => subresource === undefined && Object.hasOwn(fieldsV1, 'f:spec'),
  );
  return new Set(owners.map(({ manager }) => manager));
}

/** Returns true if only the expansion owns the spec: no other writer has set a spec field since. */
export function isOwnedByExpansion(object: unknown): boolean {
  const managers = specManagers(object);
  return managers.size === 1 && managers.has(fieldManagers.bizConfig);
}
