import { headerOf } from './answer.ts';
import { RequestError } from './request-error.ts';
import type { HttpAnswer, HttpRequest } from './transport.ts';

/**
 * Throws when the answer sends us elsewhere. Nobody follows: what is sent has secrets in it, and who answers here has not been
 * asked where else they may go. Names the origin alone; the rest of such an address may hold a ticket.
 */
export function refuseRedirect({ service, method, url }: HttpRequest, answer: HttpAnswer): void {
  const { status } = answer;
  if (![301, 302, 303, 307, 308].includes(status)) return;
  const location = headerOf(answer, 'location') || 'about:blank';
  const goal = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined;
  const where = goal && /^https?:$/.test(goal.protocol) ? goal.origin : 'elsewhere';
  const advice = 'which is not followed; name the address that answers itself';
  throw new RequestError(
    `${method} ${url.origin}${url.pathname} answered ${status}, a redirect to ${where}, ${advice}`,
    { service, kind: 'badAnswer', status },
  );
}
