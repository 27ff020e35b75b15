import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import * as z from 'zod';
import { createLogger } from '../../process/log.ts';
import { createFakeClock, type FakeClock } from '../../time/fake-clock.ts';
import { type LocalDashboard, openLocalDashboard } from '../local-dashboard.ts';
import { readPageFiles } from '../page/page-files.ts';
import type { PageContext } from '../page-server.ts';
import { defineRoute, type JsonRoute } from '../routes/json-route.ts';
import { Browser } from './browser.ts';
import { ScriptedUpstream } from './scripted-upstream.ts';

/** Rights in tests: the user's name. */
export type TestRights = { readonly user: string };

export const hostileName = '</script><script>alert("\u202e\u0007")</script>';

export const assetPath = '/main-K3J5Q2XA.js';

export interface DashboardFixture {
  readonly dashboard: LocalDashboard;
  readonly clock: FakeClock;
  readonly upstream: ScriptedUpstream;
  /** Log lines. */
  readonly lines: readonly string[];
  /** Requests admitted to a route's answer. */
  readonly answered: readonly string[];
  /** Returns a browser without login. */
  readonly stranger: () => Browser;
  /** Returns a logged-in browser. */
  readonly browser: () => Promise<Browser>;
}

/** Writes a folder with a small page. */
export async function writePage(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'multinic-page-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const all = {
    'index.html': `<!doctype html><script src="${assetPath}"></script>`,
    [assetPath.slice(1)]: 'export {};',
    ...files,
  };
  for (const [name, text] of Object.entries(all)) await writeFile(join(folder, name), text);
  return folder;
}

/** Routes with recorded calls. */
export function recordingRoutes(answered: string[]): JsonRoute<TestRights>[] {
  const input = z.object({ name: z.string().default('') });
  return [
    defineRoute({
      method: 'GET',
      path: '/api/nics',
      input,
      answer: async (_, { rights }) => {
        answered.push('GET /api/nics');
        return { items: [{ name: hostileName, user: rights.user }] };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/configs/:name/sync',
      input,
      answer: async ({ name }) => {
        answered.push('POST sync');
        return { requested: name };
      },
    }),
  ];
}

/** Returns a context on a fake clock; `lines` gets the log. */
export function pageContext(clock: FakeClock, lines: string[]): PageContext {
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ part: 'dashboard', level: 'debug', destination });
  return { clock, log, random: () => 0.5 };
}

/** Starts a dashboard on a free port, with a fake clock; `routes` are added. */
export async function startDashboard(
  routes: readonly JsonRoute<TestRights>[] = [],
): Promise<DashboardFixture> {
  const answered: string[] = [];
  const lines: string[] = [];
  const clock = createFakeClock();
  const upstream = new ScriptedUpstream();
  const stop = new AbortController();
  const dashboard = await openLocalDashboard(
    {
      port: 0,
      rights: { user: 'kim' },
      files: await readPageFiles(await writePage()),
      routes: [...recordingRoutes(answered), ...routes],
      upstream,
    },
    pageContext(clock, lines),
    stop.signal,
  );
  onTestFinished(() => dashboard[Symbol.asyncDispose]());
  const stranger = () => new Browser(dashboard.url);
  async function browser(): Promise<Browser> {
    const opened = stranger();
    await opened.login(dashboard.newLink());
    return opened;
  }
  return { dashboard, clock, upstream, lines, answered, stranger, browser };
}
