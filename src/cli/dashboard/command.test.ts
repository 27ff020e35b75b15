import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { startScene } from '../../../test/fixtures/cli/scene.ts';
import { defineRoute } from '../../dashboard/routes/json-route.ts';
import { Browser } from '../../dashboard/testing/browser.ts';
import { writePage } from '../../dashboard/testing/dashboard-fixture.ts';
import { until } from '../../time/fake-clock.ts';
import { cliMain } from '../main-cli.ts';
import { openInBrowser } from './browser.ts';
import { type ServedPage, serveDashboard } from './command.ts';
import type { Terminal } from './terminal.ts';

const access = { businessContext: new Map<string, string>() };

interface Scripted extends Terminal {
  readonly lines: string[];
  readonly opened: string[];
  enter: () => void;
}

function scriptedTerminal(hasBrowser = false): Scripted {
  const terminal: Scripted = {
    lines: [],
    opened: [],
    hasEnter: true,
    enter: () => expect.fail('nothing listens'),
    print: (text) => void terminal.lines.push(text),
    onEnter: (callback) => {
      terminal.enter = callback;
    },
    open: async (link) => {
      if (hasBrowser) terminal.opened.push(link);
      return hasBrowser;
    },
  };
  return terminal;
}

function linksIn({ lines }: Scripted): string[] {
  return lines.flatMap((line) => /http:\S+#token=\S+/.exec(line) ?? []);
}

const withoutRoutes: ReturnType<ServedPage['contentOf']> = { routes: [] };

/** Serves until a signal arrives. */
async function serve(terminal: Scripted, open = false, contentOf = () => withoutRoutes) {
  const options = { ...access, port: 0, open };
  const served = serveDashboard(options, terminal, { folder: await writePage(), contentOf });
  await until('the start', () => terminal.lines.length === 2);
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(terminal.lines[0] ?? '')?.[0] ?? '';
  return { served, url };
}

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'the dashboard ends without an error on %s, and its port closes',
  async (signal) => {
    const terminal = scriptedTerminal();
    const { served, url } = await serve(terminal);
    expect((await new Browser(url).fetch({ path: '/' })).status).toBe(200);
    process.emit(signal);
    await served;
    await expect(new Browser(url).fetch({ path: '/' })).rejects.toThrow('ECONNREFUSED');
  },
);

