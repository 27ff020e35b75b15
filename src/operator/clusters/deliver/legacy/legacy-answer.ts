import * as z from 'zod';
import { kindOf, retryAfterOf } from '../../../../requests/answer.ts';
import { type FailureKind, RequestError } from '../../../../requests/request-error.ts';
import type { HttpAnswer } from '../../../../requests/transport.ts';

/** Body of a success. The legacy Viola counts nodes; other receivers of the legacy operator name refused nodes. */
const success = z.looseObject({
  applied: z.number().optional(),
  errors: z
    .array(z.looseObject({ nodeName: z.string(), message: z.string().default('refused') }))
    .default([]),
});

export interface NodeRefusal {
  readonly nodeName: string;
  readonly message: string;
}

/** Returns the nodes that a 2xx answer names as refused. Throws RequestError when the POST was not accepted. */
export function refusalsIn(answer: HttpAnswer, count: number, now: Date): readonly NodeRefusal[] {
  const { status, text } = answer;
  if (status < 200 || status > 299) throw legacyFailure(answer, now);
  if (text.trim() === '') return [];
  const found = success.safeParse(parsed(text));
  if (!found.success)
    throw badAnswer(
      status,
      'is not valid (check that spec.settings.violaEndpoint is the URL of a Viola)',
    );
  const { applied, errors } = found.data;
  if (applied !== undefined && applied + errors.length < count) {
    throw badAnswer(status, `confirms ${applied} of ${count} nodes`);
  }
  return errors;
}

function badAnswer(status: number, what: string): RequestError {
  const details = { service: 'viola', kind: 'badAnswer', status } as const;
  return new RequestError(`the answer of the legacy Viola ${what}`, details);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy's or foreign service's page.
    return undefined;
  }
}

const shownCharacters = 300;

/** Returns the error of a legacy Viola's unsuccessful answer, which is plain text. */
export function legacyFailure(answer: HttpAnswer, now: Date): RequestError {
  const { status } = answer;
  // Ephemeral ports would make repeated failures look new.
  const detail = answer.text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/:\d+(?=->)/g, '')
    .trim();
  const text = `unexpected status ${status}: ${detail.slice(0, shownCharacters)}`;
  const retryAfterMs = retryAfterOf(answer, now);
  return new RequestError(`${text}${advices[status] ?? ''}`, {
    service: 'viola',
    kind: kindFrom(answer),
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** kubectl and ssh errors that concern the whole business cluster: posting single nodes would fail, too. */
const ofCluster = new RegExp(
  [
    'unable to connect to the server|connection to the server|connection refused|no route to host',
    'i/o timeout|tls handshake timeout|context deadline exceeded|signal: killed|etcdserver:',
    'ssh: connect|sshpass|permission denied \\(|host key verification failed|executable file not found',
    'logged in to the server|cannot \\w+ resource|no matches for kind|namespaces "[^"]*" not found',
    'failed calling webhook|unable to handle the request',
  ].join('|'),
  'i',
);

function kindFrom({ status, text }: HttpAnswer): FailureKind {
  return status >= 500 && ofCluster.test(text) ? 'unreachable' : kindOf(status);
}

const unauthorized =
  ' (a legacy Viola needs no token: check for a proxy, and that spec.settings.violaCompatibility is right)';

const advices: Readonly<Record<number, string>> = {
  401: unauthorized,
  403: unauthorized,
  404: ' (check that spec.settings.violaEndpoint is the URL of a Viola)',
  405: ' (check that spec.settings.violaEndpoint is the URL of a Viola)',
};
