import type { NodeView } from '../../api/read-http.ts';
import { rowOf } from '../../api/reasons.ts';
import { screensTexts } from '../../api/texts/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { words } from '../../api/texts/titles.ts';
import { nodeKey } from '../../explain/subject.ts';
import type { Language } from '../options.ts';
import { printable } from '../output/width.ts';

/** Ready condition of an OpenstackConfig; status Unknown: no condition. */
export type Readiness = Readonly<Record<'status' | 'reason' | 'message', string>>;

/** Returns the result of a sync, and the next step after a failure. */
export function syncText(config: string, ready: Readiness, lang: Language): string {
  const { status, reason, message } = ready;
  const head = filled(screensTexts.configSynced, { config })[lang];
  const next = status === 'False' ? rowOf(reason)?.action[lang] : undefined;
  return [
    printable(`${head}: Ready ${status} ${reason}: ${message}`),
    ...(next === undefined ? [] : [`${words.next[lang]} ${next}`]),
  ].join('\n');
}

/** Returns the result of a check with repair; `why` is the command for an explanation. */
export function healText(node: NodeView, why: string | undefined, lang: Language): string {
  const name = nodeKey(node);
  const head = filled(screensTexts.nodeChecked, { name })[lang];
  if (why === undefined) {
    return filled(screensTexts.nodeAsPlanned, { head })[lang];
  }
  return [printable(`${head}: ${node.reason}: ${node.message}`), `${words.next[lang]} ${why}`].join(
    '\n',
  );
}
