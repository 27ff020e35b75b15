import type { Mutant } from '../mutant.ts';

export const violaMutants: readonly Mutant[] = [];
