import type { NodeView } from '../../api/read-http.ts';
import { ageOf } from '../../explain/wording.ts';
import type { Language } from '../options.ts';
import { skippedLines } from '../output/findings.ts';
import { printable } from '../output/width.ts';
import { words } from '../output/wording.ts';
import type { Skipped } from '../report.ts';
import type { PendingChanges } from './pending.ts';

export interface DiffPage {
  readonly node: NodeView;
  /** NICs with drift. */
  readonly pending: readonly PendingChanges[];
  readonly skipped: readonly Skipped[];
  /** Command that applies what differs once. */
  readonly heal: string;
  readonly now: Date;
}

/** Returns the differences per NIC, a change per line. */
export function diffText(page: DiffPage, lang: Language): string {
  const { node, pending, skipped, heal, now } = page;
  const { nics, drifted } = node;
  const differing = new Set(pending.map(({ nic }) => nic));
  const same = nics.map(({ name }) => name).filter((name) => !differing.has(name));
  const none = lang === 'ko' ? '차이 없음' : 'no difference';
  const next =
    lang === 'ko'
      ? '다음 조치: 차이를 한 번 적용하려면:'
      : `${words.next.en} to apply what differs once:`;
  const lines = [
    headline(node, now, lang),
    ...(drifted ? [lang === 'ko' ? '+ 적용될 변경' : '+ would be applied'] : []),
    '',
    ...pending.flatMap((changes) => linesOf(changes, lang)),
    ...(same.length > 0 ? [`${same.join(', ')}: ${none}`] : []),
    ...(drifted ? ['', next, `  ${heal}`] : []),
  ].map((line) => printable(line));
  return [...lines, ...(skipped.length > 0 ? ['', ...skippedLines(skipped, lang)] : [])].join('\n');
}

function headline({ nodeName, object, checkedAt }: NodeView, now: Date, lang: Language): string {
  const job = object?.lastJobName === undefined ? '' : ` (Job ${object.lastJobName})`;
  const age = ageOf(checkedAt, now);
  return lang === 'ko'
    ? `노드 ${nodeName}를 ${age.ko} 전에 확인했습니다${job}`
    : `Node ${nodeName} was checked ${age.en} ago${job}`;
}

function linesOf({ nic, lines, complete }: PendingChanges, lang: Language): string[] {
  const more = lang === 'ko' ? '  (더 있음)' : '  (and more)';
  return [nic, ...lines.map((line) => `  + ${line}`), ...(complete ? [] : [more])];
}
