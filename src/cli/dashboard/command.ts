import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { openLocalDashboard } from '../../dashboard/local-dashboard.ts';
import { type PageFile, readPageFiles } from '../../dashboard/page/page-files.ts';
import type { PageContent } from '../../dashboard/page-server.ts';
import { ScreenReads } from '../../dashboard/screens/screen-reads.ts';
import { screenRoutes } from '../../dashboard/screens/screen-routes.ts';
import { OperatorUpstream } from '../../dashboard/upstream/operator-upstream.ts';
import { createLogger } from '../../process/log.ts';
import { Failure } from '../../session/access/failure.ts';
import type { AccessOptions } from '../../session/access/options.ts';
import { LiveSession } from '../../session/live/live-session.ts';
import { aborted } from '../../time/aborted.ts';
import { type Clock, systemRandom } from '../../time/clock.ts';
import { withAccessOptions } from '../options.ts';
import { type Run, withSession } from '../run-command.ts';
import { type Terminal, userTerminal } from './terminal.ts';

export interface DashboardOptions extends AccessOptions {
  /** 0: a free port. */
  readonly port: number;
  /** True: open the browser of the user. */
  readonly open: boolean;
}

type Session = Run['session'];

/** The page, and its content over live connections. */
export interface ServedPage {
  readonly folder: string;
  readonly contentOf: (live: LiveSession, clock: Clock) => Omit<PageContent<ScreenReads>, 'files'>;
}

/** `multinic dashboard`: serves the page on this machine with the user's own rights, until a signal arrives. */
export function dashboardCommand(): Command {
  const command = new Command('dashboard')
    .description('serves the dashboard on this machine, with your own rights, until Ctrl-C')
    .addOption(
      new Option('--port <number>', 'port on 127.0.0.1')
        .argParser(portOf)
        .default(0, 'a free port'),
    )
    .addOption(
      new Option('--open [boolean]', 'open your browser; false: print a link only')
        .argParser(booleanOf)
        .default(true),
    )
    .action((options: DashboardOptions) => serveDashboard(options, userTerminal(), ownPage()));
  return withAccessOptions(command);
}

/** Serves a page until SIGINT, SIGTERM or SIGHUP; ends together with all connections of the session. */
export async function serveDashboard(
  options: DashboardOptions,
  terminal: Terminal,
  page: ServedPage,
): Promise<void> {
  const files = await pageIn(page.folder);
  await withSession(options, async ({ session, progress }) => {
    progress.show('');
    const { signal, clock } = session;
    await using live = new LiveSession(options);
    const content = { ...page.contentOf(live, clock), files, rights: new ScreenReads(live, clock) };
    await using dashboard = await open(options, session, content);
    if (!options.open || !(await terminal.open(dashboard.newLink(), signal))) {
      terminal.print(linkText(dashboard.newLink()));
    } else terminal.print(`The dashboard is open in your browser: ${dashboard.url}`);
    if (terminal.hasEnter) terminal.print('Press Enter for a new link, Ctrl-C to end.');
    terminal.onEnter(() => terminal.print(linkText(dashboard.newLink())), signal);
    await aborted(signal);
  });
}

interface OwnContent extends PageContent<ScreenReads> {
  readonly rights: ScreenReads;
}

async function open({ port }: DashboardOptions, { clock, signal }: Session, content: OwnContent) {
  const destination = { write: (line: string) => process.stderr.write(line) };
  const log = createLogger({ part: 'dashboard', level: 'warn', destination });
  try {
    const local = { ...content, port };
    return await openLocalDashboard(local, { clock, random: systemRandom, log }, signal);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new Failure(error.message, 'give a different --port, or none for a free port');
  }
}

function linkText(link: string): string {
  return `Open the dashboard within 60 s, in one browser: ${link}`;
}

async function pageIn(folder: string): Promise<readonly PageFile[]> {
  try {
    return await readPageFiles(folder);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const why = `this build has no usable page: ${error.message}`;
    throw new Failure(why, 'install multinic from a release');
  }
}

/** Returns the page of this build: beside the bundle; from source, in `dist`. */
function ownPage(): ServedPage {
  const isSource = import.meta.filename.endsWith('.ts');
  const folder = join(import.meta.dirname, isSource ? '../../../dist/web' : 'web');
  return {
    folder,
    contentOf: (live, clock) => ({
      routes: screenRoutes,
      upstream: new OperatorUpstream(live, clock),
    }),
  };
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError('give a number from 0 to 65535.');
}

function booleanOf(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new InvalidArgumentError('give true or false.');
}
