import type { Access } from '../server.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface CallOptions {
  readonly method?: string;
  readonly body?: unknown;
  readonly contentType?: string;
}

/** One plain HTTP request, without the retries of a client. */
export async function call(
  access: Access,
  path: string,
  { method = 'GET', body, contentType = 'application/json' }: CallOptions = {},
): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${await access.token()}`,
    'content-type': contentType,
    'user-agent': 'test/1',
  };
  const text = body === undefined ? null : JSON.stringify(body);
  const response = await fetch(access.server + path, { method, headers, body: text });
  const answer = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json';
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? (JSON.parse(answer) as Answer['body']) : { text: answer },
  };
}

export interface Event {
  readonly type: string;
  readonly object: {
    readonly kind?: string;
    readonly metadata: { readonly name?: string; readonly resourceVersion?: string };
  };
}

/** Opens a watch; reads its events one by one, undefined at its end. */
export async function openWatch(
  access: Access,
  path: string,
): Promise<{ next(): Promise<Event | undefined> }> {
  const headers = { authorization: `Bearer ${await access.token()}` };
  const events = lines(await fetch(access.server + path, { headers }));
  return {
    async next() {
      const { done, value } = await events.next();
      return done ? undefined : value;
    },
  };
}

async function* lines(response: Response): AsyncGenerator<Event, void> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    rest += decoder.decode(chunk as Uint8Array, { stream: true });
    const parts = rest.split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) yield JSON.parse(part) as Event;
  }
}
