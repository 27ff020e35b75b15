import * as z from 'zod';
import { controlCharacterIn } from '../../api/object-name.ts';

/** Path parameters of the routes for one node. */
export const nodeParams = z.object({
  node: z
    .string()
    .min(1)
    .max(253)
    .refine((name) => controlCharacterIn(name) === undefined, {
      error: ({ input }) => `${controlCharacterIn(String(input))}; send the name of a node`,
    }),
});
