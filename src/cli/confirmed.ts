import { createInterface } from 'node:readline/promises';
import { Refusal } from './refusal.ts';

/**
 * Asks the user; resolves on `yes`. Throws a Refusal on any other answer, or without a terminal. `preview` names the
 * way to see the changes first.
 */
export async function confirmed(
  question: string,
  preview = '--dry-run to see the changes',
): Promise<void> {
  if (!process.stdin.isTTY)
    throw new Refusal(
      'standard input is not a terminal: the command cannot ask for confirmation',
      `give --yes, or ${preview}`,
    );
  const answer = await answered(`${question} (yes/no)`, process.stdout);
  if (answer.toLowerCase() !== 'yes')
    throw new Refusal('nothing was changed: the answer is not yes', 'answer yes, or give --yes');
}

/** Asks the user; returns the answer without surrounding spaces. */
export async function answered(
  question: string,
  output: NodeJS.WritableStream = process.stderr,
): Promise<string> {
  using terminal = disposable(output);
  return (await terminal.question(`${question} `)).trim();
}

function disposable(output: NodeJS.WritableStream) {
  const terminal = createInterface({ input: process.stdin, output });
  return {
    question: (text: string) => terminal.question(text),
    [Symbol.dispose]: () => terminal.close(),
  };
}
