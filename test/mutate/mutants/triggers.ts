import type { Mutant } from '../mutant.ts';

const room = 'src/operator/triggers';

/** A mutant that tests of the triggers have to notice. */
function mutant(file: string, find: string, replace: string, test: string): Mutant {
  const tests = ['unit', `${room}/${test}.test.ts`] as const;
  return { file: `${room}/${file}.ts`, find, replace, tests };
}

const policy = (find: string, replace: string) => mutant('policy', find, replace, 'policy');
const cause = (find: string, replace: string) => mutant('causes', find, replace, 'triggers');
const pass = (find: string, replace: string) => mutant('triggers', find, replace, 'triggers');
const server = (file: string, find: string, replace: string) =>
  mutant(`server/${file}`, find, replace, 'server/routes');

export const triggersMutants: readonly Mutant[] = [
  policy("immediateOnCRChange = mode === 'manual'", 'immediateOnCRChange = false'),
  policy("mode === 'immediate' || immediateOnCRChange", 'immediateOnCRChange'),
  policy('if (ms < shortestIntervalMs)', 'if (ms <= 0)'),
  policy("mode === 'scheduled' ? schedule : undefined", 'schedule'),
  mutant('schedule', 'if (cron.nextRun(new Date(0)) === null)', 'if (false)', 'policy'),
  mutant('schedule', "mode: '5-part', timezone", "mode: '5-part'", 'policy'),
  mutant('schedule', "mode: '5-part', ", '', 'policy'),
  mutant('schedule', '/ ms) + 1) * ms', '/ ms) + 2) * ms', 'policy'),
  cause("if (asked) return 'asked';", ''),
  cause("if (unfinished) return 'unfinished';", ''),
  cause('if (changed && onChange)', 'if (changed)'),
  cause("  'ServerNotFound',\n", ''),
  cause('.some((reason) => !standing', '.every((reason) => !standing'),
  cause('reasons.size === 0 ||', ''),
  cause("findCondition(conditions, 'Paused') !== undefined", 'false'),
  cause('unfinished: !changed && (waits || failed)', 'unfinished: waits || failed'),
  cause('unfinished: !changed && (waits || failed)', 'unfinished: !changed && failed'),
  cause('hasLeaveToRemove(object) ||', ''),
  pass('<= slackMs', '<= 0'),
  pass('Math.max(this.#now(), past.getTime())', 'this.#now()'),
  pass('if (policy !== this.#policy) return { requeueAfterMs: 0 };', ''),
  pass('Math.min(this.#now(), seenUntil)', 'this.#now()'),
  pass('syncedAt + heartbeatMs', 'syncedAt'),
  pass('unfinished ? looked : undefined', 'undefined'),
  pass('this.#due.clear();', ''),
  pass('if (isReady(this.#deps.writer.latest(object)))', 'if (true)'),
  pass("mode === 'immediate' && (cause", "mode !== 'immediate' && (cause"),
  mutant('watch', 'fieldSelector: `metadata.name=${triggerConfigMap.name}`,', '', 'watch'),
  mutant('watch', 'onPolicy(immediately);', '', 'watch'),
  mutant('watch', 'textIn(change.previous) === textIn(object)', 'false', 'watch'),
  server('signature', 'if (awayMs <= signatureWindowMs)', 'if (true)'),
  server('signature', '${timestamp}\\n${method}', '${method}'),
  server('signature', '.update(body)', ''),
  server('signature', '${path}\\n', '\\n'),
  server('used-signatures', 'if (this.#used.has(hmac))', 'if (false)'),
  server('used-signatures', '2 * signatureWindowMs', 'signatureWindowMs'),
  server('used-signatures', 'if (this.#used.size >= most)', 'if (false)'),
  server('callers', 'used.use(signature.hmac);', ''),
  server('callers', "verb: 'write'", "verb: 'read'"),
  server('reconcile-requests', 'this.#recent.get(key) ?? ', ''),
  server('reconcile-requests', 'if (this.#recent.size >= most)', 'if (false)'),
  server('reconcile-requests', 'if (now - at < togetherMs) break;', 'break;'),
  server('routes', 'unlessAborted(asked, request.work)', 'asked'),
  server(
    'routes',
    "signature?.hmac.slice(0, 16) ?? randomBytes(8).toString('hex')",
    "randomBytes(8).toString('hex')",
  ),
];
