/** Records the methods of the product's clients that the suite calls. */
export interface MethodHits {
  /** The same object, watched. */
  recorded<T extends object>(name: string, object: T): T;
  /** `Name.method` for all recorded clients' uncalled methods. */
  missed(): readonly string[];
  /** `Name.method` for all recorded clients. */
  known(): readonly string[];
}

/** Makes an empty record. */
export function createMethodHits(): MethodHits {
  const known = new Set<string>();
  const used = new Set<string>();
  return {
    recorded(name, object) {
      for (const [key, value] of Object.entries(object)) {
        if (typeof value === 'function') known.add(`${name}.${key}`);
      }
      return new Proxy(object, {
        get(target, key) {
          if (typeof key === 'string') used.add(`${name}.${key}`);
          return Reflect.get(target, key) as unknown;
        },
      });
    },
    missed: () => [...known].filter((method) => !used.has(method)),
    known: () => [...known],
  };
}
