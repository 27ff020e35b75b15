import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem, toProblem } from './error-handler.ts';
import { type ErrorForm, HttpProblem, titleOf } from './problem.ts';

/** Returns the handler for requests with unparsable paths. */
export function answerUnroutable(form: ErrorForm) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    void sendProblem(reply, toProblem(error), request.id, form);
  };
}

/** Returns the handler for parser errors, which have no request object: the response goes to the socket. */
export function answerUnreadable(form: ErrorForm) {
  return (error: ParserError, socket: Socket): void => answer(error, socket, form);
}

type ParserError = Error & { readonly code?: string };

function answer(error: ParserError, socket: Socket, form: ErrorForm): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = problems[error.code ?? ''] ?? notHttp;
  const body = JSON.stringify(form.bodyOf(problem, randomUUID()));
  const headers = Object.entries(form.headersOf(problem));
  const head = [
    `HTTP/1.1 ${problem.status} ${titleOf(problem)}`,
    `Content-Type: ${form.contentType}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

const notHttp = new HttpProblem(400, 'BadRequest', 'the request is not HTTP/1.1');
const problems: Readonly<Record<string, HttpProblem>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new HttpProblem(
    408,
    'RequestTimeout',
    'the request arrived too slowly',
  ),
  HPE_HEADER_OVERFLOW: new HttpProblem(
    431,
    'HeadersTooLarge',
    'path and headers together are too large; request less at once',
  ),
};
