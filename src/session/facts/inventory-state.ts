import * as z from 'zod';
import { accessTexts } from '../../api/texts/access.ts';
import type { Fact } from '../../explain/fact.ts';
import { grantReader } from '../access/grants.ts';
import { usualHomes } from '../access/operator-home.ts';
import type { Session } from '../access/session.ts';
import { factOf } from './unread.ts';

/** Answer of the leading operator's HTTP server. */
export interface InventoryState {
  readonly version: string;
  readonly milliseconds: number;
}

const version = z.object({ version: z.string() });

export function readInventoryState(session: Session): Promise<Fact<InventoryState>> {
  const { clock, options } = session;
  const about = {
    what: accessTexts.inventory,
    source: 'operator' as const,
    grant: grantReader(options.operatorNamespace ?? usualHomes[0]),
  };
  return factOf(session, about, async () => {
    const api = await session.operator();
    // The first request also pays for the port-forward.
    await api.text('/healthz');
    const started = clock.monotonicMs();
    const answer = await api.get('/version', version);
    return { version: answer.version, milliseconds: Math.round(clock.monotonicMs() - started) };
  });
}
