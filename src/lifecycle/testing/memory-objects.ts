import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';

type Entry = readonly [Resource<KubeObject>, KubeObject];

/** Objects of a cluster in memory, by kind and name. */
export class MemoryObjects {
  readonly #live = new Map<string, Entry>();

  get<T extends KubeObject>(resource: Resource<T>, name: string): T | undefined {
    return this.#live.get(keyOf(resource, name))?.[1] as T | undefined;
  }

  put<T extends KubeObject>(resource: Resource<T>, object: T): void {
    const { name } = object.metadata;
    const metadata = { uid: `${name}-uid`, ...object.metadata };
    this.#live.set(keyOf(resource, name), [resource, { ...object, metadata }]);
  }

  delete(resource: Pick<Resource<KubeObject>, 'kind'>, name: string): void {
    this.#live.delete(keyOf(resource, name));
  }

  get entries(): readonly Entry[] {
    return [...this.#live.values()];
  }
}

function keyOf({ kind }: { readonly kind: string }, name: string): string {
  return `${kind} ${name}`;
}
