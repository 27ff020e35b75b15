import type * as z from 'zod';
import { RequestError } from '../requests/request-error.ts';
import { readFound } from './requests/found.ts';
import { type Listing, readPages } from './requests/pages.ts';
import { ReadMemory } from './requests/read-memory.ts';
import { resourcePath, type ServiceClient } from './requests/service-client.ts';
import {
  type Found,
  flawedServer,
  type Server,
  type ServerRecord,
  serverRecordSchema,
  serverSchema,
  taggedServerSchema,
  tagsSchema,
} from './resources.ts';

export interface Nova {
  /** Returns the project's servers by id, newest first: all, or only pages until every `wanted` server was found. */
  list(signal: AbortSignal, wanted?: readonly string[]): Promise<ReadonlyMap<string, Server>>;
  /** Returns the project's servers that carry all these tags, by id. */
  tagged(tags: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Server>>;
  /**
   * Returns the project's servers changed after `since`, by id; servers deleted after `since` have status `DELETED`.
   */
  changedSince(since: Date, signal: AbortSignal): Promise<ReadonlyMap<string, Server>>;
  server(id: string, signal: AbortSignal): Promise<Found<ServerRecord>>;
  /** Returns a server's tags. */
  tags(id: string, signal: AbortSignal): Promise<Found<readonly string[]>>;
}

/** First microversion: every Nova since Kilo supports 2.1, and only tags need a later version. */
export const novaHeaders = { 'openstack-api-version': 'compute 2.1' } as const;
/**
 * Microversion for tags (Newton). Older versions ignore the tag filter and list all servers, as do /v2 endpoints
 * (LegacyV2CompatibleWrapper) and gateways that drop the header. A `tags` field in the answer proves that Nova
 * applied 2.26.
 */
const tagHeaders = { 'openstack-api-version': 'compute 2.26' } as const;

const pageSize = 500;
// Nova needs about 6 ms per server for a detail page, and several times as long on a busy controller.
const pageTimeoutFactor = 3;
// Nova answers 400 "marker [x] not found".
const markerGone = 400;

export interface NovaOptions {
  readonly timeoutMs: number;
  /** Servers per list page (default 500); Nova's own default limit is 1,000. */
  readonly pageSize?: number;
}

interface TaggedServer {
  readonly server: Server;
  readonly tags: readonly string[] | undefined;
}

function carriersOf(
  wanted: readonly string[],
  listed: ReadonlyMap<string, TaggedServer>,
): ReadonlyMap<string, Server> {
  const carriers = new Map<string, Server>();
  for (const [id, { server, tags }] of listed) {
    if (tags === undefined) throw new RequestError(tagsIgnored, badAnswer);
    if (wanted.every((tag) => tags.includes(tag))) carriers.set(id, server);
  }
  return carriers;
}

const badAnswer = { service: 'nova', kind: 'badAnswer' } as const;
const tagsIgnored =
  'GET /servers/detail: the compute endpoint ignores microversion 2.26, so vmSelector.tags cannot select servers; use its /v2.1 endpoint (catalog, openstackNovaEndpoint or compute_endpoint_override) and let gateways pass the header OpenStack-API-Version, or select by vmSelector.metadata';

/** Creates Nova reads; the base URL in `client` contains the version. */
export function createNova(client: ServiceClient, options: NovaOptions): Nova {
  const listing: Omit<Listing<Server>, 'memory' | 'suffices' | 'tidy'> = {
    path: '/servers/detail',
    query: [['limit', String(options.pageSize ?? pageSize)]],
    timeoutMs: pageTimeoutFactor * options.timeoutMs,
    key: 'servers',
    item: serverSchema,
    placeholder: flawedServer,
    idOf: (server) => server.id,
    markerGone,
  };
  const pages = new ReadMemory<Server>();
  const taggedPages = new ReadMemory<TaggedServer>();
  return {
    async list(signal, wanted) {
      // A full page has a next link even when no server follows.
      const suffices = (found: ReadonlyMap<string, Server>): boolean =>
        wanted?.every((id) => found.has(id)) === true;
      const memory = { pages, name: '' };
      return readPages(client, { ...listing, memory, suffices }, signal);
    },
    async tagged(tags, signal) {
      const query = [...(listing.query ?? []), ['tags', tags.join(',')] as const];
      const item: z.ZodType<TaggedServer> = taggedServerSchema;
      const idOf = ({ server }: TaggedServer) => server.id;
      const placeholder = (raw: unknown, flaw: string) => ({
        server: flawedServer(raw, flaw),
        tags,
      });
      const memory = { pages: taggedPages, name: tags.join(',') };
      const wanted = { ...listing, query, headers: tagHeaders, item, placeholder, idOf, memory };
      return carriersOf(tags, await readPages(client, wanted, signal));
    },
    async changedSince(since, signal) {
      const changes = ['changes-since', since.toISOString()] as const;
      return readPages(client, { ...listing, query: [...(listing.query ?? []), changes] }, signal);
    },
    async tags(id, signal) {
      const path = resourcePath('/servers', id, '/tags');
      const read = { path, headers: tagHeaders, key: 'tags', schema: tagsSchema };
      return readFound(client, read, signal);
    },
    async server(id, signal) {
      const path = resourcePath('/servers', id);
      return readFound(client, { path, key: 'server', schema: serverRecordSchema }, signal);
    },
  };
}
