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
  mutant('schedule', 'new Cron(pattern, { timezone })', 'new Cron(pattern)', 'policy'),
  mutant('schedule', '/ ms) + 1) * ms', '/ ms) + 2) * ms', 'policy'),
  policy('if (text.length > longestText)', 'if (text.length > 1e9)'),
  policy('ms > maxSleepMs', 'false'),
  policy('everyInterval(Math.round(ms))', 'everyInterval(ms)'),
  policy("timezone = 'UTC'", "timezone = 'Asia/Seoul'"),
  policy('interval ?? usualInterval', "interval ?? '1m'"),
  policy('if (interval !== undefined && schedule !== undefined)', 'if (false)'),
  policy(
    "z.core.$ZodIssue, raw: unknown): string {\n  if (issue.code === 'unrecognized_keys')",
    'z.core.$ZodIssue, raw: unknown): string {\n  if (false)',
  ),
  mutant('schedule', 'split(/\\s+/).length !== 5', 'split(/\\s+/).length > 5', 'policy'),
  cause("if (isDue) return 'time';", ''),
  cause("mode === 'immediate' ? 'poll' : undefined", "'poll'"),
  mutant('causes', "  'ConfigError',\n", '', 'causes'),
  mutant('causes', "inConflict && takeOverFromOf(object) !== ''", 'false', 'causes'),
  mutant(
    'causes',
    "reconcileAt !== '' && reconcileAt !== lastHandledReconcileAt",
    "reconcileAt !== ''",
    'causes',
  ),
  pass('const earlier = next < due ? next : due;', 'const earlier = due;'),
  pass('nextOf(policy, this.#now() + slackMs)', 'nextOf(policy, this.#now())'),
  pass("if (policy.mode === 'immediate') return looked;", ''),
  mutant('watch', 'if (text === undefined) throw', 'if (false) throw', 'watch'),
  mutant('watch', 'usable(false);', '', 'watch'),
  mutant('watch', 'reason, message },', "reason, message: '' },", 'watch'),
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
  pass('this.#policy = policy;\n    this.#due.clear();', 'this.#policy = policy;'),
  pass('lead(): void {\n    this.#due.clear();', 'lead(): void {'),
  pass('if (isReady(this.#deps.writer.latest(object)))', 'if (true)'),
  pass("mode === 'immediate' && (cause", "mode !== 'immediate' && (cause"),
  mutant('watch', 'fieldSelector: `metadata.name=${triggerConfigMap.name}`,', '', 'watch'),
  mutant('watch', 'use(immediately);', '', 'watch'),
  mutant('watch', 'textIn(change.previous) === textIn(object)', 'false', 'watch'),
  server('signature', 'if (awayMs <= signatureWindowMs)', 'if (true)'),
  server('signature', '${timestamp}\\n${method}', '${method}'),
  server('signature', '.update(body)', ''),
  server('signature', '${path}\\n', '\\n'),
  {
    file: `${room}/server/reconcile-requests.ts`,
    find: '!allowedNamespaces.includes(namespace)',
    replace: 'false',
    tests: ['unit', `${room}/server/routes.test.ts`],
  },
  server('used-signatures', 'if (this.#used.has(hmac))', 'if (false)'),
  server('used-signatures', '2 * signatureWindowMs', 'signatureWindowMs'),
  server('used-signatures', 'if (this.#used.size >= most)', 'if (false)'),
  pass('Math.min(ms, longestWaitMs)', 'ms'),
  server('callers', 'used.use(signature.hmac);', ''),
  server('routes', 'if (signature) deps.used.forget(signature.hmac);', ''),
  server('callers', "verb: 'write'", "verb: 'read'"),
  server('reconcile-requests', 'if (waiting) return waiting;', ''),
  server('reconcile-requests', 'if (this.#waiting.has(key))', 'if (false)'),
  server('reconcile-requests', 'if (this.#waiting.size >= most)', 'if (false)'),
  server('reconcile-requests', 'this.#waiting.set(key, undefined);', ''),
  server('reconcile-requests', 'await isOver;', ''),
  server('reconcile-requests', 'this.#waiting.delete(key);', ''),
  server(
    'reconcile-requests',
    "perform('operator.trigger.write', async () =>",
    '(async (write) => write())(async () =>',
  ),
  server('reconcile-requests', 'if (isNotFound(error))', 'if (false)'),
  server('reconcile-requests', 'if (isForbidden(error))', 'if (false)'),
  server('signature', '${method}\\n', '\\n'),
  server(
    'signature',
    'Math.abs(now.getTime() - Number(timestamp) * 1000)',
    'now.getTime() - Number(timestamp) * 1000',
  ),
  server('signature', 'if (fits.length === 0)', 'if (false)'),
  server('used-signatures', 'if (now - at <= rememberedMs) break;', 'break;'),
  server('callers', 'if (!tokens)', 'if (false)'),
  server('callers', 'signatureIn(headers, clock.now());\n      // By', '// By'),
  server('callers', 'retryAfterSeconds: 5, cause', 'cause'),
  server('routes', 'unlessAborted(asked, request.work)', 'asked'),
  server(
    'routes',
    "signature?.hmac.slice(0, 16) ?? randomBytes(8).toString('hex')",
    "randomBytes(8).toString('hex')",
  ),
  {
    file: 'src/operator/triggers/watch.ts',
    find: 'if (!known) onPolicy(unreadable);',
    replace: '',
    tests: ['unit', 'src/operator/triggers/watch.test.ts'],
  },
  {
    file: 'src/operator/triggers/watch.ts',
    find: 'known = true;',
    replace: '',
    tests: ['unit', 'src/operator/triggers/watch.test.ts'],
  },
];
