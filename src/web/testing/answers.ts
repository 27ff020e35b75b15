import type { ScreenAnswer, ScreenName } from '../../api/dashboard/screens.ts';
import {
  cloudRow,
  configAnswer,
  configRow,
  history,
  operator,
  rollouts,
  search,
} from './config-answers.ts';
import { doctor, fleet, nodes } from './fleet-answers.ts';
import { nicAnswer, nodeAnswer } from './node-answers.ts';
import { complete } from './values.ts';

/** Answers for all screens, with hostile names wherever a name comes from the cloud. */
export const answers: { readonly [Name in ScreenName]: ScreenAnswer<Name> } = {
  fleet,
  doctor,
  nodes,
  node: nodeAnswer,
  nic: nicAnswer,
  port: nicAnswer,
  configs: { ...complete, configs: [configRow], count: 1, clouds: [cloudRow] },
  config: configAnswer,
  operator,
  rollouts,
  history,
  search,
};
