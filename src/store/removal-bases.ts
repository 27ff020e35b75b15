import type { RemovalBasis } from '../api/removals.ts';

/** Bases of removals by node name and MAC address (lower case). A missing entry: the basis is unknown. */
export type RemovalBases = ReadonlyMap<string, ReadonlyMap<string, RemovalBasis>>;
