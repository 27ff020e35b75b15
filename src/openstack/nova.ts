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
  /** Servers of the project by id, newest first: all of them, or as many pages as show every one of `wanted`. */
  list(signal: AbortSignal, wanted?: readonly string[]): Promise<ReadonlyMap<string, Server>>;
  /** Servers of the project that carry all these tags, by id. */
  tagged(tags: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Server>>;
  /** Servers of the project that changed since then, by id; those deleted since are `DELETED`. */
  changedSince(since: Date, signal: AbortSignal): Promise<ReadonlyMap<string, Server>>;
  server(id: string, signal: AbortSignal): Promise<Found<ServerRecord>>;
  /** The tags of a server. */
  tags(id: string, signal: AbortSignal): Promise<Found<readonly string[]>>;
}

/** The first microversion: every Nova since Kilo speaks it, and all that is read here but tags is in it. */
export const novaHeaders = { 'openstack-api-version': 'compute 2.1' } as const;
/**
 * Tags came with Newton. An older microversion leaves the filter by tags out and lists every server, and so do /v2 endpoints
 * (LegacyV2CompatibleWrapper) and gateways that drop the header: `tags` of the listed servers show that Nova obeyed it.
 */
const tagHeaders = { 'openstack-api-version': 'compute 2.26' } as const;

const pageSize = 500;
// A page of details costs Nova about 6 ms a server, and several times that on a busy controller.
const pageTimeoutFactor = 3;
// Nova answers 400 "marker [x] not found".
const markerGone = 400;

export interface NovaOptions {
  readonly timeoutMs: number;
  /** Servers per page of a list; Nova's own limit is 1,000 by default. */
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

/** Reads of Nova; `client` knows its versioned base. */
export function createNova(client: ServiceClient, options: NovaOptions): Nova {
  const listing: Omit<Listing<Server>, 'memory' | 'suffices' | 'tidy'> = {
    path: '/servers/detail',
    query: [['limit', String(options.pageSize ?? pageSize)]],
    timeoutMs: pageTimeoutFactor * options.timeoutMs,
    key: 'servers',
    item: serverSchema,
    standIn: flawedServer,
    idOf: (server) => server.id,
    markerGone,
  };
  const pages = new ReadMemory<Server>();
  const taggedPages = new ReadMemory<TaggedServer>();
  return {
    async list(signal, wanted) {
      // A full page has a next one, even when nothing is behind it.
      const suffices = (found: ReadonlyMap<string, Server>): boolean =>
        wanted?.every((id) => found.has(id)) === true;
      const memory = { pages, name: '' };
      return readPages(client, { ...listing, memory, suffices }, signal);
    },
    async tagged(tags, signal) {
      const query = [...(listing.query ?? []), ['tags', tags.join(',')] as const];
      const item: z.ZodType<TaggedServer> = taggedServerSchema;
      const idOf = ({ server }: TaggedServer) => server.id;
      const standIn = (raw: unknown, flaw: string) => ({ server: flawedServer(raw, flaw), tags });
      const memory = { pages: taggedPages, name: tags.join(',') };
      const wanted = { ...listing, query, headers: tagHeaders, item, standIn, idOf, memory };
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
