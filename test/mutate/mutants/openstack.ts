import type { Mutant } from '../mutant.ts';

const own = (file: string) => ['unit', `src/openstack/${file}`] as const;
const contract = ['unit', 'test/contract/cloud/simulated.test.ts'] as const;
const calls = ['unit', 'test/contract/cloud/calls.test.ts'] as const;

const requests = (file: string) => ['unit', `src/requests/${file}`] as const;

export const openstackMutants: readonly Mutant[] = [
  {
    file: 'src/requests/breaker.ts',
    find: 'Math.max(longest - spentMs, shortestWindowMs)',
    replace: 'longest',
    tests: requests('breaker.test.ts'),
  },
  {
    file: 'src/requests/breaker.ts',
    find: 'maxMs: 2 * longest',
    replace: 'maxMs: longest',
    tests: requests('breaker.test.ts'),
  },
  {
    file: 'src/requests/breaker.ts',
    find: 'throw leftMs > 0 ? withPause(error, leftMs) : error;',
    replace: 'throw error;',
    tests: requests('breaker.test.ts'),
  },
  {
    file: 'src/requests/breaker.ts',
    find: 'if (this.#outage === undefined) return;',
    replace: '',
    tests: requests('breaker.test.ts'),
  },
  {
    file: 'src/openstack/clouds.ts',
    find: 'const outages = { longestWindowMs,',
    replace: 'const outages = { longestWindowMs: 30_000,',
    tests: ['unit', 'src/operator/long-outage.test.ts'],
  },
  {
    file: 'src/requests/proxies.ts',
    find: 'Number(bits ?? most)',
    replace: 'Number(bits ?? 0)',
    tests: requests('proxies.test.ts'),
  },
  {
    file: 'src/requests/proxies.ts',
    find: 'host.endsWith(`.${domain}`)',
    replace: 'host.endsWith(domain)',
    tests: requests('proxies.test.ts'),
  },
  {
    file: 'src/requests/proxies.ts',
    find: '[...inside, ...settings.noProxy]',
    replace: '[...settings.noProxy]',
    tests: requests('proxies.test.ts'),
  },
  {
    file: 'src/requests/transport.ts',
    find: 'if (proxy && answer.statusCode === 407)',
    replace: 'if (proxy && answer.statusCode === 999)',
    tests: requests('transport-proxies.test.ts'),
  },
  {
    file: 'src/requests/transport.ts',
    find: 'headers: { host: url.host, ...proxyHeaders(proxy) }',
    replace: 'headers: { host: url.host }',
    tests: requests('transport-proxies.test.ts'),
  },
  {
    file: 'src/openstack/nova.ts',
    find: 'wanted?.every((id) => found.has(id)) === true',
    replace: 'wanted?.some((id) => found.has(id)) === true',
    tests: own('nova.test.ts'),
  },
  {
    file: 'src/openstack/nova.ts',
    find: "const changes = ['changes-since', since.toISOString()] as const;",
    replace: "const changes = ['limit', since.toISOString()] as const;",
    tests: contract,
  },
  {
    file: 'src/openstack/deletions.ts',
    find: "status === 'DELETED'",
    replace: "status !== ''",
    tests: contract,
  },
  {
    file: 'src/openstack/credential-gate.ts',
    find: 'const refusedMs = 3_600_000;',
    replace: 'const refusedMs = 300_000;',
    tests: own('keystone.test.ts'),
  },
  {
    file: 'src/openstack/credential-gate.ts',
    find: "if (value === '' || !this.#isNew(value)) return;",
    replace: "if (value === '') return;",
    tests: own('keystone.test.ts'),
  },
  {
    file: 'src/openstack/credential-gate.ts',
    find: 'while (!this.#isBelieved && this.#first) {',
    replace: 'while (this.#isBelieved && this.#first) {',
    tests: own('keystone.test.ts'),
  },
  {
    file: 'src/openstack/keystone.ts',
    find: "if (isRefusal(await send(loginBody(auth, 'unscoped')))) {",
    replace: "if ((await send(loginBody(auth, 'unscoped'))).status > 0) {",
    tests: own('keystone.test.ts'),
  },
  {
    file: 'src/openstack/keystone.ts',
    find: 'return gate.askedAt - current.since < youngMs ? current.session : undefined;',
    replace: 'return current.session;',
    tests: own('keystone.test.ts'),
  },
  {
    file: 'src/openstack/refresh-turns.ts',
    find: 'if (free) this.spend();',
    replace: '',
    tests: calls,
  },
  {
    file: 'src/openstack/ttl-cache.ts',
    find: 'overdueMs < 2 * ttlMs',
    replace: 'overdueMs < 20 * ttlMs',
    tests: own('ttl-cache.test.ts'),
  },
  {
    file: 'src/openstack/server-directory.ts',
    find: 'return usable && !turns.take();',
    replace: 'return usable;',
    tests: own('server-directory.test.ts'),
  },
  {
    file: 'src/openstack/cloud.ts',
    find: 'return exact.length > 0 ? exact : found;',
    replace: 'return found;',
    tests: contract,
  },
  {
    file: 'src/openstack/resources.ts',
    find: 'if (addresses === undefined) return undefined;',
    replace: 'if (addresses === undefined) return [];',
    tests: own('nova.test.ts'),
  },
  {
    file: 'src/openstack/resources.ts',
    find: 'const id = z.string().min(1).toLowerCase();',
    replace: 'const id = z.string().min(1);',
    tests: own('nova.test.ts'),
  },
  {
    file: 'src/openstack/resources.ts',
    find: 'device_id: z.string(),',
    replace: 'device_id: text,',
    tests: own('neutron.test.ts'),
  },
  {
    file: 'src/openstack/catalog.ts',
    find: 'if (only === undefined || others.length > 0)',
    replace: 'if (only === undefined)',
    tests: own('clouds.test.ts'),
  },
  {
    file: 'src/openstack/catalog.ts',
    find: 'choice.region || regionOf?.(catalog, choice.service)',
    replace: 'choice.region',
    tests: own('clouds.test.ts'),
  },
  {
    file: 'src/openstack/catalog.ts',
    find: 'used ?? first(catalog)',
    replace: 'first(catalog)',
    tests: own('clouds.test.ts'),
  },
  {
    file: 'src/openstack/clouds.ts',
    find: 'onMoved: () => clouds.drop(key, made),',
    replace: 'onMoved: () => undefined,',
    tests: own('clouds.test.ts'),
  },
  {
    file: 'src/openstack/kept-while-used.ts',
    find: '<= this.#options.idleMs) break;',
    replace: '< 0) break;',
    tests: own('clouds.test.ts'),
  },
  {
    file: 'src/openstack/requests/answer-failure.ts',
    find: '/^(Port|Subnet|Network)NotFound$/',
    replace: '/NotFound$/',
    tests: own('requests/answer-failure.test.ts'),
  },
  {
    file: 'src/openstack/credential-gate.ts',
    find: '    this.#acceptedAt = Number.NEGATIVE_INFINITY;\n',
    replace: '',
    tests: own('credential-gate.test.ts'),
  },
  {
    file: 'src/openstack/credential-gate.ts',
    find: 'if (!this.#isBelieved) throw error;',
    replace: 'void error;',
    tests: own('credential-gate.test.ts'),
  },
  {
    file: 'src/openstack/keystone.ts',
    find: 'usableUntil: asked + lifetimeMs',
    replace: 'usableUntil: clock.monotonicMs() + lifetimeMs',
    tests: own('keystone.test.ts'),
  },
  {
    file: 'src/openstack/keystone.ts',
    find: 'if (status !== 404) return false;',
    replace: 'return status === 404;',
    tests: own('keystone.test.ts'),
  },
  {
    file: 'src/openstack/keystone.ts',
    find: '.regex(/application credential/i)',
    replace: '',
    tests: own('keystone.test.ts'),
  },
  {
    file: 'src/openstack/neutron.ts',
    find: "serverIds.filter((id) => id !== '')",
    replace: 'serverIds',
    tests: own('neutron.test.ts'),
  },
  {
    file: 'src/openstack/server-directory.ts',
    find: 'return entry?.server !== undefined && entry.until > oldest;',
    replace: 'return entry !== undefined && entry.until > oldest;',
    tests: own('server-directory.test.ts'),
  },
  {
    file: 'src/openstack/server-directory.ts',
    find: 'for (const id of rest.slice(fewServers)) remember(id, undefined);',
    replace: '',
    tests: own('server-directory.test.ts'),
  },
  {
    file: 'src/openstack/catalog.ts',
    find: 'used ?? first(catalog)',
    replace: '(used ??= first(catalog))',
    tests: own('catalog.test.ts'),
  },
  {
    file: 'src/openstack/endpoint.ts',
    find: "url.lastIndexOf('@')",
    replace: "url.indexOf('@')",
    tests: own('endpoint.test.ts'),
  },
  {
    file: 'src/openstack/clouds.ts',
    find: 'gateOf(identity).ask(asked);',
    replace: '',
    tests: own('clouds.test.ts'),
  },
  {
    file: 'src/openstack/cloud-identity.ts',
    find: "secret: auth.kind === 'password' ? auth.password : auth.secret,",
    replace: 'secret: auth.kind,',
    tests: own('clouds.test.ts'),
  },
];
