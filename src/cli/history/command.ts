import { Command } from 'commander';
import { historyTexts } from '../../api/texts/history.ts';
import { filled, type Language } from '../../api/texts/text.ts';
import { parseDuration } from '../../process/duration.ts';
import { type History, readHistory } from '../../session/facts/history-facts.ts';
import { historySearchOf } from '../../session/facts/history-search.ts';
import { required } from '../../session/facts/required.ts';
import { unreadBehind } from '../../session/facts/unread-sources.ts';
import type { EndWith } from '../exit-status.ts';
import { type CommonOptions, withCommonOptions } from '../options.ts';
import { printList } from '../output/list.ts';
import { WrongUsage } from '../refusal.ts';
import { withSession } from '../run-command.ts';
import { unusableTarget } from '../why/target.ts';
import { historyList } from './rows.ts';

interface Options extends CommonOptions {
  readonly cluster?: string;
  readonly since?: string;
  readonly limit: string;
}

/** `multinic history`: NIC changes with time, basis and OpenstackConfig, newest first. */
export function historyCommand(endWith: EndWith): Command {
  const command = new Command('history')
    .description('lists changes of NICs, newest first, with the basis of each removal')
    .argument('[target]', 'only this port id, MAC, address, NIC, NODE/NIC or node; default: all')
    .option('--cluster <provider>', 'only changes in this business cluster')
    .option('--since <time>', 'only changes at this time (RFC 3339) or later, or since a duration')
    .option('--limit <number>', 'how many changes at most', '100')
    .action((target: string | undefined, options: Options) =>
      listHistory(target, options, endWith),
    );
  return withCommonOptions(command, ['table', 'wide', 'json', 'yaml', 'name']);
}

async function listHistory(
  target: string | undefined,
  options: Options,
  endWith: EndWith,
): Promise<void> {
  const { lang, cluster, namespace } = options;
  const found = historySearchOf(target);
  if (found === undefined) throw unusableTarget(target ?? '');
  const { query, matches } = found;
  const provider = cluster ?? query.providerId;
  const requested = { providers: provider === undefined ? undefined : [provider], namespace };
  const limit = limitOf(options.limit);
  await withSession(options, async (run) => {
    const since = sinceOf(options.since, run.session.now());
    const search = {
      query: { ...query, ...(cluster === undefined ? {} : { providerId: cluster }), since },
      matches: (change: History['changes'][number]) =>
        matches(change) &&
        (namespace === undefined || change.openstackConfig.namespace === namespace),
      limit,
    };
    const history = required(await readHistory(run.session, search));
    const list = historyList(reachOf(history, lang));
    const rows = history.changes.slice(0, limit);
    const read = { rows, unread: () => unreadBehind(run.session, requested) };
    const unread = await printList(run, list, options, () => Promise.resolve(read));
    if (rows.length > 0) console.error(reachOf(history, lang));
    endWith({ unread }, options);
  });
}

/** Returns how far back the history reaches. */
function reachOf({ changes, oldest }: History, lang: Language): string {
  const reach =
    oldest === undefined ? historyTexts.unknownReach : filled(historyTexts.reachesBack, { oldest });
  return changes.length > 0 ? reach[lang] : `${historyTexts.noChangesLogged[lang]} ${reach[lang]}`;
}

const mostChanges = 10_000;

function limitOf(text: string): number {
  const limit = /^\d+$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= mostChanges) return limit;
  throw new WrongUsage(
    `--limit "${text}" is no number from 1 to ${mostChanges}`,
    'give for example --limit 500',
  );
}

/** Returns the time in RFC 3339; undefined: no limit. */
function sinceOf(text: string | undefined, now: Date): string | undefined {
  if (text === undefined) return undefined;
  const ago = parseDuration(text) ?? Number.NaN;
  const time = ago >= 0 ? new Date(now.getTime() - ago) : new Date(rfc3339.test(text) ? text : '');
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new WrongUsage(
    `--since "${text}" is no time and no duration`,
    'give for example --since 24h or --since 2026-01-31T08:00:00Z',
  );
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
