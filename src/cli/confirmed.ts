import { createInterface } from 'node:readline/promises';
import { Refusal } from './refusal.ts';

/** Asks a person; resolves at `yes` and throws at anything else. Where nobody can be asked, that is said. */
export async function confirmed(question: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new Refusal(
      'nobody can be asked here',
      'give --yes, or --dry-run to see what would be done',
    );
  using terminal = disposable();
  const answer = await terminal.question(`${question} (yes/no) `);
  if (answer.trim().toLowerCase() !== 'yes')
    throw new Refusal('nothing was done', 'answer yes, or give --yes');
}

function disposable() {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  return {
    question: (text: string) => terminal.question(text),
    [Symbol.dispose]: () => terminal.close(),
  };
}
