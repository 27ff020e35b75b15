import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { changeEvent, eventsPath } from '../../../api/events-http.ts';
import { problem } from '../../../api/node-configs-http.ts';
import type { Caller } from '../../../http/admission.ts';
import { admitApiCallers, visibleProviders } from '../../../http/api-callers.ts';
import type { HttpServer } from '../../../http/app.ts';
import { HttpProblem } from '../../../http/problem.ts';
import { everyRoute, problemResponses } from '../../../http/problem-responses.ts';
import type { TokenFile } from '../../../http/token-file.ts';
import { sendEvents } from '../../../runtime/events/send-events.ts';
import { Feed, type FeedOptions } from './feed.ts';

interface ServedEvents extends FeedOptions {
  /** Tokens for remote callers; undefined: only loopback callers may read. */
  readonly tokens: TokenFile | undefined;
  /** Registers a callback for a lost Lease. */
  readonly onLeaseLost: (end: () => void) => void;
}

const events = changeEvent.describe(
  'Data of an event: a row as in the lists, or null if the list has no such row any more. Event `reset`: changes are missing; read the lists again.',
);

/** Serves `GET /v1/inventory/events`. */
export function serveEvents(
  app: HttpServer,
  { tokens, onLeaseLost, ...options }: ServedEvents,
): void {
  const feed = new Feed(options);
  const admit = admitApiCallers(tokens, 'read');
  onLeaseLost(() => feed.end());
  app.addHook('preClose', async () => feed.end());
  app.get(
    eventsPath,
    {
      // A HEAD request would never end.
      exposeHeadRoute: false,
      config: { admit, isStream: true },
      schema: {
        operationId: 'streamEvents',
        summary: 'Changed rows of nodes, OpenstackConfigs and business clusters',
        headers: z.object({
          'last-event-id': z
            .string()
            .max(100)
            .optional()
            .describe('Id of the last event; absent: from now on.'),
        }),
        response: {
          200: { description: 'Events.', content: { 'text/event-stream': { schema: events } } },
          ...problemResponses(problem, ...everyRoute),
        },
      },
    },
    async (request, reply) => {
      const providers = visibleProviders(request);
      // The reader learns the reason for a refusal when connecting again.
      const isAdmitted = async (): Promise<boolean> => {
        try {
          return isSameCaller(await admit(request), providers);
        } catch (err) {
          if (!(err instanceof HttpProblem)) options.log.error({ err }, 'token not checked');
          return false;
        }
      };
      const stream = await feed.open({
        providers,
        lastEventId: request.headers['last-event-id'],
        isAdmitted,
      });
      return sendEvents(reply, stream);
    },
  );
}

/** Returns whether the token still exists, with the same business clusters. */
function isSameCaller(caller: Caller, providers: readonly string[] | undefined): boolean {
  return isDeepStrictEqual(visibleProviders({ caller }), providers);
}
