import type { Mutant } from '../mutant.ts';

export const operatorMutants: readonly Mutant[] = [];
