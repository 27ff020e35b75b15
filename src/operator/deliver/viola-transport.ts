import { readFile } from 'node:fs/promises';
import { Pool } from 'undici';
import type { Clock } from '../../time/clock.ts';
import { DeadlineReached, withDeadline } from '../../time/deadline.ts';
import { ViolaError } from './viola-error.ts';

export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface WireAnswer {
  readonly status: number;
  /** Parsed JSON; undefined when the body is none. */
  readonly body: unknown;
  readonly retryAfterMs: number | undefined;
}

export interface ViolaTransport extends AsyncDisposable {
  /** One exchange, whatever its status. Throws ViolaError with status 0 when no answer came. */
  send(request: WireRequest, signal: AbortSignal): Promise<WireAnswer>;
}

export interface ViolaTransportOptions {
  readonly endpoint: string;
  readonly timeoutMs: number;
  readonly insecure: boolean;
  readonly ca: string | undefined;
  /** Read at each use, so that a rotated token holds at once; undefined = no token is sent. */
  readonly tokenFile: string | undefined;
  readonly clock: Clock;
}

const connections = 8;
const connectTimeoutMs = 5_000;

/** HTTP to one Viola over a connection pool that is kept until disposed. */
export function createViolaTransport(options: ViolaTransportOptions): ViolaTransport {
  const { endpoint, timeoutMs, insecure, ca, tokenFile, clock } = options;
  const { origin, pathname } = new URL(endpoint);
  const prefix = pathname.replace(/\/+$/, '');
  const pool = new Pool(origin, {
    connections,
    // The deadline of the whole exchange is ours.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      timeout: connectTimeoutMs,
      rejectUnauthorized: !insecure,
      ...(ca === undefined ? {} : { ca }),
    },
  });

  return {
    async send(request, signal) {
      const authorization = await authorizationOf(tokenFile);
      try {
        return await withDeadline({ clock, ms: timeoutMs, signal }, async (limited) => {
          const answer = await pool.request({
            method: request.method,
            path: prefix + request.path,
            headers: {
              accept: 'application/json',
              'user-agent': 'multinic-operator',
              ...authorization,
              ...request.headers,
            },
            body: request.body ?? null,
            signal: limited,
          });
          const text = await answer.body.text();
          const after = answer.headers['retry-after'];
          return { status: answer.statusCode, body: parseJson(text), retryAfterMs: seconds(after) };
        });
      } catch (error) {
        signal.throwIfAborted();
        throw new ViolaError(`viola: ${origin}: ${reasonOf(error)}`, 0, { cause: error });
      }
    },
    [Symbol.asyncDispose]: async () => pool.destroy(),
  };
}

async function authorizationOf(path: string | undefined): Promise<Record<string, string>> {
  if (path === undefined) return {};
  try {
    return { authorization: `Bearer ${(await readFile(path, 'utf8')).trim()}` };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    const message = `viola: the token file ${path} (VIOLA_TOKEN_FILE) cannot be read: ${code}`;
    throw new ViolaError(message, 0, { cause: error });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy's page; the status says enough.
    return undefined;
  }
}

function seconds(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d+$/.test(header) ? Number(header) * 1000 : undefined;
}

/** Texts of sockets carry ephemeral ports, which would make every failure look new; codes do not. */
function reasonOf(error: unknown): string {
  if (error instanceof DeadlineReached) return error.message;
  const code = codeOf(error);
  return words[code] ?? `the request failed (${code})`;
}

const closed = 'the connection was closed before the answer was complete';
const untrusted = 'its certificate is not signed by a trusted CA; give VIOLA_CA_FILE';
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: closed,
  UND_ERR_SOCKET: closed,
  ENOTFOUND: 'the host name is not known',
  EHOSTUNREACH: 'there is no route to the host',
  ETIMEDOUT: 'no connection within the time limit',
  UND_ERR_CONNECT_TIMEOUT: 'no connection within the time limit',
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
};

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
