// A Viola for the bench, in a process of its own: keeps what it is posted and lists it in pages, nothing else. As the real one
// it selects from pages of the business cluster, so that a page may be empty and not the last.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  continueHeader,
  type ExistingNodeConfig,
  nodeConfigsPath,
  type PostedNode,
} from '../../src/api/node-configs-http.ts';
import { namesTag, pageTag } from '../../src/viola/read/page-tag.ts';

const nodes = new Map<string, ExistingNodeConfig>();
/** Nodes written since the list was asked for the last time. */
let written = 0;

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function list(url: URL) {
  const start = Number(url.searchParams.get('continue') ?? 0);
  const end = start + Number(url.searchParams.get('limit') ?? 500);
  const page = [...nodes.values()].slice(start, end);
  const items = page.filter((node) => isSelected(node, url.searchParams));
  const next = end < nodes.size ? String(end) : undefined;
  return { items, observedAt: new Date().toISOString(), continue: next };
}

function sendPage(response: ServerResponse, page: ReturnType<typeof list>, ifNoneMatch = ''): void {
  const tag = pageTag('biz-1', { items: page.items, unreadable: [] });
  response.setHeader('etag', tag).setHeader(continueHeader, page.continue ?? '');
  if (namesTag(ifNoneMatch, tag)) response.writeHead(304).end();
  else send(response, 200, page);
}

function isSelected({ spec, source }: ExistingNodeConfig, query: URLSearchParams): boolean {
  const wanted = query.get('source');
  const ids = query.getAll('instanceId');
  if (wanted === null && ids.length === 0) return true;
  return `${source?.namespace}/${source?.name}` === wanted || ids.includes(spec.instanceId ?? '');
}

function write({ nodeName, instanceId, interfaces = [], source }: PostedNode) {
  const generation = (nodes.get(nodeName)?.generation ?? 0) + 1;
  const uid = `uid-${nodeName}`;
  const spec = { nodeName, interfaces, ...(instanceId ? { instanceId } : {}) };
  nodes.set(nodeName, { nodeName, uid, generation, spec, ...(source ? { source } : {}) });
  written += 1;
  return { nodeName, uid, generation, status: 'updated' as const };
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '', 'http://viola');
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (url.pathname === '/written') {
      send(response, 200, { written });
      written = 0;
    } else if (url.pathname === nodeConfigsPath && request.method === 'POST') {
      const posted = JSON.parse(Buffer.concat(chunks).toString()) as PostedNode[];
      const results = posted.map(write);
      send(response, 200, { applied: results.length, results, errors: [] });
    } else if (url.pathname.startsWith(`${nodeConfigsPath}/`)) {
      const node = nodes.get(url.pathname.slice(nodeConfigsPath.length + 1));
      if (node) send(response, 200, node);
      else send(response, 404, { type: 'about:blank', title: 'Not Found', status: 404 });
    } else sendPage(response, list(url), request.headers['if-none-match']);
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
});
process.once('SIGTERM', () => server.close().closeAllConnections());
