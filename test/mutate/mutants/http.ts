import type { Mutant } from '../mutant.ts';

export const httpMutants: readonly Mutant[] = [];
