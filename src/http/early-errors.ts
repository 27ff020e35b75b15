import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem, toProblem } from './error-handler.ts';
import { HttpProblem, problemBody } from './problem.ts';

/** Answers a request with a path the router cannot parse. */
export function answerUnroutable(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  void sendProblem(reply, toProblem(error), request.id);
}

/** Answers errors from the HTTP parser on the socket: no request object exists yet. */
export function answerUnreadable(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = problems[error.code ?? ''] ?? notHttp;
  const answer = problemBody(problem, randomUUID());
  const body = JSON.stringify(answer);
  const head = [
    `HTTP/1.1 ${problem.status} ${answer.title}`,
    'Content-Type: application/problem+json',
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
