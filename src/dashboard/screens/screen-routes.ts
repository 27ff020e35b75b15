import type * as z from 'zod';
import { type ScreenAnswer, type ScreenName, screens } from '../../api/dashboard/screens.ts';
import { defineRoute, type JsonRoute } from '../routes/json-route.ts';
import { readConfigScreen, readConfigsScreen } from './configs.ts';
import { doctorOf } from './doctor.ts';
import { fleetOf } from './fleet.ts';
import { readHistoryScreen } from './history.ts';
import { readNicScreen, readPortScreen } from './nic.ts';
import { readNodeScreen } from './node.ts';
import { nodesOf } from './nodes.ts';
import { readOperatorScreen } from './operator.ts';
import { readRolloutsScreen } from './rollouts.ts';
import { problemOf } from './screen-problems.ts';
import type { ScreenReads } from './screen-reads.ts';
import { searchScreen } from './search.ts';

type Input<Name extends ScreenName> = z.output<(typeof screens)[Name]['input']>;

type Read<Name extends ScreenName> = (
  input: Input<Name>,
  reads: ScreenReads,
  signal: AbortSignal,
) => Promise<ScreenAnswer<Name>>;

const readers: { readonly [Name in ScreenName]: Read<Name> } = {
  fleet: async (_, reads, signal) =>
    fleetOf(await reads.examination.value(signal), reads.live.reports()),
  doctor: async (_, reads, signal) =>
    doctorOf(await reads.examination.value(signal), reads.session(signal).options),
  nodes: async ({ continue: token, ...filter }, reads, signal) =>
    nodesOf(await reads.nodes.value(signal), filter, token),
  node: (name, reads, signal) => readNodeScreen(name, reads, signal),
  nic: (name, reads, signal) => readNicScreen(name, reads.session(signal)),
  port: ({ portId }, reads, signal) => readPortScreen(portId, reads.session(signal)),
  configs: (_, reads, signal) => readConfigsScreen(reads.session(signal)),
  config: (name, reads, signal) => readConfigScreen(name, reads.session(signal)),
  operator: (_, reads, signal) => readOperatorScreen(reads.session(signal)),
  rollouts: (_, reads, signal) => readRolloutsScreen(reads, signal),
  history: (query, reads, signal) => readHistoryScreen(query, reads.session(signal)),
  search: ({ text }, reads, signal) => searchScreen(text, reads, signal),
};

/** Routes of all read-only screens. */
export const screenRoutes: readonly JsonRoute<ScreenReads>[] = (
  Object.keys(screens) as ScreenName[]
).map(routeOf);

function routeOf(name: ScreenName): JsonRoute<ScreenReads> {
  const { path, input }: { path: `/api/${string}`; input: z.ZodType } = screens[name];
  const read = readers[name] as Read<ScreenName>;
  return defineRoute({
    method: 'GET',
    path,
    input,
    answer: async (query, { rights: reads, signal }) => {
      try {
        return await read(query as Input<ScreenName>, reads, signal);
      } catch (error) {
        throw signal.aborted ? error : problemOf(error, reads.session(signal).options);
      }
    },
  });
}
