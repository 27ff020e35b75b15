import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import { fieldManagers } from '../../api/names.ts';
import {
  isLabelledAs,
  isOwnedByExpansion,
  sourceIn,
  specManagers,
} from '../../biz-config/ownership.ts';
import type { Source } from './source.ts';

/** Ownership facts from a MultiNicNodeConfig read with managedFields. */
export interface Ownership {
  /** True if the annotation names the source and no other writer has set a spec field. */
  readonly isExpansions: boolean;
  /** True if label and annotation name the source: the controller then counts the object as the source's. */
  readonly isLabelled: boolean;
  /** Spec field managers except the expansion, such as viola. */
  readonly writers: readonly string[];
}

export function ownershipOf(object: MultiNicNodeConfig, { group, config }: Source): Ownership {
  const source = { group, name: config.metadata.name };
  const made = sourceIn(object.metadata);
  const isMade = made?.group === source.group && made.name === source.name;
  const writers = [...specManagers(object)].filter((name) => name !== fieldManagers.bizConfig);
  return {
    isExpansions: isMade && isOwnedByExpansion(object),
    isLabelled: isLabelledAs(object.metadata, source),
    writers: writers.toSorted(),
  };
}
