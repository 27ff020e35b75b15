import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { passed, systemClock } from '../../time/clock.ts';

/** Time for a failure of the program; some programs run as long as the browser (ms). */
const failureMs = 2_000;

interface BrowserOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/**
 * Opens a link with a secret: in a private file that redirects, because every user of this machine reads the arguments
 * of a program. The file exists until the signal aborts. Resolves to false if this machine has no browser.
 */
export async function openInBrowser(link: string, options: BrowserOptions): Promise<boolean> {
  const program = programFor(options.env);
  if (program === undefined) return false;
  const folder = await mkdtemp(join(tmpdir(), 'multinic-dashboard-'));
  const remove = async () => rm(folder, { recursive: true, force: true });
  options.signal.addEventListener('abort', () => void remove(), { once: true });
  const file = join(folder, 'dashboard.html');
  await writeFile(file, redirectTo(link), { mode: 0o600 });
  const isOpen = !options.signal.aborted && (await started(program, file, options));
  if (!isOpen) await remove();
  return isOpen;
}

/** Returns the program that opens files with the user's browser; undefined: the user has no desktop, as with ssh. */
function programFor({ WSL_DISTRO_NAME, DISPLAY, WAYLAND_DISPLAY }: NodeJS.ProcessEnv) {
  if (process.platform === 'darwin') return 'open';
  if (WSL_DISTRO_NAME) return 'wslview';
  return DISPLAY || WAYLAND_DISPLAY ? 'xdg-open' : undefined;
}

/** Starts the program in a process group of its own: Ctrl-C does not end the browser. */
async function started(
  program: string,
  file: string,
  { env, signal }: BrowserOptions,
): Promise<boolean> {
  const child = spawn(program, [file], { detached: true, stdio: 'ignore', env });
  child.unref();
  const waited = new AbortController();
  const onAbort = () => waited.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const status = once(child, 'exit').then(
      ([code]) => code === 0,
      () => false,
    );
    return await Promise.race([status, passed(systemClock, failureMs, waited.signal)]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    waited.abort();
  }
}

function redirectTo(link: string): string {
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${link}">
<title>MultiNIC</title>
<a href="${link}">MultiNIC</a>
`;
}
