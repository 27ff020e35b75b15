type Optional<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns the fields without undefined values: an absent field means "unknown". */
export function optional<T extends object>(fields: T): Optional<T> {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as Optional<T>;
}
