import type { Dispatcher } from 'undici';
import { KubeError } from '../errors.ts';
import { refused } from './wire.ts';

/**
 * Five times etcd's object limit: JSON is larger than the stored form. Parsed, the body takes four times as much,
 * within every part's heap limit: a process out of memory would crash again after each restart.
 */
const maxBodyBytes = 8 * 1024 * 1024;

/** Returns the whole body as text; throws `AnswerTooLarge` above `limit` bytes, `InvalidAnswer` if not UTF-8. */
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

/** Decodes UTF-8 strictly: `Buffer.toString` would insert replacement characters. */
export function decodeUtf8(bytes: Buffer, doing: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalid(doing, 'answer is not UTF-8', cause);
  }
}

/** Parses JSON; throws `InvalidAnswer` with the text's start if invalid. */
export function parseJson(text: string, doing: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid(doing, `answer is not JSON: ${JSON.stringify(text.slice(0, 100))}`, cause);
  }
}

/** Returns the error for a non-2xx answer. Status and Retry-After decide, even if a proxy's page has any encoding. */
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

/** Parses the API server's Status, or returns a proxy's text or HTML. */
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

/** Returns the error for an unreadable answer. */
export function invalid(doing: string, why: string, cause?: unknown): KubeError {
  return new KubeError({ status: 0, reason: 'InvalidAnswer', message: `${doing}: ${why}`, cause });
}
