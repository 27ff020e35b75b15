import type { Mutant } from '../mutant.ts';

export const openstackMutants: readonly Mutant[] = [];
