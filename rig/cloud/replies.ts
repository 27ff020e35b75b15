import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Failure, ServiceName } from './failures.ts';
import type { Refusal } from './refusal.ts';
import type { Reply } from './route.ts';

/** A refusal in the words and the shape of its service. */
export function refusalReply(service: ServiceName, refusal: Refusal): Reply {
  const { status, type, message } = refusal;
  if (status === 401) {
    const error = { code: 401, title: 'Unauthorized', message };
    return { status, headers: { 'www-authenticate': 'Keystone' }, body: { error } };
  }
  if (service === 'neutron')
    return { status, body: { NeutronError: { type, message, detail: '' } } };
  if (service === 'nova') return { status, body: { [type]: { code: status, message } } };
  return { status, body: { error: { code: status, title: type, message } } };
}

/** Carries out a failure that needs no answer from a route; false if it does need one. */
export function failsAtOnce(
  failure: Failure,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (failure.kind === 'hang') return true;
  if (failure.kind === 'reset') {
    request.socket.resetAndDestroy();
    return true;
  }
  if (failure.kind !== 'status') return false;
  const headers = failure.retryAfter === undefined ? {} : { 'retry-after': failure.retryAfter };
  response.writeHead(failure.status, headers).end();
  return true;
}

/** The answer with what the failure takes out of its lists. */
export function damaged(reply: Reply, failure: Failure): Reply {
  const keeps = (item: unknown): boolean =>
    failure.kind === 'omit' && !failure.ids.includes((item as { id?: string }).id ?? '');
  if (failure.kind !== 'empty' && failure.kind !== 'omit') return reply;
  const entries = Object.entries((reply.body ?? {}) as Record<string, unknown>);
  const body = entries.map(([key, value]) => [
    key,
    Array.isArray(value) ? value.filter(keeps) : value,
  ]);
  return { ...reply, body: Object.fromEntries(body) };
}

/** Sends the answer, whole unless the failure cuts it. */
export function writeReply(
  response: ServerResponse,
  reply: Reply,
  failure: Failure | undefined,
): void {
  const text = reply.body === undefined ? '' : JSON.stringify(reply.body);
  response.writeHead(reply.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...reply.headers,
  });
  if (failure?.kind !== 'truncate') {
    response.end(text);
    return;
  }
  response.write(text.slice(0, text.length / 2), () => response.destroy());
}
