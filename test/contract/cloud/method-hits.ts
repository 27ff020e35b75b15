/** Notes which methods of the product's clients the suite used. */
export interface MethodHits {
  /** The same object, watched. */
  recorded<T extends object>(name: string, object: T): T;
  /** `Name.method` of everything that was watched and never used. */
  missed(): readonly string[];
  /** `Name.method` of everything that was watched. */
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
