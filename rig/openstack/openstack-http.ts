import * as z from 'zod';

/** The services that tests talk to, by their type in the catalog. */
export type ServiceType = 'identity' | 'network' | 'compute' | 'image';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed when it is JSON, else the text. */
  readonly body: unknown;
}

export interface RawRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Somebody who is logged in and sends requests as they are. */
export interface OpenstackUser {
  readonly projectId: string;
  readonly userId: string;
  readonly token: string;
  /** The service's public endpoint without a trailing slash. */
  url(service: ServiceType): string;
  /** The answer, whatever its status. */
  raw(service: ServiceType, request: RawRequest): Promise<RawAnswer>;
  /** The body of a success; anything else throws with what the service said. */
  ask(service: ServiceType, request: RawRequest): Promise<unknown>;
}

export interface Login {
  readonly keystoneUrl: string;
  readonly username: string;
  readonly password: string;
  readonly domainName: string;
  readonly project: { readonly id: string } | { readonly name: string };
}

// Longer than Nova's rpc_response_timeout of 200 s: its answer names the cause.
const timeoutMs = 240_000;

const tokenSchema = z.object({
  token: z.object({
    project: z.object({ id: z.string() }),
    user: z.object({ id: z.string() }),
    catalog: z.array(
      z.object({
        type: z.string(),
        endpoints: z.array(z.object({ interface: z.string(), url: z.string() })),
      }),
    ),
  }),
});

/** Logs in with a password; deliberately not the product's own client, which is what the tests check. */
export async function logIn(login: Login): Promise<OpenstackUser> {
  const keystone = login.keystoneUrl.replace(/\/$/, '').replace(/(\/v3)?$/, '/v3');
  const domain = { name: login.domainName };
  const project = 'id' in login.project ? login.project : { ...login.project, domain };
  const answer = await send(`${keystone}/auth/tokens`, {
    method: 'POST',
    path: '',
    body: {
      auth: {
        identity: {
          methods: ['password'],
          password: { user: { name: login.username, domain, password: login.password } },
        },
        scope: { project },
      },
    },
  });
  if (answer.status !== 201) throw new Error(`login of ${login.username}: ${said(answer)}`);
  const { token } = tokenSchema.parse(answer.body);
  const subject = answer.headers.get('x-subject-token') ?? '';

  function url(service: ServiceType): string {
    if (service === 'identity') return keystone;
    const endpoint = token.catalog
      .find((entry) => entry.type === service)
      ?.endpoints.find((candidate) => candidate.interface === 'public');
    if (endpoint === undefined) throw new Error(`the catalog has no public ${service} endpoint`);
    return endpoint.url.replace(/\/$/, '');
  }

  async function raw(service: ServiceType, request: RawRequest): Promise<RawAnswer> {
    const headers = { 'x-auth-token': subject, ...request.headers };
    return send(url(service) + request.path, { ...request, headers });
  }

  return {
    projectId: token.project.id,
    userId: token.user.id,
    token: subject,
    url,
    raw,
    async ask(service, request) {
      const result = await raw(service, request);
      if (result.status < 300) return result.body;
      throw new Error(`${request.method ?? 'GET'} ${request.path}: ${said(result)}`);
    },
  };
}

/** One request without a login. */
export async function send(url: string, request: RawRequest): Promise<RawAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    return await answerTo(url, request, signal);
  } catch (cause) {
    const limit = signal.aborted ? ` within ${timeoutMs / 1000} s` : '';
    throw new Error(`${request.method ?? 'GET'} ${url}: no answer${limit}`, { cause });
  }
}

async function answerTo(url: string, request: RawRequest, signal: AbortSignal): Promise<RawAnswer> {
  const binary = request.body instanceof Uint8Array;
  const answer = await fetch(url, {
    method: request.method ?? 'GET',
    redirect: 'manual',
    headers: {
      accept: 'application/json',
      ...(request.body === undefined || binary ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    },
    ...(request.body === undefined ? {} : { body: encoded(request.body) }),
    signal,
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: parsed(text) };
}

function encoded(body: unknown): string | Uint8Array<ArrayBuffer> {
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function said({ status, body }: RawAnswer): string {
  return `${status} ${JSON.stringify(body).slice(0, 400)}`;
}
