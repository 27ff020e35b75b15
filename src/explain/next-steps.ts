import type { NextStepRow } from '../api/reasons/next-step-row.ts';
import type { ReasonRow } from '../api/reasons/reason-row.ts';
import { rowOf } from '../api/reasons.ts';
import { filledIfKnown, type Wording } from '../api/texts/text.ts';
import { type About, type KnownValues, valuesOf } from './command-values.ts';
import { filledCommands } from './commands.ts';
import type { NextStep } from './step.ts';
import { same } from './wording.ts';

/** Returns the first next step in the table with all values known, otherwise the action alone. */
export function nextFor(reason: string, { code, ...about }: About): NextStep {
  const row = rowOf(reason);
  const codeRow = code === undefined ? undefined : rowOf(code);
  const action = codeRow?.action ?? row?.action ?? same('');
  const values = valuesOf(about);
  const [found] = [codeRow, row].flatMap((each) => stepsIn(each, action, values));
  return found ?? { text: action, commands: [], preview: [] };
}

function stepsIn(row: ReasonRow | undefined, action: Wording, values: KnownValues): NextStep[] {
  return (row?.nextStep ?? []).flatMap((step) => withValues(step, action, values) ?? []);
}

function withValues(
  { text, commands = [], preview = [], isAfterText }: NextStepRow,
  action: Wording,
  values: KnownValues,
): NextStep | undefined {
  const complete = filledCommands(commands, values);
  const completePreview = filledCommands(preview, values);
  const words = text ? filledIfKnown(text, textsIn(values)) : action;
  if (!complete || !completePreview || !words) return undefined;
  const step = { text: words, commands: complete, preview: completePreview };
  return isAfterText === true ? { ...step, isAfterText } : step;
}

/** Returns the known values for a text; lists are for commands only. */
function textsIn(values: KnownValues): Readonly<Record<string, string>> {
  const known = Object.entries(values).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  return Object.fromEntries(known);
}
