import { tabEventsPath } from '../../api/dashboard-names.ts';
import type { HttpServer } from '../../http/app.ts';
import { sendEvents } from '../../runtime/events/send-events.ts';
import type { Guard } from '../guard/guard.ts';
import { TabFeed, type TabFeedOptions } from './tab-feed.ts';

/** Serves the tabs' stream. */
export function serveTabEvents(
  app: HttpServer,
  guard: Guard<unknown>,
  options: TabFeedOptions,
): void {
  const feed = new TabFeed(options);
  app.addHook('preClose', async () => feed.end());
  // A HEAD request would never end.
  const route = { exposeHeadRoute: false, config: { isStream: true } };
  app.get(tabEventsPath, route, async (request, reply) => {
    const lastEventId = request.headers['last-event-id'];
    const isAdmitted = async () => guard.isAdmitted(request);
    return sendEvents(reply, feed.open(lastEventId?.toString(), isAdmitted));
  });
}
