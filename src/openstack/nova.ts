import * as z from 'zod';
import { readFound } from './requests/found.ts';
import { readPages } from './requests/pages.ts';
import { resourcePath, type ServiceClient } from './requests/service-client.ts';
import {
  type Found,
  type Server,
  type ServerInterface,
  serverInterfaceSchema,
  serverSchema,
} from './resources.ts';

export interface Nova {
  /** All servers of the project by id. */
  list(signal: AbortSignal): Promise<ReadonlyMap<string, Server>>;
  server(id: string, signal: AbortSignal): Promise<Found<Server>>;
  interfaces(serverId: string, signal: AbortSignal): Promise<Found<readonly ServerInterface[]>>;
}

/** The first microversion: every Nova since Kilo speaks it, and all that is read here is in it. */
export const novaHeaders = { 'openstack-api-version': 'compute 2.1' } as const;

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

/** Reads of Nova; `client` knows its versioned base. */
export function createNova(client: ServiceClient, options: NovaOptions): Nova {
  return {
    async list(signal) {
      return readPages(
        client,
        {
          path: '/servers/detail',
          query: [['limit', String(options.pageSize ?? pageSize)]],
          timeoutMs: pageTimeoutFactor * options.timeoutMs,
          key: 'servers',
          item: serverSchema,
          idOf: (server) => server.id,
          markerGone,
        },
        signal,
      );
    },
    async server(id, signal) {
      const path = resourcePath('/servers', id);
      return readFound(client, { path, key: 'server', schema: serverSchema }, signal);
    },
    async interfaces(serverId, signal) {
      const path = resourcePath('/servers', serverId, '/os-interface');
      const schema = z.array(serverInterfaceSchema);
      return readFound(client, { path, key: 'interfaceAttachments', schema }, signal);
    },
  };
}
