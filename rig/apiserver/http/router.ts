import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { AuditLog } from '../audit.ts';
import type { Cluster } from '../cluster.ts';
import { read } from '../cluster.ts';
import type { Faults, LoseFault } from '../faults.ts';
import type { JsonObject } from '../objects/json.ts';
import { methodNotAllowed, notFound, StatusError } from '../objects/status-error.ts';
import {
  apiVersionOf,
  atVersion,
  type ResourceType,
  resourceOf,
} from '../resources/resource-type.ts';
import { list, selectorOf } from '../verbs/list.ts';
import { type WatchEvent, watch } from '../verbs/watch.ts';
import { isReview, review } from './access-review.ts';
import type { TokenTable, User } from './authentication.ts';
import { parseBody, readBody } from './body.ts';
import { discovery } from './discovery.ts';
import { openApi } from './openapi.ts';
import { authorize } from './rbac.ts';
import { readList, readWatch } from './read-query.ts';
import {
  type ResourcePath,
  type ResourceRequest,
  resourcePath,
  type Verb,
  verbOf,
} from './request-info.ts';
import { tableOf, wantsTable } from './table.ts';
import { issueToken, makesTokens } from './token-request.ts';
import { WatchStream } from './watch-stream.ts';
import { type Answer, write } from './write-verbs.ts';

export interface Routes {
  readonly cluster: Cluster;
  readonly tokens: TokenTable;
  readonly faults: Faults;
  readonly audit: AuditLog;
  readonly watches: Set<WatchStream>;
  readonly bookmarkMs: number;
}

/** Answers one HTTP request; never rejects. */
export async function handle(
  routes: Routes,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    await route(routes, request, response);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else answerError(response, error);
  }
}

async function route(
  routes: Routes,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://embedded');
  const user = routes.tokens.authenticate(request.headers.authorization);
  if (['/healthz', '/livez', '/readyz'].includes(url.pathname))
    return answerText(response, 200, 'ok');
  const { types } = routes.cluster;
  const found = discovery(url.pathname, types) ?? openApi(url.pathname, types);
  if (found) return answerJson(response, { status: 200, body: found });
  const understood = resourceRequest(routes.cluster, request.method ?? '', url);
  if (!understood) return answerNotServed(routes.cluster, url.pathname, response);
  await serve(routes, understood, user, request, response);
}

/** What the request asks for; undefined when nothing is served at its path. */
function resourceRequest(
  cluster: Cluster,
  method: string,
  { pathname, searchParams: query }: URL,
): ResourceRequest | undefined {
  const path = resourcePath(pathname);
  const type = path && cluster.types.find(path.apiVersion, path.plural);
  if (!path || !type) return undefined;
  const { namespace, subresource, name = selectedName(query) } = path;
  if (!type.namespaced && namespace !== undefined) return undefined;
  if (subresource !== undefined && !serves(type, subresource)) return undefined;
  return { verb: servedVerb(method, path, type, query), type, namespace, name, subresource, query };
}

/** The one object that a list or watch is about, by whose name it is authorised (request info of Kubernetes). */
function selectedName(query: URLSearchParams): string | undefined {
  return /^metadata\.name==?([^,=]+)$/.exec(query.get('fieldSelector') ?? '')?.[1];
}

function serves(type: ResourceType, subresource: string): boolean {
  return (subresource === 'status' && type.hasStatus) || makesTokens(type, subresource);
}

function servedVerb(
  method: string,
  path: ResourcePath,
  type: ResourceType,
  query: URLSearchParams,
): Verb {
  if (makesTokens(type, path.subresource)) {
    if (method !== 'POST') throw methodNotAllowed();
    return 'create';
  }
  const verb = verbOf(method, path, query);
  if (!verb || (isReview(type) && verb !== 'create')) throw methodNotAllowed();
  return verb;
}

async function serve(
  routes: Routes,
  request: ResourceRequest,
  user: User,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { faults, audit, cluster } = routes;
  const match = { verb: request.verb, resource: resourceOf(request.type), name: request.name };
  const loss = faults.loss(match);
  const delayMs = faults.delayMs(match);
  const body = await readBody(incoming);
  if (delayMs > 0) await cluster.clock.sleep(delayMs);
  if (loss === 'before') return reset(response);
  try {
    const refusal = faults.refusal(match);
    if (refusal) throw refusal;
    authorize(cluster, user, request);
    if (request.verb === 'watch') return await stream(routes, request, user, incoming, response);
    const answer = answerOf(routes, request, user, incoming, body);
    audit.record(request, user, answer.status);
    answerUnlessLost(response, answer, loss);
  } catch (error) {
    audit.record(request, user, error instanceof StatusError ? error.code : 500);
    throw error;
  }
}

