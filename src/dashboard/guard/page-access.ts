import type { FastifyRequest } from 'fastify';
import type { HttpServer } from '../../http/app.ts';

/** A request's headers and socket: access never depends on path or body. */
export type RequestHead = Pick<FastifyRequest, 'headers' | 'socket'>;

/**
 * Who uses the page, and with which rights. Routes know `Rights` only: they serve this machine's user and, with a different
 * implementation, the users of a page in a cluster.
 */
export interface PageAccess<Rights> {
  /** Returns true if a Host header names this page. */
  isOwnHost(host: string): boolean;
  /** Returns the user's rights; undefined: the user is not logged in. */
  rightsOf(request: RequestHead): Rights | undefined;
  /** Next step for a request without login. */
  readonly loginStep: string;
  /** Adds the login's routes. */
  serveLogin(app: HttpServer): void;
}
