import type { Storage } from '../storage/storage.ts';
import { builtInTypes } from './built-in.ts';
import { customTypes } from './crd.ts';
import { apiVersionOf, type ResourceType, resourceOf } from './resource-type.ts';

export const crdResource = 'customresourcedefinitions.apiextensions.k8s.io';

/** The kinds that are served now: the built-in ones and those of the stored CustomResourceDefinitions. */
export class TypeRegistry {
  readonly #custom = new Map<string, readonly ResourceType[]>();
  #all: readonly ResourceType[] = builtInTypes;

  constructor(storage: Storage) {
    storage.subscribe(({ type, resource, key, object }) => {
      if (resource !== crdResource) return;
      if (type === 'DELETED') this.#custom.delete(key);
      else this.#custom.set(key, customTypes(object));
      this.#all = [...builtInTypes, ...[...this.#custom.values()].flat()];
    });
  }

  /** Every served kind, once per version. */
  all(): readonly ResourceType[] {
    return this.#all;
  }

  /** The kind behind a path of the API, or undefined. */
  find(apiVersion: string, plural: string): ResourceType | undefined {
    return this.all().find((type) => type.plural === plural && apiVersionOf(type) === apiVersion);
  }

  /** The kind that objects under a storage key belong to. */
  ofResource(resource: string): ResourceType | undefined {
    return this.all().find(
      (type) => resourceOf(type) === resource && type.version === type.storageVersion,
    );
  }

  /** The kind that an owner reference names. */
  ofKind(apiVersion: string, kind: string): ResourceType | undefined {
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
    return this.all().find((type) => type.kind === kind && type.group === group);
  }
}
