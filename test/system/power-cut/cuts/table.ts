import { join } from 'node:path';
import { putRow, type ResultsTable } from '../../../results-table.ts';
import { scenes, titleOf } from './scenes.ts';

/** Result of a scene. */
export interface Row {
  readonly title: string;
  readonly atCalls: number;
  readonly atRandom: number;
  /** Number of different disks. */
  readonly booted: number;
  readonly wrong: number;
}

const table: ResultsTable = {
  path: join(import.meta.dirname, '../results.md'),
  text: `# Power cuts in guests

An agent is at work in a guest when its power is cut: before each fsync, rename, link and unlink of it and after its end, where
nothing is on the disk that was not synced, and at random moments, where the guest's kernel writes when it wants to. Then each
file of ours is the old or the new one and is read as ours, and after the agent has said that it is done the new one. The host
boots, its own network works, and each NIC is as its file says: name, addresses, routes, rules and settings are those of a host
whose power was never cut. One more run leads to the very state and files of that one. What boots from the same files is booted
once. "first NIC added": on a bare node. "changed": one NIC gets other addresses, MTU and routing, one leaves, one comes. Made
by \`make test-long SUITE=power-cut\`.
`,
  head: ['host and life', 'cuts at calls', 'at random', 'different disks', 'wrong'],
  titles: scenes.map(titleOf),
};

export function write({ title, atCalls, atRandom, booted, wrong }: Row): void {
  console.log(putRow(table, title, [atCalls, atRandom, booted, wrong]));
}
