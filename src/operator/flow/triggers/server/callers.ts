import { readFile } from 'node:fs/promises';
import type { FastifyRequest } from 'fastify';
import { signatureHeader } from '../../../../api/trigger-http.ts';
import type { Admit, Caller } from '../../../../http/admission.ts';
import { HttpProblem } from '../../../../http/problem.ts';
import type { TokenFile } from '../../../../http/token-file.ts';
import { authorize } from '../../../../http/who-may.ts';
import type { Clock } from '../../../../time/clock.ts';
import { refused, type Signature, signatureIn, verifySignature } from './signature.ts';
import type { UsedSignatures } from './used-signatures.ts';

/** Shortest key in characters; a shorter key can be guessed from an intercepted signature. */
const shortestKey = 16;

/** Reads the signing keys, one per line. Throws an Error with the file name. */
export async function keysIn(path: string): Promise<readonly string[]> {
  const lines = (await readFile(path, 'utf8')).split('\n').map((line) => line.trim());
  const keys = lines.filter((line) => line !== '');
  if (keys.length > 0 && keys.every((key) => key.length >= shortestKey)) return keys;
  throw new Error(`${path} must have a key of at least ${shortestKey} characters on each line`);
}

export interface CallersDeps {
  /** Tokens for callers; undefined: no call by token. */
  readonly tokens: TokenFile | undefined;
  /** Signing keys; undefined: no signed calls. */
  readonly keys: (() => Promise<readonly string[]>) | undefined;
  readonly used: UsedSignatures;
  readonly clock: Clock;
}

/**
 * Admits callers with a token, and signed calls for later proof: the request head is not enough to verify a signature.
 */
export function admitCallers({ tokens, keys, clock }: CallersDeps): Admit {
  return async ({ headers, ip }): Promise<Caller> => {
    if (headers[signatureHeader] !== undefined && keys) {
      signatureIn(headers, clock.now());
      // By address until the signature is proven, so a false signature uses up no other caller's limits.
      return { name: `signed, from ${ip}`, providers: ['*'] };
    }
    if (!tokens) throw refused(`header ${signatureHeader} is missing: sign the request`);
    const wanted = { provider: '*', verb: 'write' } as const;
    const { name, providers } = authorize(await tokens.current(), headers.authorization, wanted);
    return { name, providers };
  };
}

/** Returns a signed call's valid and unused signature; undefined: a call by token. Throws HttpProblem. */
export async function provenSignature(
  request: FastifyRequest,
  { keys, used, clock }: CallersDeps,
): Promise<Signature | undefined> {
  const { headers, method, url: path, body } = request;
  if (headers[signatureHeader] === undefined || !keys) return undefined;
  const signature = signatureIn(headers, clock.now());
  const bytes = body instanceof Uint8Array ? body : new Uint8Array();
  verifySignature(signature, await usableKeys(keys), { method, path }, bytes);
  used.use(signature.hmac);
  return signature;
}

async function usableKeys(keys: () => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await keys();
  } catch (cause) {
    // The file is missing or has no key, so no signature can be verified.
    const detail = 'the operator cannot read its key file; see its log';
    throw new HttpProblem(503, 'KeysUnavailable', detail, { retryAfterSeconds: 5, cause });
  }
}
