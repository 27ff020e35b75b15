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
  using terminal = disposable();
  const answer = await terminal.question(`${question} (yes/no) `);
  if (answer.trim().toLowerCase() !== 'yes')
    throw new Refusal('nothing was changed: the answer is not yes', 'answer yes, or give --yes');
}

function disposable() {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  return {
    question: (text: string) => terminal.question(text),
    [Symbol.dispose]: () => terminal.close(),
  };
}
