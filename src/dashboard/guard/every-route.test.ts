import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loginPath, writeHeader } from '../../api/dashboard-names.ts';
import type { HttpServer } from '../../http/app.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { LocalAccess } from '../access/local-access.ts';
import { readPageFiles } from '../page/page-files.ts';
import { createPageServer } from '../page-server.ts';
import {
  assetPath,
  pageContext,
  recordingRoutes,
  writePage,
} from '../testing/dashboard-fixture.ts';
import { ScriptedUpstream } from '../testing/scripted-upstream.ts';

interface Route {
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly url: string;
}

const answered: string[] = [];
let app: HttpServer;
let routes: readonly Route[];
let cookie: string;

beforeEach(async () => {
  answered.length = 0;
  const clock = createFakeClock();
  const access = new LocalAccess({ user: 'kim' }, clock);
  const content = {
    files: await readPageFiles(await writePage()),
    routes: recordingRoutes(answered),
    upstream: new ScriptedUpstream(),
  };
  app = createPageServer(access, content, pageContext(clock, []));
  await app.ready();
  routes = routesOf(app);
  const headers = { host: 'localhost', ...ownWrite };
  const payload = { token: access.newToken() };
  const answer = await app.inject({ method: 'POST', url: loginPath, headers, payload });
  cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
});

afterEach(async () => app.close());

const ownWrite = { 'sec-fetch-site': 'same-origin', [writeHeader]: '1' };

/** Reads the routes from Fastify's tree: a future route joins the test. */
function routesOf(server: HttpServer): readonly Route[] {
  const parents: string[] = [];
  return server
    .printRoutes()
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', text = '', methods = ''] =
        /^([│ ]*)[├└]── (\S+)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? [];
      const depth = indent.length / 4;
      const url = `${parents[depth - 1] ?? ''}${text}`;
      parents[depth] = url;
      if (methods === '') return [];
      return methods.split(', ').map((method) => ({ method: method as Route['method'], url }));
    });
}

it('all routes are known to the test', () => {
  const names = routes.map(({ method, url }) => `${method} ${url}`);
  expect(names.toSorted()).toEqual([
    'GET /',
    'GET /api/nics',
    'GET /events',
    `GET ${assetPath}`,
    'HEAD /',
    'HEAD /api/nics',
    `HEAD ${assetPath}`,
    'POST /api/configs/:name/sync',
    `POST ${loginPath}`,
  ]);
});

it('only the shell and the login answer without a cookie', async () => {
  const open: string[] = [];
  for (const { method, url } of routes) {
    const headers = { host: 'localhost', ...ownWrite };
    const { statusCode } = await app.inject({ method, url, headers, payload: {} });
    if (statusCode !== 401) open.push(`${method} ${url} ${statusCode}`);
  }
  const shell = ['GET', 'HEAD'].flatMap((method) => [`${method} /`, `${method} ${assetPath}`]);
  const expected = [...shell.map((name) => `${name} 200`), `POST ${loginPath} 400`];
  expect(open.toSorted()).toEqual(expected.toSorted());
});

it('every route refuses every foreign host and every foreign origin, with a valid cookie', async () => {
  const own = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i;
  const names = fc.oneof(
    fc.domain(),
    fc.ipV4(),
    fc.constantFrom('localhost', '127.0.0.1', '[::1]').chain((name) =>
      fc.oneof(
        fc.constant(`${name}.`),
        fc.domain().map((end) => `${name}.${end}`),
      ),
    ),
  );
  const foreign = names.filter((name) => !own.test(name));
  const requests = fc.record({ foreign, at: fc.nat(), isOrigin: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(requests, async ({ foreign: name, at, isOrigin }) => {
      const { method, url } = routes[at % routes.length] ?? expect.fail('no route');
      const heads = isOrigin ? { host: 'localhost', origin: `http://${name}` } : { host: name };
      const headers = { ...ownWrite, cookie, ...heads };
      const { statusCode } = await app.inject({ method, url, headers, payload: {} });
      expect(statusCode).toBe(isOrigin ? 403 : 421);
      expect(answered).toEqual([]);
    }),
    { numRuns: 300 },
  );
});
