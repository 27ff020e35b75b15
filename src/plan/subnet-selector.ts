/** The subnets an OpenstackConfig selects, before names are looked up. */
export type SubnetSelector =
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'none' };

export interface SubnetFields {
  readonly subnetIDs?: readonly string[] | undefined;
  readonly subnetID?: string | undefined;
  readonly subnetName?: string | undefined;
}

/** Ids in lower case, as Neutron compares them. `subnetIDs` before `subnetID` before `subnetName`; blanks do not count, order of ids is kept. */
export function subnetSelector(fields: SubnetFields): SubnetSelector {
  const ids = unique(fields.subnetIDs ?? []);
  if (ids.length > 0) return { kind: 'ids', ids };
  const single = unique([fields.subnetID ?? '']);
  if (single.length > 0) return { kind: 'ids', ids: single };
  const name = fields.subnetName?.trim() ?? '';
  return name === '' ? { kind: 'none' } : { kind: 'name', name };
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text) => text.trim().toLowerCase()).filter((text) => text !== ''))];
}
