import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readState } from '../../../src/agent/apply/memory.ts';
import { backends } from '../../../src/agent/backends/backends.ts';
import { interim } from '../../../src/agent/backends/ifcfg-claims.ts';
import { withSysctlFile } from '../../../src/agent/backends/sysctl-file.ts';
import type { Family } from '../../../src/api/job.ts';

/** Text by path. */
export type Files = Readonly<Record<string, string>>;

/** All of a host that a run may change. */
export interface Picture {
  /** Links, addresses, routes, rules, settings: a line each. */
  readonly kernel: readonly string[];
  readonly files: Files;
  /** What state.json says, without which request was the last one. */
  readonly state: unknown;
}

export function pictureOf(root: string, kernel: readonly string[]): Picture {
  const { fence: _, ...state } = readState(root);
  return { kernel, files: { ...filesBelow(root, 'etc'), ...filesBelow(root, 'var') }, state };
}

/** What one host has and the other has not. */
export function differences(now: Picture, want: Picture): string[] {
  const [have, shall] = [linesOf(now), linesOf(want)];
  return [
    ...shall.filter((line) => !have.includes(line)).map((line) => `missing ${line}`),
    ...have.filter((line) => !shall.includes(line)).map((line) => `too much: ${line}`),
  ];
}

function linesOf({ kernel, files, state }: Picture): string[] {
  // state.json has the last request in it, too; what it said before is left by a run that died until it is written next.
  const texts = Object.entries(files).filter(([path]) => !/\/state\.json(\.old)?$/.test(path));
  return [...kernel, ...texts.map((file) => JSON.stringify(file)), JSON.stringify(state)];
}

/** Each file that anybody reads is as it was or as it shall be, and says what it is about; those of others are as they were. */
export async function fileProblems(
  family: Family,
  now: Files,
  old: Files,
  wanted: Files,
): Promise<string[]> {
  const problems: string[] = [];
  for (const path of new Set([...Object.keys(now), ...Object.keys(old)])) {
    if (!path.startsWith('/etc/') || basename(path).startsWith('.')) continue;
    const text = now[path];
    const isStandIn = path.endsWith(interim);
    if (!isStandIn && ![old[path], wanted[path]].includes(text))
      problems.push(`${path} is neither old nor new: ${text}`);
    if (text !== undefined && path.includes('multinic') && !(await isKnown(family, path, text)))
      problems.push(`${path} is not known for ours: ${text}`);
  }
  return problems;
}

async function isKnown(family: Family, path: string, text: string): Promise<boolean> {
  const backend = backends[family];
  if (!backend) throw new Error(`no files for ${family}`);
  const { own } = await withSysctlFile(backend).read({ path, text, mode: 0o600 });
  return own !== undefined;
}

/** Leaves out backups and reports: a run that was cut short has fewer backups, and the report has the attempt. */
export function filesBelow(root: string, top: string): Files {
  const there = readdirSync(join(root, top), { recursive: true, withFileTypes: true });
  const paths = there
    .filter((each) => each.isFile() && basename(each.parentPath) !== 'backup')
    .filter(({ name }) => !/^last(?:\.1)?\.txt(?:\.new)?$/.test(name))
    .map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    paths.toSorted().map((path) => [path.slice(root.length), readFileSync(path, 'latin1')]),
  );
}
