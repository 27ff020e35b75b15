import type { NextStepRow } from '../api/reasons/next-step-row.ts';
import { rowOf } from '../api/reasons.ts';
import type { Wording } from '../api/texts/text.ts';
import { type About, type KnownValues, valuesOf } from './command-values.ts';
import { filledCommands } from './commands.ts';
import type { NextStep } from './step.ts';
import { same } from './wording.ts';

/** Returns the first next step in the table with all values known, otherwise the action alone. */
export function nextFor(reason: string, about: About): NextStep {
  const row = rowOf(reason);
  const action = row?.action ?? same('');
  const ofCode = (about.code === undefined ? undefined : rowOf(about.code)?.action) ?? action;
  const values = valuesOf(about);
  const [found] = (row?.nextStep ?? []).flatMap((step) => withValues(step, ofCode, values) ?? []);
  return found ?? { text: action, commands: [], preview: [] };
}

function withValues(
  { text, commands = [], preview = [], isAfterText }: NextStepRow,
  action: Wording,
  values: KnownValues,
): NextStep | undefined {
  const filled = filledCommands(commands, values);
  const filledPreview = filledCommands(preview, values);
  if (!filled || !filledPreview) return undefined;
  const step = { text: text ?? action, commands: filled, preview: filledPreview };
  return isAfterText === true ? { ...step, isAfterText } : step;
}
