/** Screens in the navigation's order; screens about a single object are not in the navigation. */
export const views = [
  'fleet',
  'nodes',
  'node',
  'nic',
  'port',
  'configs',
  'config',
  'search',
  'doctor',
  'history',
  'rollouts',
  'operator',
] as const;

export type View = (typeof views)[number];

/** A screen's fields: object, filters and page. */
export type Fields = Readonly<Record<string, string>>;

/** Screen and fields, all in the address bar. */
export interface Place {
  readonly view: View;
  readonly fields: Fields;
}

/** Longest field (characters); the server refuses longer values. */
const longestField = 1_024;

/** Reads an address query; an unknown screen is the fleet. */
export function placeOf(search: string): Place {
  const { view: wanted, lang: _, ...fields } = Object.fromEntries(new URLSearchParams(search));
  const view = views.find((each) => each === wanted) ?? 'fleet';
  const kept = Object.entries(fields).filter(
    ([, value]) => value !== '' && value.length <= longestField,
  );
  return { view, fields: Object.fromEntries(kept) };
}

/** Returns a place's query, without empty fields. */
export function searchOf({ view, fields }: Place, lang: string): string {
  const given = Object.entries(fields).filter(([, value]) => value !== '');
  return `?${new URLSearchParams({ view, ...Object.fromEntries(given), lang })}`;
}

/** Returns the fields with changes; `undefined` removes a field. A different filter begins at the first page. */
export function changed(
  fields: Fields,
  changes: Readonly<Record<string, string | undefined>>,
): Fields {
  const { continue: _, ...rest } = fields;
  const all = Object.entries({ ...rest, ...changes });
  return Object.fromEntries(
    all.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
