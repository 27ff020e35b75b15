import { awaitedIn } from '../../api/awaited.ts';
import { messageCodeOf } from '../../api/message-codes.ts';
import type { NodeView } from '../../api/read-http.ts';
import { rowOf } from '../../api/reasons.ts';
import { screensTexts } from '../../api/texts/screens.ts';
import { filled, type Language } from '../../api/texts/text.ts';
import { words } from '../../api/texts/titles.ts';
import { nextFor } from '../../explain/next-steps.ts';
import type { NextStep } from '../../explain/step.ts';
import { nodeKey } from '../../explain/subject.ts';
import { nextTry } from '../../explain/wording.ts';
import { printable } from '../output/width.ts';
import { problemsOf } from './node-problems.ts';
import type { Readiness } from './request-gate.ts';

export interface SyncResult {
  /** OpenstackConfig as `namespace/name`. */
  readonly config: string;
  /** Business cluster; undefined: unknown. */
  readonly provider: string | undefined;
  readonly ready: Readiness;
  /** Next attempt (RFC 3339); undefined: unknown. */
  readonly nextAt: string | undefined;
  readonly now: Date;
}

/** Returns a sync's result; after a failure with next try and next step, without a further sync. */
export function syncText(result: SyncResult, lang: Language): string {
  const { config, ready, nextAt, now } = result;
  const { status, reason, message } = ready;
  if (status === 'True') {
    const head = filled(screensTexts.configSynced, { config })[lang];
    return printable(`${head}: Ready ${status} ${reason}: ${message}`);
  }
  const head = filled(screensTexts.syncFailed, { config })[lang];
  const retry = nextTry(nextAt, now)[lang];
  const next = nextAfterSync(result);
  return [
    printable(`${head}: Ready ${status} ${reason}: ${message}${retry}`),
    ...(next === undefined ? [] : [`${words.next[lang]} ${printable(next.text[lang])}`]),
    ...(next?.commands ?? []).map((command) => `  ${printable(command)}`),
  ].join('\n');
}

/** Returns the reason's next step, only the action if the commands sync again. Undefined: a newer reason. */
function nextAfterSync({
  config,
  provider,
  ready: { reason, message },
}: SyncResult): Pick<NextStep, 'text' | 'commands'> | undefined {
  const row = rowOf(reason);
  if (row === undefined) return undefined;
  const next = nextFor(reason, { config, provider, code: messageCodeOf(message) });
  return next.commands.some(isSync) ? { text: row.action, commands: [] } : next;
}

/** True if the command waits for an attempt, which has just ended with this reason. */
function isSync(command: string): boolean {
  return awaitedIn(command.split(' ')) === 'attempt';
}

/** Returns the result of a check with repair; `why` is the command for an explanation. */
export function healText(node: NodeView, why: string | undefined, lang: Language): string {
  const name = nodeKey(node);
  const head = filled(screensTexts.nodeChecked, { name })[lang];
  if (why === undefined) {
    return filled(screensTexts.nodeAsPlanned, { head })[lang];
  }
  const problems = problemsOf(node).map((each) =>
    each.isNode ? each.text : `${each.name}: ${each.text}`,
  );
  const text = problems.length > 0 ? problems.join('; ') : `${node.reason}: ${node.message}`;
  return [printable(`${head}: ${text}`), `${words.next[lang]} ${why}`].join('\n');
}
