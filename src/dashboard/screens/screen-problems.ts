import { ApiError } from '../../session/access/api-error.ts';
import { Failure } from '../../session/access/failure.ts';
import type { AccessOptions } from '../../session/access/options.ts';
import { Unread } from '../../session/access/unread.ts';
import { errorInContext, textInContext } from '../../session/in-context.ts';
import { PageProblem } from '../guard/page-problem.ts';

/** Returns an error for the page: without the facts of its subject a screen has nothing to show. */
export function problemOf(error: unknown, options: AccessOptions): unknown {
  const complete = errorInContext(error, options);
  if (complete instanceof Unread) {
    const { why, next } = complete;
    return new PageProblem(503, { reason: 'Unread', message: why.en, nextStep: next.en });
  }
  if (complete instanceof Failure) {
    const { message, next } = complete;
    return new PageProblem(404, { reason: 'NotFound', message, nextStep: next });
  }
  if (complete instanceof ApiError) {
    const { message } = complete;
    const nextStep = textInContext('kubectl multinic doctor', options);
    return new PageProblem(503, { reason: 'Unread', message, nextStep });
  }
  return complete;
}

/** Error: no OpenstackConfig delivers the node. */
export function absentNode(providerId: string, nodeName: string): Failure {
  return new Failure(
    `no OpenstackConfig delivers a node ${nodeName} in ${providerId}`,
    'list the nodes with: kubectl multinic nodes',
  );
}
