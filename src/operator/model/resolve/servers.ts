import type { OpenstackConfigSpec } from '../../../api/openstackconfig.ts';
import type { Fields } from './fields.ts';

/** Servers selected by an OpenstackConfig, before any lookup: the union of ids, names and `carrying`. */
export interface ServerSelector {
  /** In lower case. */
  readonly ids: readonly string[];
  /** Each name must match exactly one server. */
  readonly names: readonly string[];
  /** Selects project servers with all of these metadata and tags; undefined: no such selection. */
  readonly carrying: Carried | undefined;
}

export interface Carried {
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Takes UUIDs in `vmNames` as ids and other texts as names; `vmSelector` selects further servers. */
export function serverSelector(
  { vmNames = [], vmSelector }: Pick<OpenstackConfigSpec, 'vmNames' | 'vmSelector'>,
  fields: Fields,
): ServerSelector {
  const texts = vmNames.map((name) => name.trim());
  for (const [at, text] of texts.entries()) {
    if (text === '') fields.refuse(`spec.vmNames[${at}]`, 'is blank; remove it');
  }
  if (texts.length === 0 && vmSelector === undefined) {
    const instead = 'to remove all its NICs, delete the OpenstackConfig';
    fields.refuse('spec.vmNames', `must name at least one server; ${instead}`);
  }
  const ids = texts.filter((text) => uuid.test(text)).map((id) => id.toLowerCase());
  const names = texts.filter((text) => text !== '' && !uuid.test(text));
  return {
    ids: [...new Set(ids)],
    names: [...new Set(names)],
    carrying: vmSelector && carried(vmSelector, fields),
  };
}

function carried(
  { metadata = {}, tags = [] }: NonNullable<OpenstackConfigSpec['vmSelector']>,
  fields: Fields,
): Carried {
  if (Object.keys(metadata).length + tags.length === 0) {
    const fix = 'must have a metadata key or a tag: an empty selector would select every server';
    fields.refuse('spec.vmSelector', fix);
  }
  for (const [at, tag] of tags.entries()) {
    // Nova's list splits tags at commas; Nova refuses tags with commas or slashes.
    if (tag.trim() === '' || /[,/]/.test(tag)) {
      const fix = 'is not a tag of Nova; use a tag without commas and slashes';
      fields.refuse(`spec.vmSelector.tags[${at}]`, `"${tag}" ${fix}`);
    }
  }
  return { metadata, tags: [...new Set(tags)] };
}
