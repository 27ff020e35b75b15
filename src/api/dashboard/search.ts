import * as z from 'zod';
import { list, screenFields, subjectLink } from './screen.ts';

/** Query for `search`: name, address, MAC, port or server, also in part. */
export const searchQuery = z.object({ text: z.string().trim().min(2).max(255) });

/** A found object. */
const searchHit = z.object({
  link: subjectLink,
  title: z.string().describe('Such as biz-1/worker-18/multinic2.'),
  field: z
    .enum(['name', 'address', 'mac', 'port', 'server', 'network', 'subnet'])
    .describe('Field with the text.'),
  value: z.string().describe('Value of the field.'),
  state: z.string().optional(),
  reason: z.string().optional().describe('Key of the table of reasons; absent: none.'),
});

/** `search`: equal values first, then beginnings, then further parts. */
export const searchAnswer = z.object({
  ...screenFields,
  hits: list(searchHit).describe('At most 50.'),
  count: z.int().describe('All hits.'),
});
