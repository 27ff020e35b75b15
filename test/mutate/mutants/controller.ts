import type { Mutant } from '../mutant.ts';

export const controllerMutants: readonly Mutant[] = [];
