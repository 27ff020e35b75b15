import * as z from 'zod';
import { clusterView, nodeView, portConfigView } from './read-http.ts';

/** Stream of changed rows of the read API (server-sent events). */
export const eventsPath = '/v1/inventory/events';

/** Longest text in a row (bytes). */
export const longestEventText = 1_000;

/** OpenstackConfig as in the answer about a port, without its selection. */
const configRow = portConfigView.omit({ selectsServer: true, selectsSubnet: true });
export type ConfigRow = z.infer<typeof configRow>;

const key = (form: string) => z.string().describe(`Row as ${form}.`);

/** Returns the row of a kind; null: the caller's list has no such row any more. */
const row = <Row extends z.ZodType>(schema: Row) => schema.nullable().describe('null: gone.');

/** Data of an event without a name. A later operator may send further kinds; readers skip an unknown kind. */
export const changeEvent = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('node'),
    key: key('business cluster/node/namespace/name'),
    row: row(nodeView),
  }),
  z.object({ kind: z.literal('config'), key: key('namespace/name'), row: row(configRow) }),
  z.object({ kind: z.literal('cluster'), key: key('business cluster'), row: row(clusterView) }),
]);
export type ChangeEvent = z.infer<typeof changeEvent>;

/** Name of the event without changes between: the reader reads the lists again. */
export const resetEvent = 'reset';
