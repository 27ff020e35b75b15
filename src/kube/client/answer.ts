import type { Dispatcher } from 'undici';
import { KubeError } from '../errors.ts';
import { refused } from './wire.ts';

/**
 * Five times etcd's limit for one object: JSON is larger than what etcd holds. Parsed it takes four times as much, which the
 * smallest heap of a part still has; one that ends in the middle of an answer would do so again after each restart.
 */
const maxBodyBytes = 8 * 1024 * 1024;

/** The whole body as text; `AnswerTooLarge` when it has more bytes than `limit`, `InvalidAnswer` when it is not UTF-8. */
export async function readText(
  body: AsyncIterable<Buffer>,
  doing: string,
  limit?: number,
): Promise<string> {
  return decodeUtf8(await readBytes(body, doing, limit), doing);
}

async function readBytes(
  body: AsyncIterable<Buffer>,
  doing: string,
  limit = maxBodyBytes,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw tooLarge(doing, limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Bytes as text, refused where `Buffer.toString` would put replacement characters in. */
export function decodeUtf8(bytes: Buffer, doing: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalid(doing, 'answer is not UTF-8', cause);
  }
}

/** Parses JSON; `InvalidAnswer` with the start of the text when it is something else. */
export function parseJson(text: string, doing: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid(doing, `answer is not JSON: ${JSON.stringify(text.slice(0, 100))}`, cause);
  }
}

/**
 * The error of an answer that is not 2xx. Its status and Retry-After are what counts: a page of something in between, in
 * whatever encoding, must not make anything else of them.
 */
export async function refusal(
  doing: string,
  { statusCode: status, headers, body }: Dispatcher.ResponseData,
): Promise<KubeError> {
  const text = (await readBytes(body, doing)).toString('utf8');
  const seconds = Number(headers['retry-after']);
  return refused({
    status,
    doing,
    body: jsonOrText(text),
    retryAfterMs: seconds > 0 ? seconds * 1000 : undefined,
  });
}

/** A Status of the API server, or text or HTML of a proxy in between. */
function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text; // no JSON
  }
}

function tooLarge(doing: string, limit: number): KubeError {
  const message = `${doing}: answer is larger than ${limit} bytes`;
  return new KubeError({ status: 0, reason: 'AnswerTooLarge', message });
}

/** The error for an answer that cannot be read. */
export function invalid(doing: string, why: string, cause?: unknown): KubeError {
  return new KubeError({ status: 0, reason: 'InvalidAnswer', message: `${doing}: ${why}`, cause });
}
