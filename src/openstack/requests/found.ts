import * as z from 'zod';
import { RequestError } from '../../requests/request-error.ts';
import type { Found } from '../resources.ts';
import { flawIn, isNotFoundByService, jsonOf, parseAs } from './answer-failure.ts';
import type { Read, ServiceClient } from './service-client.ts';

/** Error code for a resource with an unreadable field; the service itself works. */
export const malformed = 'Malformed';

/**
 * Reads one resource, whose body is `{key: …}`. Only the service's own 404 becomes `notFound`: removals may rely on a
 * 404, so an unknown path at a proxy must not count.
 */
export async function readFound<T>(
  client: ServiceClient,
  { key, schema, ...read }: Read & { readonly key: string; readonly schema: z.ZodType<T> },
  signal: AbortSignal,
): Promise<Found<T>> {
  const answer = await client.read(read, signal);
  if (isNotFoundByService(answer)) return { kind: 'notFound' };
  const what = `GET ${read.path}`;
  if (answer.status === 404) {
    throw new RequestError(
      `${what} answered 404, but in a form that ${client.service} does not use; check proxies in front of it`,
      {
        service: client.service,
        kind: 'badAnswer',
        status: 404,
      },
    );
  }
  if (answer.status !== 200) throw client.failure(read, answer);
  const body = jsonOf(client.service, what, answer);
  const parsed = parseAs(z.record(z.string(), z.unknown()), client.service, what, body);
  const value = schema.safeParse(parsed[key]);
  if (value.success) return { kind: 'found', value: value.data };
  throw new RequestError(`${what}: unexpected answer at ${flawIn(value.error)}`, {
    service: client.service,
    kind: 'badAnswer',
    code: malformed,
    cause: value.error,
  });
}
