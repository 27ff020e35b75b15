import * as z from 'zod';
import { headerOf, kindOf, retryAfterOf } from '../../requests/answer.ts';
import { RequestError, type Service } from '../../requests/request-error.ts';
import type { HttpAnswer, HttpRequest } from '../../requests/transport.ts';

/** Request fields that appear in errors. */
type RequestInfo = Pick<HttpRequest, 'service' | 'method' | 'url'>;

/** Returns the error for an unsuccessful answer; `now` converts a `Retry-After` date into a duration. */
export function answerFailure(request: RequestInfo, answer: HttpAnswer, now: Date): RequestError {
  const errorText = textOfError(answer);
  const target = `${request.method} ${request.url.pathname}`;
  const retryAfterMs = retryAfterOf(answer, now);
  const requestId = headerOf(answer, 'x-openstack-request-id');
  return new RequestError(
    `${target} answered ${answer.status}${errorText === '' ? '' : ` (${errorText})`}`,
    {
      service: request.service,
      kind: kindOf(answer.status),
      status: answer.status,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(requestId === undefined ? {} : { requestId }),
    },
  );
}

/** Returns the answer's JSON; throws `badAnswer` for anything else, such as a proxy's HTML page with 200. */
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

/** Validates received data; the error names the first wrong field. */
export function parseAs<T>(schema: z.ZodType<T>, service: Service, what: string, data: unknown): T {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  throw new RequestError(`${what}: unexpected answer at ${flawIn(result.error)}`, {
    service,
    kind: 'badAnswer',
    cause: result.error,
  });
}

/** Returns the first wrong field and the reason, without the field's value. */
export function flawIn({ issues: [issue] }: z.ZodError): string {
  return issue === undefined ? 'an unknown field' : `${issue.path.join('.')}: ${issue.message}`;
}

const neutronError = z.object({
  NeutronError: z.object({ type: z.string(), message: z.string().default('') }),
});
const keystoneError = z.object({ error: z.object({ message: z.string() }) });
const novaError = z.record(z.string(), z.object({ message: z.string() }));
const errorTextSchema = z.union([
  neutronError.transform((wire) => `${wire.NeutronError.type}: ${wire.NeutronError.message}`),
  keystoneError.transform((wire) => wire.error.message),
  novaError.transform((wire) => {
    const [first] = Object.entries(wire);
    return first ? `${first[0]}: ${first[1].message}` : '';
  }),
]);

/**
 * True if the service itself answered 404 for the resource, rather than a proxy. Neutron's HTTPNotFound does not
 * count: it also hides resources by policy (neutron/pecan_wsgi/hooks/policy_enforcement.py) and reports unknown
 * paths.
 */
export function isNotFoundByService(answer: HttpAnswer): boolean {
  if (answer.status !== 404) return false;
  const body = tryJson(answer.text);
  const neutron = neutronError.safeParse(body);
  if (neutron.success)
    return /^(Port|Subnet|Network)NotFound$/.test(neutron.data.NeutronError.type);
  return z.object({ itemNotFound: z.object({ code: z.literal(404) }) }).safeParse(body).success;
}

/** Returns the service's error text on one line, at most 200 characters; '' for an unknown body format. */
export function textOfError(answer: HttpAnswer): string {
  const parsed = errorTextSchema.safeParse(tryJson(answer.text));
  if (!parsed.success) return '';
  const line = parsed.data.replaceAll(/req-[0-9a-f-]{36}/g, 'req-…').replaceAll(/\s+/g, ' ');
  return line.length <= 200 ? line : `${line.slice(0, 199)}…`;
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Only error wording depends on the body; a proxy's HTML contains nothing worth quoting.
    return undefined;
  }
}
