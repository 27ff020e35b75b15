import type { NicRecord } from '../state.ts';
import type { PlanInput } from './candidates.ts';
import { recordOf, returned } from './ownership.ts';
import type { Target } from './unit.ts';

/** A NIC of which nothing of ours shall be left. */
export interface Obsolete {
  readonly record: NicRecord;
  readonly target: Target;
}

/** The NICs of ours that the request no longer has, or all of them when it asks for a clean-up. */
export function obsolete({ request, state, host }: PlanInput): Obsolete[] {
  const { action, interfaces } = request;
  const all = action === 'cleanup';
  const wanted = new Map(interfaces.map((entry) => [entry.mac, entry]));
  // An entry that cannot be used says nothing about what its NIC shall be: it is not a removal.
  const kept = new Set(request.keep);
  const recorded = [...state.nics, ...returned(state, host)].filter(
    ({ mac }) => all || !(wanted.has(mac) || kept.has(mac)),
  );
  const known = new Set(recorded.map(({ mac }) => mac));
  const inherited = interfaces.flatMap((entry) => {
    if (!all || known.has(entry.mac)) return [];
    return recordOf(entry.mac, entry, state, host) ?? [];
  });
  return [...recorded, ...inherited].map((record) => {
    const portId = wanted.get(record.mac)?.portId;
    const { mac, index } = record;
    return { record, target: { mac, index, ...(portId ? { portId } : {}) } };
  });
}
