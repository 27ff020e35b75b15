import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as send } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { pageError } from '../../api/dashboard.ts';
import { loginPath, writeHeader } from '../../api/dashboard-names.ts';

export interface SentRequest {
  readonly method?: string;
  /** Sent as given, without normalization. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Disconnects. */
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A browser with a cookie jar, or a hostile program with arbitrary headers. */
export class Browser {
  readonly origin: string;
  cookie: string | undefined;

  constructor(origin: string) {
    this.origin = origin;
  }

  /** Headers for a write by the page itself. */
  get ownWrite(): Readonly<Record<string, string>> {
    return {
      origin: this.origin,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
      [writeHeader]: '1',
    };
  }

  /** Sends a request; resolves with the whole response. */
  async fetch(sent: SentRequest): Promise<Answer> {
    const response = await this.open(sent);
    const { statusCode: status = 0, headers } = response;
    return { status, headers, text: await textOf(response) };
  }

  /** Resolves with the response when its headers have arrived. */
  open({
    method = 'GET',
    path,
    headers = {},
    body,
    signal,
  }: SentRequest): Promise<IncomingMessage> {
    const { hostname, port } = new URL(this.origin);
    const cookie = this.cookie === undefined ? {} : { cookie: this.cookie };
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const all = { ...cookie, ...headers };
    const peer = { hostname, port, agent: false };
    const options = { ...peer, method, path, headers: all, ...(signal && { signal }) };
    send(options, resolve).on('error', reject).end(body);
    return promise;
  }

  /** Sends only the headers of a write; resolves when the server waits for the body. */
  async stall(path: string): Promise<Disposable> {
    const { hostname, port } = new URL(this.origin);
    const headers = { ...this.ownWrite, 'content-length': '100', expect: '100-continue' };
    const request = send({ hostname, port, agent: false, method: 'POST', path, headers });
    request.on('error', () => undefined).flushHeaders();
    await once(request, 'continue');
    return { [Symbol.dispose]: () => void request.destroy() };
  }

  async write(path: string, body: object): Promise<Answer> {
    const text = JSON.stringify(body);
    return this.fetch({ method: 'POST', path, headers: this.ownWrite, body: text });
  }

  /** Opens a link as the page does: sends the fragment's token. */
  async login(link: string): Promise<Answer> {
    const token = new URL(link).hash.replace('#token=', '');
    const answer = await this.write(loginPath, { token });
    const [cookie] = answer.headers['set-cookie'] ?? [];
    if (cookie !== undefined) this.cookie = cookie.split(';')[0];
    return answer;
  }
}

/** Returns an error response's reason. */
export function reasonOf({ text }: Answer): string {
  return pageError.parse(JSON.parse(text)).error.reason;
}
