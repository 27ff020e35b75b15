import type { Mutant } from '../mutant.ts';

const http = (...files: string[]) => ['unit', ...files.map((name) => `src/http/${name}`)] as const;
const table = 'test/contract/http/authorisation.test.ts';
const admission = http('admission.test.ts');

export const httpMutants: readonly Mutant[] = [
  {
    file: 'src/http/admission.ts',
    find: 'finished(reply.raw, () => exchange.close());',
    replace: "reply.raw.on('finish', () => exchange.close());",
    tests: admission,
  },
  {
    file: 'src/http/admission.ts',
    find: "JSON.stringify(caller ? [caller.name, caller.provider ?? ''] : [ip])",
    replace: 'JSON.stringify(caller ? [caller.name] : [ip])',
    tests: admission,
  },
  {
    file: 'src/http/admission.ts',
    find: "if (route.url.startsWith('/v1/') && !route.config?.admit) {",
    replace: "if (route.url === '/v1/' && !route.config?.admit) {",
    tests: admission,
  },
  {
    file: 'src/http/slots.ts',
    find: 'if (held >= this.#limit) {',
    replace: 'if (held > this.#limit) {',
    tests: admission,
  },
  {
    file: 'src/http/exchange.ts',
    find: 'if (!this.#closed || this.#working) return;',
    replace: 'if (!this.#closed) return;',
    tests: admission,
  },
  {
    file: 'src/http/exchange.ts',
    find: 'if (late) this.#end.abort(outOfTime(this.#deadlineMs));',
    replace: '',
    tests: admission,
  },
  {
    file: 'src/http/exchange.ts',
    find: 'timer.abort();',
    replace: '',
    tests: admission,
  },
  {
    file: 'src/http/access-log.ts',
    find: 'status: left ? 499 : reply.statusCode,',
    replace: 'status: reply.statusCode,',
    tests: admission,
  },
  {
    file: 'src/http/loopback.ts',
    find: "address.replace(/^::ffff:/, '')",
    replace: "address.replace(/^::ffff:.*/, '127.0.0.1')",
    tests: ['unit', 'src/http/loopback.test.ts', table],
  },
  {
    file: 'src/http/token-file.ts',
    find: 'broken === undefined || clock.monotonicMs() - broken.since < tokenGraceMs;',
    replace: 'broken === undefined || clock.monotonicMs() - broken.since < Infinity;',
    tests: http('token-file.test.ts'),
  },
  {
    file: 'src/http/token-file.ts',
    find: '.filter(({ broken }) => holds(broken))',
    replace: '',
    tests: http('token-file.test.ts'),
  },
  {
    file: 'src/http/token-file.ts',
    find: 'since = before?.broken?.since ?? clock.monotonicMs();',
    replace: 'since = clock.monotonicMs();',
    tests: http('token-file.test.ts'),
  },
  {
    file: 'src/http/who-may.ts',
    find: 'if (!caller.verbs.includes(verb)) {',
    replace: "if (verb === 'write' && !caller.verbs.includes(verb)) {",
    tests: ['unit', 'src/http/who-may.test.ts', table],
  },
  {
    file: 'src/http/app.ts',
    find: 'requestTimeout: 30_000,',
    replace: 'requestTimeout: 0,',
    tests: http('server.test.ts'),
  },
  {
    file: 'src/http/certificate.ts',
    find: 'createSecureContext({ cert, key });',
    replace: '',
    tests: http('certificate.test.ts'),
  },
  {
    file: 'src/http/error-handler.ts',
    find: 'if (hasZodFastifySchemaValidationErrors(error)) return validationProblem(error);',
    replace: '',
    tests: http('server.test.ts'),
  },
  {
    file: 'src/http/drain.ts',
    find: 'if (ending && inWork.size === 0) app.server.closeAllConnections();',
    replace: 'if (ending) app.server.closeAllConnections();',
    tests: http('drain.test.ts'),
  },
  {
    file: 'src/http/server.ts',
    find: '  endWithWork(app, clock);\n',
    replace: '',
    tests: http('drain.test.ts'),
  },
  {
    file: 'src/viola/start.ts',
    find: 'tls && follow(app, tls,',
    replace: "tls?.files.certFile === '' && follow(app, tls,",
    tests: ['unit', 'src/viola/start.test.ts'],
  },
  {
    file: 'src/inventory/start.ts',
    find: 'if (files && tls) await followCertificate',
    replace: "if (files?.certFile === '' && tls) await followCertificate",
    tests: ['unit', 'src/inventory/start.test.ts'],
  },
  {
    file: 'src/http/certificate.ts',
    find: 'let inUse = first;',
    replace: 'let inUse = first && (await readCertificate(files));',
    tests: http('certificate.test.ts'),
  },
  {
    file: 'src/http/certificate.ts',
    find: '  endOf({ cert });\n  createPrivateKey(key);\n',
    replace: '',
    tests: http('certificate.test.ts'),
  },
  {
    file: 'src/http/certificate.ts',
    find: 'said !== undefined && said !== told',
    replace: 'said !== undefined',
    tests: http('certificate.test.ts'),
  },
  {
    file: 'src/http/certificate.ts',
    find: '      onUse?.(now);\n',
    replace: '',
    tests: http('certificate.test.ts'),
  },
  {
    file: 'src/http/token-texts.ts',
    find: "await realpath(join(path, '..data')).catch(() => path)",
    replace: 'path && (await realpath(path))',
    tests: http('token-file.test.ts'),
  },
  {
    file: 'src/http/token-texts.ts',
    find: '/^[^.].*\\.yaml$/',
    replace: '/yaml$/',
    tests: http('token-file.test.ts'),
  },
  {
    file: 'src/http/token-texts.ts',
    find: 'if (names.length === 0) throw',
    replace: 'if (names.length < 0) throw',
    tests: http('token-file.test.ts'),
  },
  {
    file: 'src/http/networks.ts',
    find: 'isMapped(plain) && isIPv4(plain.slice(7)) ? plain.slice(7) : plain',
    replace: 'plain',
    tests: http('networks.test.ts'),
  },
  {
    file: 'src/http/networks.ts',
    find: 'address?.family === network.family &&',
    replace: 'address !== undefined &&',
    tests: http('networks.test.ts'),
  },
  {
    file: 'src/http/networks.ts',
    find: 'BigInt(width - prefix) !== network.bits',
    replace: 'BigInt(width - prefix) < 0n',
    tests: http('networks.test.ts'),
  },
];
