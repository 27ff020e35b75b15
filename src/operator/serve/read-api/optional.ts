type Optional<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns the fields without undefined values: an absent field means "unknown". */
export function optional<T extends object>(fields: T): Optional<T> {
  const present: Partial<T> = {};
  for (const key in fields) if (fields[key] !== undefined) present[key] = fields[key];
  return present as Optional<T>;
}
