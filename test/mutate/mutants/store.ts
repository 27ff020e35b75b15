import type { Mutant } from '../mutant.ts';

export const storeMutants: readonly Mutant[] = [];
