import type { Scenario } from '../scenario.ts';

/** The controller, its Jobs, and what came of them. */
export const jobs: readonly Scenario[] = [
  {
    id: 'RW-46',
    field: 'An object that was configured got Jobs without an end.',
    by: 'controller',
    holds: 'An object that is as it shall be is left alone.',
  },
  {
    id: 'RW-47',
    field: 'A change of an object that had come to its end was ignored.',
    by: 'controller',
    holds: 'A changed spec gets exactly one Job, bound to its generation.',
  },
  {
    id: 'RW-48',
    field: 'An old Job of the same name was in the way of the new one.',
    by: 'controller',
    holds: 'Each run has a Job of its own name, and no result of another one counts.',
  },
  {
    id: 'RW-49',
    field: 'Results were lost because Job or Pod were deleted at once.',
    by: 'controller',
    holds: 'A result that was read stays; one that was lost is asked for again and is no success.',
  },
  {
    id: 'RW-50',
    field: 'A clean-up needed the object that was gone already.',
    by: 'controller',
    holds: 'The object stays until its node is clean, and the agent reads none at all.',
  },
  {
    id: 'RW-51',
    field: 'What came of a clean-up was written over the state of an object.',
    by: 'controller',
    holds:
      'A clean-up belongs to the object that it is for, whatever comes after it under that name.',
  },
  {
    id: 'RW-52',
    field: 'An object was deleted while the controller was down, and its node was never cleaned.',
    by: 'controller',
    holds: 'It is cleaned when the controller is back.',
  },
  {
    id: 'RW-53',
    field: 'Numbers that came as another type ended the process, or became 0.',
    by: 'controller',
    holds: 'A number of any form is read as it is, or refused by its field.',
  },
  {
    id: 'RW-54',
    field: 'Nobody agreed on which exit status a partial failure has.',
    by: 'agent',
    holds: 'All as asked is status 0 and ok; anything else is status 1, with partial or failed.',
  },
  {
    id: 'RW-55',
    field: 'One NIC failed and all were told as failed.',
    by: 'controller',
    holds: 'The one that failed is told with its reason, and the others stand.',
  },
  {
    id: 'RW-56',
    field: "Agents could not be scheduled: another Pod had their port of the host's.",
    by: 'controller',
    holds: 'An agent has no port.',
  },
  {
    id: 'RW-57',
    field: 'Taints that nobody had thought of kept agents away.',
    by: 'controller',
    holds: 'An agent runs on its node whatever its taints, and when it is cordoned.',
  },
  {
    id: 'RW-58',
    field: 'A right was missing, and that was found out by reading logs.',
    by: 'controller',
    holds: 'A part says which right it lacks, where it is to be granted, and goes on when it is.',
  },
  {
    id: 'RW-59',
    field: 'The chart ran an agent when it was installed, on whatever node.',
    by: 'delivery',
    holds: 'No chart has a Job.',
  },
  {
    id: 'RW-60',
    field: 'The status had names that were asked for, and the NICs had others.',
    by: 'controller',
    holds: 'The name in the status is the one that the agent found.',
  },
  {
    id: 'RW-61',
    field: 'Logs grew by lines that said nothing, at every look.',
    by: 'controller',
    holds: 'Nothing is said of an object that is as it shall be.',
  },
  {
    id: 'RW-62',
    field: 'A NIC in use failed the whole node.',
    by: 'agent',
    holds: 'That NIC is refused with what uses it; the others are configured.',
  },
  {
    id: 'RW-63',
    field: 'The success of an old Job was taken for that of a new spec.',
    by: 'controller',
    holds: 'No result of an older generation counts for a newer one.',
  },
  {
    id: 'RW-64',
    field: 'An object that was deleted and made again within the hour got no Job.',
    by: 'controller',
    holds: 'Each time it is made it is applied, each time it is deleted it is cleaned.',
  },
  {
    id: 'RW-65',
    field: 'A NIC that was plugged in after its object stayed failed.',
    by: 'controller',
    holds: 'It is found without anybody telling.',
  },
  {
    id: 'RW-66',
    field:
      'An object came before its node, or its node was rebuilt, and nothing happened any more.',
    by: 'controller',
    holds: 'It waits, says for which node, and goes on when that is there.',
  },
  {
    id: 'RW-67',
    field:
      'Ten failures were longer than Kubernetes keeps, and what was cut off counted as success.',
    by: 'agent',
    holds: 'A result fits, is whole, and has every failure.',
  },
  {
    id: 'RW-68',
    field: 'An image that never came left an object in progress for ever.',
    by: 'controller',
    holds: 'It is told, gives its place back, and is tried again.',
  },
  {
    id: 'RW-69',
    field: 'A probe killed agents in the middle of a change, and so did the end of a Pod.',
    by: 'agent',
    holds: 'An agent is not probed; told to stop, it ends the change that it has begun.',
  },
];
