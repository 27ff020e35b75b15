import { historyTexts } from '../../api/texts/history.ts';
import { filled, type Wording } from '../../api/texts/text.ts';
import { whyTexts } from '../../api/texts/why.ts';
import { multinic } from '../commands.ts';
import type { Formerly } from '../facts.ts';
import type { NextStep } from '../step.ts';
import { nodeKey, type Subject, valueOf } from '../subject.ts';
import { same, since } from '../wording.ts';

/** Returns the removed NIC for a port without server, and the history's reach; empty: not searched. */
export function formerNicText({ facts }: Subject): Wording {
  const { formerly, now } = facts;
  if (formerly === undefined) return same('');
  if (formerly.state === 'unread') return filled(historyTexts.historyUnread, { why: formerly.why });
  const { removal, oldest } = formerly.value;
  const reach =
    oldest === undefined
      ? historyTexts.historyWithoutReach
      : filled(historyTexts.historyReach, { oldest });
  if (!removal) return filled(historyTexts.noRemovalLogged, { reach });
  const { name, at, basis } = removal;
  return filled(historyTexts.formerNic, {
    name,
    node: nodeKey(removal),
    at,
    age: since(at, now, whyTexts.removed),
    basis: basis ?? historyTexts.basisUnknown,
    reach,
  });
}

/** Returns the removed NIC's history as next step; undefined: no removal is known. */
export function formerNicNext({ facts }: Subject): NextStep | undefined {
  const removal = removalOf(facts.formerly);
  if (!removal) return undefined;
  const { name } = removal;
  const commands = [multinic('history', `${nodeKey(removal)}/${name}`)];
  return { text: historyTexts.attachFormerPort, commands, preview: [] };
}

function removalOf(formerly: Subject['facts']['formerly']): Formerly['removal'] {
  return formerly && valueOf(formerly)?.removal;
}
