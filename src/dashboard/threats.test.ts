import { beforeEach, expect, it } from 'vitest';
import { loginPath, tabEventsPath, writeHeader } from '../api/dashboard-names.ts';
import { mostCookies, tokenLifetimeMs } from './access/local-access.ts';
import { type Browser, reasonOf, type SentRequest } from './testing/browser.ts';
import {
  assetPath,
  type DashboardFixture,
  hostileName,
  startDashboard,
} from './testing/dashboard-fixture.ts';

const nics = '/api/nics';
const sync = '/api/configs/storage/sync';

let fixture: DashboardFixture;
let user: Browser;
let stranger: Browser;

beforeEach(async () => {
  fixture = await startDashboard();
  user = await fixture.browser();
  stranger = fixture.stranger();
});

/** Returns the page's own write, without some headers and with some changed. */
function write(changed: Readonly<Record<string, string | undefined>>): SentRequest {
  const headers = Object.fromEntries(
    Object.entries({ ...user.ownWrite, ...changed }).filter(([, value]) => value !== undefined),
  ) as Record<string, string>;
  return { method: 'POST', path: sync, headers, body: '{}' };
}

it.each([
  ['a form on a foreign site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
  ['a page on a different local port', { 'sec-fetch-site': 'same-site' }],
  [
    'a foreign origin in a browser without Sec-Fetch-Site',
    { 'sec-fetch-site': undefined, origin: 'http://evil.example' },
  ],
  ['a sandboxed frame', { 'sec-fetch-site': undefined, origin: 'null' }],
  ['a typed address', { 'sec-fetch-site': 'none' }],
  [
    'a program without Origin and Sec-Fetch-Site',
    { 'sec-fetch-site': undefined, origin: undefined },
  ],
  ['a form without the own header', { [writeHeader]: undefined }],
  ['a form with a different value in the own header', { [writeHeader]: 'true' }],
])('a write from %s gets 403 and never reaches the action', async (_, headers) => {
  const answer = await user.fetch(write(headers));
  expect([answer.status, reasonOf(answer)]).toEqual([403, 'ForeignPage']);
  expect(fixture.answered).toEqual([]);
});

it('a write from the same host with a different scheme gets 403', async () => {
  const origin = user.origin.replace('http:', 'https:');
  expect((await user.fetch(write({ origin }))).status).toBe(403);
  expect(fixture.answered).toEqual([]);
});

it.each([
  ['with Sec-Fetch-Site', {}],
  ['with Origin only', { 'sec-fetch-site': undefined }],
  ['with Sec-Fetch-Site only', { origin: undefined }],
])('a write by the page %s reaches the action', async (_, headers) => {
  const answer = await user.fetch(write(headers));
  expect([answer.status, answer.text]).toEqual([200, '{"requested":"storage"}']);
});

it.each(['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data'])(
  'a write with the content type %s gets 415',
  async (type) => {
    const answer = await user.fetch(write({ 'content-type': type }));
    expect(answer.status).toBe(415);
    expect(fixture.answered).toEqual([]);
  },
);

it.each(['cross-site', 'same-site'])('a read from a %s page gets 403', async (site) => {
  const headers = { 'sec-fetch-site': site };
  for (const path of [nics, tabEventsPath]) {
    expect((await user.fetch({ path, headers })).status).toBe(403);
  }
  expect(fixture.answered).toEqual([]);
});

it.each([
  'evil.example',
  'localhost.evil.example',
  '127.0.0.1.nip.io',
  '127.0.0.2',
  '0.0.0.0',
  '[::ffff:127.0.0.1]',
  'localhost:1:2',
  'localhost@evil.example',
])('a page that rebinds the name %s to this machine gets 421 from every route', async (host) => {
  for (const path of ['/', assetPath, nics, tabEventsPath, '/nothing']) {
    const answer = await user.fetch({ path, headers: { host } });
    expect([answer.status, reasonOf(answer)]).toEqual([421, 'ForeignHost']);
  }
  const login = { ...user.ownWrite, host, origin: `http://${host}` };
  expect((await user.fetch({ ...write(login), path: loginPath })).status).toBe(421);
});

it.each(['127.0.0.1', 'localhost:9000', 'LOCALHOST:1', '[::1]:8080'])(
  'a user who forwards a port to the host %s reads and writes',
  async (host) => {
    const answers = [
      await user.fetch({ path: nics, headers: { host } }),
      await user.fetch(write({ host, origin: `http://${host}` })),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  },
);

it('names with markup are JSON, never rendered by browsers', async () => {
  const { headers, text } = await user.fetch({ path: nics });
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(JSON.parse(text)).toEqual({ items: [{ name: hostileName, user: 'kim' }] });
});

it('markup in a path is JSON in the error', async () => {
  const { status, headers } = await user.fetch({ path: '/api/<script>alert(1)</script>' });
  expect([status, headers['content-type']]).toEqual([404, 'application/json; charset=utf-8']);
});

it.each([
  ['the page', '/', 200],
  ['a file', assetPath, 200],
  ['data', nics, 200],
  ['an unknown address', '/nothing', 404],
  ['an unreadable address', '/%zz', 400],
])('%s has the headers against framing, sniffing and leaks', async (_, path, status) => {
  const answer = await user.fetch({ path });
  expect(answer.status).toBe(status);
  expect(answer.headers).toMatchObject({
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  });
});

it.each([
  '/../../etc/passwd',
  '/..%2f..%2fetc%2fpasswd',
  '/%2e%2e/%2e%2e/etc/passwd',
  '/..\\..\\etc\\passwd',
  '//etc/passwd',
  `${assetPath}/../../../etc/passwd`,
  `${assetPath}%00.html`,
  '/index.html',
])('the path %s reads no file', async (path) => {
  const answer = await user.fetch({ path });
  expect([400, 404]).toContain(answer.status);
  expect(reasonOf(answer)).not.toBe('');
});

it('a second local user without the link gets the shell only', async () => {
  const statuses: Record<string, number> = {};
  for (const path of ['/', assetPath, nics, tabEventsPath, '/nothing']) {
    statuses[path] = (await stranger.fetch({ path })).status;
  }
  expect(statuses).toEqual({
    '/': 200,
    [assetPath]: 200,
    [nics]: 401,
    [tabEventsPath]: 401,
    '/nothing': 401,
  });
  expect((await stranger.write(sync, {})).status).toBe(401);
  expect(fixture.answered).toEqual([]);
});

it('slow requests without login leave all slots to the user', async () => {
  using stalled = new DisposableStack();
  for (let n = 0; n < 40; n++) stalled.use(await stranger.stall(loginPath));
  expect((await user.fetch({ path: nics })).status).toBe(200);
});

it('the cookie is for this session, for no script and for no foreign page', async () => {
  const answer = await stranger.login(fixture.dashboard.newLink());
  const { port } = new URL(stranger.origin);
  const [cookie = ''] = answer.headers['set-cookie'] ?? [];
  const form = `^multinic-${port}-[\\w-]{8}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`;
  expect(cookie).toMatch(new RegExp(form));
});

it.each([
  ['from a run on a different port', (cookie: string) => cookie],
  [
    'with the name from this run',
    (cookie: string, own: string) => own.replace(/=.*/, `=${cookie.split('=')[1]}`),
  ],
  [
    'with the value from this run',
    (cookie: string, own: string) => cookie.replace(/=.*/, `=${own.split('=')[1]}`),
  ],
  ['without a value', (_: string, own: string) => own.replace(/=.*/, '=')],
])('a cookie %s gets 401', async (_, cookieFrom) => {
  const foreign = await (await startDashboard()).browser();
  stranger.cookie = cookieFrom(foreign.cookie ?? '', user.cookie ?? '');
  expect((await stranger.fetch({ path: nics })).status).toBe(401);
});

it('a cookie works beside foreign cookies', async () => {
  user.cookie = `a=b=c; ${user.cookie}; multinic-1-x=y`;
  expect((await user.fetch({ path: nics })).status).toBe(200);
});

it('a link logs in once', async () => {
  const link = fixture.dashboard.newLink();
  expect((await stranger.login(link)).status).toBe(200);
  const replay = await fixture.stranger().login(link);
  expect([replay.status, reasonOf(replay)]).toEqual([401, 'LinkExpired']);
  expect(replay.headers['set-cookie']).toBeUndefined();
});

it.each([
  [tokenLifetimeMs - 1, 200],
  [tokenLifetimeMs, 401],
])('a link answers after %i ms with %i, whatever the wall clock shows', async (ms, status) => {
  const link = fixture.dashboard.newLink();
  fixture.clock.setWall(-3 * 3_600_000);
  await fixture.clock.advance(ms);
  expect((await stranger.login(link)).status).toBe(status);
});

it('a new link drops the oldest link, and a new login the oldest cookie', async () => {
  const { dashboard } = fixture;
  const first = dashboard.newLink();
  const links = Array.from({ length: 8 }, () => dashboard.newLink());
  expect((await stranger.login(first)).status).toBe(401);
  expect((await stranger.login(links[0] ?? '')).status).toBe(200);
  for (let n = 0; n < mostCookies - 2; n++) await fixture.browser();
  expect((await user.fetch({ path: nics })).status).toBe(200);
  await fixture.browser();
  expect((await user.fetch({ path: nics })).status).toBe(401);
  expect((await stranger.fetch({ path: nics })).status).toBe(200);
});

it.each([
  ['a login', loginPath, 2_000, 413],
  ['an action', sync, 65 * 1_024, 413],
  ['an unknown address', '/nothing', 65 * 1_024, 404],
])('%s with an oversized body is refused', async (_, path, bytes, status) => {
  const answer = await user.write(path, { token: 'x'.repeat(bytes) });
  expect(answer.status).toBe(status);
  expect(fixture.answered).toEqual([]);
});

it('oversized headers get an error in the usual form', async () => {
  const answer = await user.fetch({ path: nics, headers: { 'x-large': 'x'.repeat(20_000) } });
  expect([answer.status, reasonOf(answer)]).toEqual([431, 'HeadersTooLarge']);
  expect(answer.headers['x-content-type-options']).toBe('nosniff');
});

it('the log holds no token, cookie or query', async () => {
  const link = fixture.dashboard.newLink();
  await stranger.login(link);
  await stranger.fetch({ path: `${nics}?name=secret-name` });
  const log = fixture.lines.join('');
  expect(log).toContain('/api/nics');
  const secrets = [new URL(link).hash.slice(7), stranger.cookie?.split('=')[1], 'secret-name'];
  for (const secret of secrets) expect(log).not.toContain(secret);
});
