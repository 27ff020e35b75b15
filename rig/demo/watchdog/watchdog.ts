import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/**
 * Starts a process that removes processes, namespaces and folders of this process after its end. The session is another one:
 * neither the end of the terminal nor Ctrl-C reaches it.
 */
export async function startWatchdog(directory: string): Promise<void> {
  const args = [join(import.meta.dirname, 'main.ts'), directory, String(process.pid)];
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: { ...process.env, TMPDIR: directory },
  });
  await once(child, 'spawn');
  // Neither the process nor its pipe keeps this process running.
  child.unref();
  (child.stdin as unknown as { unref(): void }).unref();
}
