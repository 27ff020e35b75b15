import type { Mutant } from '../mutant.ts';

export const processMutants: readonly Mutant[] = [];