function answerOf(
  { cluster, tokens }: Routes,
  request: ResourceRequest,
  user: User,
  { headers }: IncomingMessage,
  body: string,
): Answer {
  const { type } = request;
  if (isReview(type)) return { status: 201, body: review(cluster, user, type, parseBody(body)) };
  if (makesTokens(type, request.subresource)) {
    return { status: 201, body: issueToken(cluster, tokens, request, parseBody(body)) };
  }
  const asTable = wantsTable(headers.accept);
  if (request.verb === 'get') return getObject(cluster, request, asTable);
  if (request.verb === 'list') return listObjects(cluster, request, asTable);
  return write(cluster, {
    request,
    body,
    contentType: headers['content-type'] ?? '',
    userAgent: headers['user-agent'] ?? '',
    mayCreate: () => authorize(cluster, user, { ...request, verb: 'create' }),
  });
}

/** In a group that is there, a Status; outside of any, the words of Go's HTTP server. */
function answerNotServed(cluster: Cluster, pathname: string, response: ServerResponse): void {
  const group = resourcePath(pathname)?.apiVersion;
  if (!cluster.types.all().some((type) => apiVersionOf(type) === group)) {
    return answerText(response, 404, '404 page not found\n');
  }
  const message = 'the server could not find the requested resource';
  throw new StatusError(404, 'NotFound', message);
}

function getObject(
  cluster: Cluster,
  { type, namespace, name = '' }: ResourceRequest,
  asTable: boolean,
): Answer {
  const object = read(cluster, { type, namespace, name });
  if (!object) throw notFound(type, name);
  const body = atVersion(object, type);
  return { status: 200, body: asTable ? tableOf(type, [body], cluster.clock.now()) : body };
}

function listObjects(cluster: Cluster, request: ResourceRequest, asTable: boolean): Answer {
  const body = list(cluster, readList(request));
  if (!asTable) return { status: 200, body };
  const { items, metadata } = body;
  const objects = items as readonly JsonObject[];
  return { status: 200, body: tableOf(request.type, objects, cluster.clock.now(), metadata) };
}

async function stream(
  routes: Routes,
  request: ResourceRequest,
  user: User,
  { headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { cluster, faults, watches, bookmarkMs } = routes;
  const asTable = wantsTable(headers.accept);
  const watchRequest = readWatch(request, 1800 * (1 + cluster.random()));
  selectorOf(watchRequest);
  routes.audit.record(request, user, 200);
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  const open = new WatchStream({
    response,
    resource: resourceOf(request.type),
    clock: cluster.clock,
    deliver: (event, resource) => faults.delivery(event, resource),
  });
  if (faults.silent) open.silence();
  watches.add(open);
  try {
    const send = ({ type, object }: WatchEvent): void => {
      const isRow = asTable && ['ADDED', 'MODIFIED', 'DELETED'].includes(type);
      const shown = isRow ? tableOf(request.type, [object], cluster.clock.now()) : object;
      open.send({ type, object: shown });
    };
    await watch(cluster, watchRequest, send, bookmarkMs, open.signal);
    // A black hole never says that it ends.
    if (!open.silent) await open.end();
  } finally {
    watches.delete(open);
  }
}

function answerUnlessLost(
  response: ServerResponse,
  answer: Answer,
  loss: LoseFault['when'] | undefined,
): void {
  if (loss === 'after') reset(response);
  else answerJson(response, answer);
}

function answerError(response: ServerResponse, error: unknown): void {
  const known =
    error instanceof StatusError
      ? error
      : new StatusError(500, 'InternalError', `Internal error occurred: ${String(error)}`);
  const { retryAfterSeconds } = known.details;
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds);
  answerJson(response, { status: known.code, body: known.body() });
}

function answerJson(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function answerText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
}

/** Cuts the connection as a proxy or a crash would: the caller sees a reset, not an answer. */
function reset({ socket }: ServerResponse): void {
  // Node resets TCP sockets only.
  if (socket instanceof TLSSocket) socket.destroy();
  else socket?.resetAndDestroy();
}
