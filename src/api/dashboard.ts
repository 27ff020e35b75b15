import * as z from 'zod';
import { resetEvent } from './events-http.ts';

/**
 * Events for tabs beside changes, without data. `reset`: changes are missing, read the lists again; `heartbeat`: the
 * operator's stream is connected; `polling`: the operator has no stream, the page reads its screen again and again until
 * a different event arrives.
 */
export const tabEvents = { reset: resetEvent, heartbeat: 'heartbeat', polling: 'polling' } as const;

export const loginRequest = z.strictObject({ token: z.string().max(100) });

/** Body of all error responses. */
export const pageError = z.strictObject({
  error: z.strictObject({
    reason: z.string().describe('Machine-readable word such as `LoginRequired`.'),
    message: z.string(),
    nextStep: z.string().describe('What the user does next.'),
  }),
});
export type PageError = z.infer<typeof pageError>;
