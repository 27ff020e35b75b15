import { expect } from 'vitest';
import { type Command, nameOf } from '../../../requirements/commands.ts';
import type { Cluster, Outcome, Running } from '../../../requirements/outcomes.ts';
import { run, type Shell, start } from './shell.ts';

/** A person's shell at each cluster, with a loopback on which every port is free. */
export type Shells = Readonly<Record<Cluster, Shell>>;

/** Runs a command of a document and holds what comes of it against its outcome. */
export async function expectOutcome(shells: Shells, command: Command, outcome: Outcome) {
  switch (outcome.kind) {
    case 'runs':
      return expectRuns(shells, command.text, outcome);
    case 'runs with':
      return expectRuns(shells, withValues(command.text, outcome.values), outcome);
    case 'interactive':
      return expectAsks(shells[outcome.on], command.text, outcome);
    case 'runs elsewhere':
      return run(onMachine(shells.management), nameOf(command).replace(/^make/, 'make --dry-run'));
    case 'not built yet':
      return expectNothing(shells[outcome.on], command.text);
    case 'difference':
      return outcome.instead && expectRuns(shells, outcome.instead.command, outcome.instead);
  }
}

function withValues(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((all, [word, own]) => all.replaceAll(word, own), text);
}

async function expectRuns(shells: Shells, text: string, { on, prints, endless, beside }: Running) {
  const shell = shells[on];
  await using other = beside === undefined ? undefined : start(shell, beside);
  await other?.until(/^Forwarding from/m);
  if (endless) {
    await using command = start(shell, text);
    await command.until(prints ?? /./);
    return;
  }
  const { output } = await run(beside === undefined ? onMachine(shell) : shell, text);
  if (prints) expect(output).toMatch(prints);
}

/** Where registries are reached: what builds needs them. */
function onMachine({ cwd, env }: Shell): Shell {
  return { cwd, env };
}

/** On a terminal, where a person answers. */
async function expectAsks(
  shell: Shell,
  text: string,
  { answer, prints }: Extract<Outcome, { kind: 'interactive' }>,
) {
  const script = `/usr/bin/script --quiet --return --command '${text}' /dev/null`;
  const { output } = await start(onMachine(shell), script, `${answer}\n`).ended;
  expect(output.replaceAll('\r', '')).toMatch(prints);
}

/** What is not built is not there: the day that it is, its outcome has to say so. */
async function expectNothing({ cwd, env }: Shell, text: string) {
  const { code, stdout } = await start({ cwd, env: { ...env, KUBE_EDITOR: 'true' } }, text).ended;
  expect(code === 0 ? stdout : '', text).toBe('');
}