it('all children of kubectl end with the dashboard', async () => {
  const { folder } = await startScene();
  const [wrapper, pids] = [join(folder, 'wrapper'), join(folder, 'pids')];
  const script = `#!/bin/sh\necho $$ >> ${pids}\nexec ${folder}/kubectl "$@"\n`;
  await writeFile(wrapper, script, { mode: 0o700 });
  vi.stubEnv('MULTINIC_KUBECTL', wrapper);
  const terminal = scriptedTerminal();
  const { served, url } = await serve(terminal, false, () => ({
    routes: [
      defineRoute({
        method: 'GET',
        path: '/api/nodes',
        input: z.object({}),
        answer: async (_, { rights: reads, signal }) =>
          (await reads.session(signal).operator()).get('/v1/nodes', z.looseObject({})),
      }),
    ],
  }));
  const user = new Browser(url);
  await user.login(linksIn(terminal)[0] ?? '');
  expect((await user.fetch({ path: '/api/nodes' })).status).toBe(200);
  const children = (await readFile(pids, 'utf8')).trim().split('\n').map(Number);
  expect(children.map(isRunning)).toEqual([true, true]);
  process.emit('SIGHUP');
  await served;
  expect(children.map(isRunning)).toEqual([false, false]);
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it('the printed link logs in, and Enter prints a new link', async () => {
  const terminal = scriptedTerminal();
  const { served, url } = await serve(terminal);
  terminal.enter();
  const links = linksIn(terminal);
  expect(new Set(links).size).toBe(2);
  for (const link of links) expect((await new Browser(url).login(link)).status).toBe(200);
  process.emit('SIGTERM');
  await served;
});

it('an opened browser gets a link of its own, and the terminal shows no token', async () => {
  const terminal = scriptedTerminal(true);
  const { served, url } = await serve(terminal, true);
  expect(linksIn(terminal)).toEqual([]);
  expect((await new Browser(url).login(terminal.opened[0] ?? '')).status).toBe(200);
  process.emit('SIGTERM');
  await served;
});

it('a machine without a browser gets a printed link', async () => {
  const terminal = scriptedTerminal();
  const { served } = await serve(terminal, true);
  expect(linksIn(terminal)).toHaveLength(1);
  process.emit('SIGTERM');
  await served;
});

it('a taken port ends the command with the next step', async () => {
  const { served, url } = await serve(scriptedTerminal());
  const port = Number(new URL(url).port);
  const page = { folder: await writePage(), contentOf: () => withoutRoutes };
  const second = serveDashboard({ ...access, port, open: false }, scriptedTerminal(), page);
  await expect(second).rejects.toMatchObject({
    message: expect.stringContaining(`127.0.0.1:${port} is taken`) as string,
    next: 'give a different --port, or none for a free port',
  });
  process.emit('SIGTERM');
  await served;
});

it('a build without the page ends the command with the next step', async () => {
  const page = { folder: '/nowhere', contentOf: () => withoutRoutes };
  const served = serveDashboard({ ...access, port: 0, open: false }, scriptedTerminal(), page);
  await expect(served).rejects.toMatchObject({ next: 'install multinic from a release' });
});

it.each([
  ['--port', '65536'],
  ['--port', '-1'],
  ['--open=maybe', ''],
])('the arguments %s %s end with 2', async (...argv) => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  expect(
    await cliMain(
      'dashboard',
      argv.filter((word) => word !== ''),
    ),
  ).toBe(2);
});

/** Writes an xdg-open that stores its arguments and its file; returns its folder and the environment. */
async function browserProgram(exit: number) {
  const folder = await mkdtemp(join(tmpdir(), 'multinic-browser-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const program = join(folder, 'xdg-open');
  const script = `#!/bin/sh\necho "$@" > ${folder}/argv\ncp "$1" ${folder}/file\nexit ${exit}\n`;
  await writeFile(program, script);
  await chmod(program, 0o700);
  return { folder, env: { PATH: `${folder}:${process.env['PATH']}`, DISPLAY: ':0' } };
}

const link = 'http://127.0.0.1:1/#token=secret-token';

it.runIf(process.platform === 'linux')('the browser gets the token by a private file', async () => {
  const { folder, env } = await browserProgram(0);
  const end = new AbortController();
  expect(await openInBrowser(link, { env, signal: end.signal })).toBe(true);
  const argv = (await readFile(join(folder, 'argv'), 'utf8')).trim();
  expect(argv).not.toContain('secret-token');
  expect(await readFile(join(folder, 'file'), 'utf8')).toContain(`content="0; url=${link}"`);
  const modes = [argv, join(argv, '..')].map(async (path) => (await stat(path)).mode & 0o777);
  expect(await Promise.all(modes)).toEqual([0o600, 0o700]);
  end.abort();
  await expect.poll(() => readdir(folder)).toEqual(['argv', 'file', 'xdg-open']);
});

it.runIf(process.platform === 'linux').each([
  ['fails', { exit: 3, desktop: ':0' }],
  ['is missing without a desktop', { exit: 0, desktop: '' }],
])('no file stays if the browser %s', async (_, { exit, desktop }) => {
  const { folder, env } = await browserProgram(exit);
  const { signal } = new AbortController();
  expect(await openInBrowser(link, { env: { ...env, DISPLAY: desktop }, signal })).toBe(false);
  expect((await readdir(folder)).filter((name) => name.startsWith('multinic-'))).toEqual([]);
});
