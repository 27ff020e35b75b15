import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import { fieldManagers } from '../../api/names.ts';
import {
  isLabelledAs,
  isOwnedByExpansion,
  sourceIn,
  specManagers,
} from '../../biz-config/ownership.ts';
import type { Source } from './source.ts';

/** Ownership of a MultiNicNodeConfig as the API server returned it, with managedFields. */
export interface Ownership {
  /** Its annotation names the source, and no other writer has set a field of its spec. */
  readonly isExpansions: boolean;
  /** The controller counts it as an object of the source: its label and annotation name the source. */
  readonly isLabelled: boolean;
  /** Field managers of the spec other than the expansion, such as viola. */
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
