import * as z from 'zod';
import { headerOf, kindOf, retryAfterOf } from '../../requests/answer.ts';
import { RequestError, type Service } from '../../requests/request-error.ts';
import type { HttpAnswer, HttpRequest } from '../../requests/transport.ts';

/** What an error says about the request. */
type Asked = Pick<HttpRequest, 'service' | 'method' | 'url'>;

/** What an answer that is not a success becomes; `now` turns a `Retry-After` date into a duration. */
export function answerFailure(request: Asked, answer: HttpAnswer, now: Date): RequestError {
  const said = textOfError(answer);
  const target = `${request.method} ${request.url.pathname}`;
  const retryAfterMs = retryAfterOf(answer, now);
  const requestId = headerOf(answer, 'x-openstack-request-id');
  return new RequestError(`${target} answered ${answer.status}${said === '' ? '' : ` (${said})`}`, {
    service: request.service,
    kind: kindOf(answer.status),
    status: answer.status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(requestId === undefined ? {} : { requestId }),
  });
}

/** The answer's JSON, or `badAnswer` (a proxy's HTML page with 200, say). */
export function jsonOf(service: Service, what: string, answer: HttpAnswer): unknown {
  try {
    return JSON.parse(answer.text);
  } catch (error) {
    throw new RequestError(`${what}: the answer is not JSON`, {
      service,
      kind: 'badAnswer',
      status: answer.status,
      cause: error,
    });
  }
}

/** Checks data that came in; the error names the first wrong field. */
export function parseAs<T>(schema: z.ZodType<T>, service: Service, what: string, data: unknown): T {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  throw new RequestError(`${what}: not the expected answer at ${flawIn(result.error)}`, {
    service,
    kind: 'badAnswer',
    cause: result.error,
  });
}

/** The first wrong field and why it is wrong, without its value. */
export function flawIn({ issues: [issue] }: z.ZodError): string {
  return issue === undefined ? 'an unknown field' : `${issue.path.join('.')}: ${issue.message}`;
}

const neutronError = z.object({
  NeutronError: z.object({ type: z.string(), message: z.string().default('') }),
});
const keystoneError = z.object({ error: z.object({ message: z.string() }) });
const novaError = z.record(z.string(), z.object({ message: z.string() }));
const saying = z.union([
  neutronError.transform((wire) => `${wire.NeutronError.type}: ${wire.NeutronError.message}`),
  keystoneError.transform((wire) => wire.error.message),
  novaError.transform((wire) => {
    const [first] = Object.entries(wire);
    return first ? `${first[0]}: ${first[1].message}` : '';
  }),
]);

/**
 * Whether a 404 was said by the service about the resource, and not by something in front of it. Neutron says HTTPNotFound of
 * what its policy hides (neutron/pecan_wsgi/hooks/policy_enforcement.py), and of a path that it does not know.
 */
export function isNotFoundByService(answer: HttpAnswer): boolean {
  if (answer.status !== 404) return false;
  const body = tryJson(answer.text);
  const neutron = neutronError.safeParse(body);
  if (neutron.success)
    return /^(Port|Subnet|Network)NotFound$/.test(neutron.data.NeutronError.type);
  return z.object({ itemNotFound: z.object({ code: z.literal(404) }) }).safeParse(body).success;
}

/** The text of the service's error on one line, at most 200 characters; '' when the body is of another form. */
export function textOfError(answer: HttpAnswer): string {
  const parsed = saying.safeParse(tryJson(answer.text));
  if (!parsed.success) return '';
  const line = parsed.data.replaceAll(/req-[0-9a-f-]{36}/g, 'req-…').replaceAll(/\s+/g, ' ');
  return line.length <= 200 ? line : `${line.slice(0, 199)}…`;
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Only the wording of an error depends on it; a proxy's HTML says nothing worth quoting.
    return undefined;
  }
}
