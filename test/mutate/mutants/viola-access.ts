import type { Mutant } from '../mutant.ts';

const room = 'src/operator/viola-access';

/** In one file of the room; the tests are named without folder and ending. */
function mutant(file: string, find: string, replace: string, ...tests: string[]): Mutant {
  const files = tests.map((name) => `${room}/${name}.test.ts`);
  return { file: `${room}/${file}.ts`, find, replace, tests: ['unit', ...files] };
}

const tls = ['tls-plan.property', 'tls'] as const;
const tokens = ['token-plan.property', 'tokens'] as const;

export const violaAccessMutants: readonly Mutant[] = [
  mutant('kept-secret', "fence ?? { resourceVersion: '1' }", '{}', 'kept-secret', 'tokens'),
  mutant('kept-secret', 'if (!isOurs(secret)) {', 'if (false) {', 'kept-secret', 'keeper'),
  mutant(
    'kept-secret',
    'metadata.labels?.[labels.managedBy] === fieldManagers.operator ||',
    '',
    'kept-secret',
  ),
  mutant(
    'kept-secret',
    'managers.some(({ manager }) => manager === fieldManagers.operator)',
    'false && managers',
    'kept-secret',
  ),
  mutant('kept-secret', 'if (secret.type !== type) {', 'if (false) {', 'kept-secret'),
  mutant('kept-secret', 'force: true, signal', 'signal', 'kept-secret', 'tls'),
  mutant(
    'certificate',
    'certificate.checkPrivateKey(createPrivateKey(key))',
    'true',
    'certificate',
  ),
  mutant('certificate', '.filter((read) => read.ca)', '', 'certificate'),
  mutant('issue', '& 0x3f) | 0x40', '& 0xff)', 'issue'),
  mutant('issue', "randomBytes(4).toString('hex')", "'x'", 'issue'),
  mutant('held-tls', '...authoritiesIn(shown)', '', 'tls'),
  mutant('held-tls', 'authoritiesIn(pair.certificate.pem).length > 0', 'true', 'tls'),
  mutant(
    'tls-plan',
    'const beside = othersThan(undefined, held, nowMs);',
    'const beside = othersThan(undefined, { ...held, server: undefined, trusted: { ...held.trusted, authorities: [] } }, nowMs);',
    ...tls,
  ),
  mutant('tls-plan', ' || !isValid(issuer, nowMs)', '', ...tls),
  mutant('tls-plan', 'fromMs <= nowMs && nowMs < untilMs', 'nowMs < untilMs', ...tls),
  mutant(
    'tls-plan',
    'nowMs >= certificate.untilMs - renewalMs',
    'nowMs >= certificate.untilMs',
    ...tls,
  ),
  mutant(
    'tls-plan',
    '[...issuer, ...trusted.authorities.toSorted(newestFirst)]',
    '[...trusted.authorities.toSorted(newestFirst), ...issuer]',
    ...tls,
  ),
  mutant('tls-plan', '    .slice(0, mostOthers)\n', '', ...tls),
  mutant('tls-plan', 'id !== signing?.id && nowMs < untilMs', 'id !== signing?.id', ...tls),
  mutant('tls-plan', '!certificate.names.includes(name)', 'false && name', ...tls),
  mutant('tls-plan', 'if (shown !== bundleOf(beside)) {', 'if (false) {', ...tls),
  mutant('tls', 'made.certificate + bundleOf(beside)', 'made.certificate', ...tls),
  mutant('tls', 'if (plan.trusted.length > 0) {', 'if (true) {', 'tls'),
  mutant('tls', 'remembers ? trusted : undefined', 'undefined', 'tls'),
  mutant('tls', 'remembers = false;\n    },', '},', 'tls'),
  mutant('tokens', 'inUse: remembers ? inUse : undefined,', 'inUse,', 'tokens'),
  mutant('tls', 'if (steps === mostSteps) throw', 'if (steps > 99) throw', 'tls'),
  mutant('token-plan', '>= settledMs;\n    const why', '>= 0;\n    const why', ...tokens),
  mutant('token-plan', '>= settledMs ? token : inUse', '>= 0 ? token : inUse', ...tokens),
  mutant(
    'token-plan',
    'if (token === undefined || !isGranted(token)) return inUse;',
    'if (token === undefined) return inUse;',
    ...tokens,
  ),
  mutant('token-plan', '|| !isGranted(inUse)) return token', ') return token', ...tokens),
  mutant('token-plan', '[token, next, inUse].flatMap', '[token, next].flatMap', ...tokens),
  mutant('token-plan', '[token, next, inUse].flatMap', '[token, inUse].flatMap', ...tokens),
  mutant('token-plan', '...(isOld ? [] : others)', '', ...tokens),
  mutant('token-plan', '...(isOld ? [] : others)', '...others', ...tokens),
  mutant(
    'token-plan',
    'sinceMs < nowMs + skewMs ? sinceMs : undefined',
    'sinceMs > 0 ? sinceMs : undefined',
    ...tokens,
  ),
  mutant('token-plan', 'this.#since.get(hash) ?? monotonicMs]));', 'monotonicMs]));', ...tokens),
  mutant('tokens', 'next: next === token ? undefined : next,', 'next,', ...tokens),
  mutant('tokens', 'if (steps === mostSteps) throw', 'if (steps > 99) throw', 'tokens'),
  mutant('keeper', 'leading.throwIfAborted();', '', 'keeper'),
  mutant('keeper', '        tokens.lead();\n', '', 'keeper'),
  mutant('keeper', 'if (isRace) {', 'if (false) {', 'keeper'),
  mutant('keeper', 'if (troubles.get(secret) !== message) log', 'log', 'keeper'),
  mutant('keeper', 'if (troubles.delete(name))', 'if (troubles.has(name))', 'keeper'),
  mutant('credentials', "  refuseBoth('tls', violaTls, 'ca', violaCaFile);\n", '', 'credentials'),
  mutant(
    'credentials',
    "tls: violaTls === 'managed'",
    "tls: violaAccess === 'managed'",
    'credentials',
  ),
];
