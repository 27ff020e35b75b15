import { headerOf } from './answer.ts';
import { RequestError } from './request-error.ts';
import type { HttpAnswer, HttpRequest } from './transport.ts';

/**
 * Throws on a redirect answer. Redirects are never followed: requests carry secrets, and the target passed no
 * endpoint check. The error names only the target's origin; its path may hold a ticket.
 */
export function refuseRedirect({ service, method, url }: HttpRequest, answer: HttpAnswer): void {
  const { status } = answer;
  if (![301, 302, 303, 307, 308].includes(status)) return;
  const location = headerOf(answer, 'location') || 'about:blank';
  const goal = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined;
  const where = goal && /^https?:$/.test(goal.protocol) ? goal.origin : 'elsewhere';
  const advice = 'which is not followed; set the URL of the service itself';
  throw new RequestError(
    `${method} ${url.origin}${url.pathname} answered ${status}, a redirect to ${where}, ${advice}`,
    { service, kind: 'badAnswer', status },
  );
}
