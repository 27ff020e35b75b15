import { expect } from 'vitest';
import { type Command, nameOf } from '../../../requirements/commands.ts';
import type { Cluster, Outcome, Running } from '../../../requirements/outcomes.ts';
import { type Ended, run, type Shell, start } from './shell.ts';

/** A person's shell at each cluster, with a loopback on which every port is free. */
export type Shells = Readonly<Record<'management' | 'business', Shell>> &
  Readonly<Partial<Record<'lifecycle', Shell>>>;

/** Runs a document's command and compares the result with the expected outcome. */
export async function expectOutcome(shells: Shells, command: Command, outcome: Outcome) {
  switch (outcome.kind) {
    case 'runs':
      return expectRuns(shells, command.text, outcome);
    case 'runs with':
      return expectRuns(shells, withValues(command.text, outcome.values), outcome);
    case 'interactive':
      return expectAsks(shellAt(shells, outcome.on), command.text, outcome);
    case 'runs elsewhere':
      return run(
        onMachine(shellAt(shells, 'management')),
        nameOf(command).replace(/^make/, 'make --dry-run'),
      );
    case 'difference':
      return outcome.instead && expectRuns(shells, outcome.instead.command, outcome.instead);
  }
}

function shellAt(shells: Shells, on: Cluster): Shell {
  const shell = shells[on];
  if (!shell) throw new Error(`there is no cluster ${on} here`);
  return shell;
}

function withValues(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((all, [word, own]) => all.replaceAll(word, own), text);
}

async function expectRuns(shells: Shells, text: string, running: Running) {
  const { on, prints, endless, beside, terminal, edits, refused } = running;
  const shell = withEditor(shellAt(shells, on), edits);
  await using other = beside === undefined ? undefined : start(shell, beside);
  await other?.until(/^Forwarding from/m);
  if (endless) {
    await using command = start(shell, terminal ? onTerminal(text) : text);
    await command.until(prints ?? /./);
    return;
  }
  const place = beside === undefined ? onMachine(shell) : shell;
  const { output } = refused ? await expectRefused(place, text) : await run(place, text);
  if (prints) expect(output).toMatch(prints);
}

async function expectRefused(shell: Shell, text: string): Promise<Ended> {
  const ended = await start(shell, text).ended;
  expect(ended.code, text).not.toBe(0);
  return ended;
}

/** kubectl opens the file in this editor; on the second call the file is already changed. */
function withEditor(shell: Shell, edits: string | undefined): Shell {
  if (edits === undefined) return shell;
  return { ...shell, env: { ...shell.env, KUBE_EDITOR: `sed -i -E '${edits}'` } };
}

function onTerminal(text: string): string {
  const quoted = text.replaceAll("'", String.raw`'\''`);
  return `/usr/bin/script --quiet --return --command '${quoted}' /dev/null`;
}

/** Registry access for builds. */
function onMachine({ cwd, env }: Shell): Shell {
  return { cwd, env };
}

/** On a terminal, where a person answers. */
async function expectAsks(
  shell: Shell,
  text: string,
  { answer, prints }: Extract<Outcome, { kind: 'interactive' }>,
) {
  const { output } = await start(onMachine(shell), onTerminal(text), `${answer}\n`).ended;
  expect(output.replaceAll('\r', '')).toMatch(prints);
}
