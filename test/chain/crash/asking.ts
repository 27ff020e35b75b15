import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { vi } from 'vitest';
import { freePorts } from '../../../rig/parts/free-ports.ts';
import { triggerAnswer, triggerPath } from '../../../src/api/trigger-http.ts';
import type { ObjectRef } from '../../../src/kube/object.ts';
import { scaled } from '../../speed.ts';

/** A system that may call the operator's trigger endpoint. */
export interface Asking {
  /** What the operator has to be told for it. */
  readonly env: Readonly<Record<string, string>>;
  /** Calls until it is answered, as whoever got no answer does; answers the value of the annotation. */
  ask(ref: ObjectRef): Promise<string>;
}

/** Makes a token in the directory that is good for calls of the trigger endpoint. */
export async function openAsking(directory: string): Promise<Asking> {
  const token = randomBytes(24).toString('hex');
  const sha256 = createHash('sha256').update(token).digest('hex');
  const grants = [{ name: 'asking', sha256, providers: ['*'], verbs: ['write'] }];
  const path = join(directory, 'trigger-tokens.yaml');
  await writeFile(path, JSON.stringify(grants), { mode: 0o600 });
  const [port = 0] = await freePorts(1);
  const headers = { authorization: `Bearer ${token}` };
  return {
    env: { TRIGGER_ADDR: `127.0.0.1:${port}`, API_TOKENS_FILE: path },
    async ask({ namespace, name }) {
      const url = `http://127.0.0.1:${port}${triggerPath}/${namespace}/${name}`;
      const call = async () => {
        const answer = await fetch(url, { method: 'POST', headers });
        if (answer.status !== 202) throw new Error(`${answer.status}: ${await answer.text()}`);
        return triggerAnswer.parse(await answer.json()).id;
      };
      return vi.waitFor(call, { timeout: scaled(60_000), interval: 100 });
    },
  };
}
