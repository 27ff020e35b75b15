import type { FastifyRequest } from 'fastify';
import { HttpProblem } from '../../../http/problem.ts';

/** Refuses requests from foreign web pages: a browser sends such requests with its machine's rights. */
export function refuseForeignOrigin({ headers }: Pick<FastifyRequest, 'headers'>): void {
  const { origin, host } = headers;
  if (origin === undefined || hostIn(origin) === host) return;
  const detail = `Origin "${origin}" is another host than "${host ?? ''}"; send the request without Origin, or from a page of this host`;
  throw new HttpProblem(403, 'ForeignOrigin', detail);
}

function hostIn(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** Refuses text/plain and forms: browsers send both to foreign hosts without a CORS preflight. */
export function refuseOtherMediaTypes({ headers }: Pick<FastifyRequest, 'headers'>): void {
  const [mediaType = ''] = (headers['content-type'] ?? '').split(';');
  if (mediaType.trim().toLowerCase() === 'application/json') return;
  throw new HttpProblem(415, 'UnsupportedMediaType', 'send Content-Type: application/json');
}
