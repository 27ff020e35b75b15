import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenes, titleOf } from './scenes.ts';

/** What came of one scene. */
export interface Row {
  readonly title: string;
  readonly atCalls: number;
  readonly atRandom: number;
  /** Of so many different disks. */
  readonly booted: number;
  readonly wrong: number;
}

const path = join(import.meta.dirname, '../results.md');
const head = ['host and life', 'commit', 'cuts at calls', 'at random', 'different disks', 'wrong'];

/** Of what is tried from now on: a run takes long enough for another one to come. */
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();

function line(cells: readonly (string | number)[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** Writes a row in place of the one of an earlier run; those of other scenes stay, each with the commit that it is about. */
export function write({ title, atCalls, atRandom, booted, wrong }: Row): void {
  const former = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  const row = line([title, commit, atCalls, atRandom, booted, wrong]);
  const rows = scenes.map(titleOf).flatMap((each) => {
    const old = former.find((text) => text.startsWith(`| ${each} |`));
    return each === title ? [row] : (old ?? []);
  });
  writeFileSync(path, `${text}${[line(head), line(head.map(() => '---')), ...rows].join('\n')}\n`);
  console.log(row);
}

const text = `# Power cuts in guests

An agent is at work in a guest when its power is cut: before each fsync, rename, link and unlink of it and after its end, where
nothing is on the disk that was not synced, and at random moments, where the guest's kernel writes when it wants to. Then each
file of ours is the old or the new one and is read as ours, and after the agent has said that it is done the new one. The host
boots, its own network works, and each NIC is as its file says: name, addresses, routes, rules and settings are those of a host
whose power was never cut. One more run leads to the very state and files of that one. What boots from the same files is booted
once. "first NIC added": on a bare node. "changed": one NIC gets other addresses, MTU and routing, one leaves, one comes. Made
by \`make test-guest-full\`.

`;
