// Script in the Pod of `helm test`: requests each of CHECKS for up to a minute until the answer is 200, and prints the last answer.
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';

interface Check {
  readonly name: string;
  readonly url: string;
  /** File with the bearer token; undefined: no token. */
  readonly tokenFile?: string;
}

const { CHECKS = '[]', TRIES = '30', PAUSE = '2000' } = process.env;

/** Resolves to status and body; to status 0 and the message after a network error. */
async function ask({ url, tokenFile }: Check): Promise<{ ok: boolean; text: string }> {
  try {
    const token = tokenFile && (await readFile(tokenFile, 'utf8')).trim();
    const headers = token ? { authorization: `Bearer ${token}` } : {};
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) });
    return { ok: answer.ok, text: `${answer.status} ${(await answer.text()).trim()}` };
  } catch (error) {
    return { ok: false, text: String((error as Error).cause ?? error) };
  }
}

async function passes(check: Check): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    const { ok, text } = await ask(check);
    if (ok || attempt >= Number(TRIES)) {
      console.log(`${ok ? 'ok    ' : 'FAILED'} ${check.name}: ${check.url}\n       ${text}`);
      return ok;
    }
    await setTimeout(Number(PAUSE));
  }
}

const passed = await Promise.all((JSON.parse(CHECKS) as Check[]).map(passes));
process.exitCode = passed.every(Boolean) ? 0 : 1;
