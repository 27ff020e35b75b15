interface WithMac {
  readonly mac: string;
}

/** NICs with equal other fields: the fields, then the MACs. Shorter as text than a list of NICs. */
export type MacGroup<T extends WithMac> = readonly [Omit<T, 'mac'>, ...string[]];

export function macGroups<T extends WithMac>(nics: readonly T[]): MacGroup<T>[] {
  const groups = new Map<string, [Omit<T, 'mac'>, ...string[]]>();
  for (const { mac, ...fields } of nics) {
    const key = JSON.stringify(fields);
    const group = groups.get(key) ?? [fields];
    groups.set(key, group);
    group.push(mac);
  }
  return [...groups.values()];
}

/** Returns the NICs of a group. */
export function nicsIn<T extends WithMac>([fields, ...macs]: MacGroup<T>): T[] {
  return macs.map((mac) => ({ ...fields, mac }) as T);
}
