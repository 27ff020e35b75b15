import type { Mutant } from '../mutant.ts';

export const apiMutants: readonly Mutant[] = [];
