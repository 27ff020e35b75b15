import { proof, type Scenario } from '../scenario.ts';

const reconcile = 'src/controller/reconcile.test.ts';
const onItsWay = 'an object on its way to its node';
const status = 'src/controller/status.test.ts';
const deletion = 'src/controller/deletion.test.ts';
const job = 'src/controller/job.test.ts';

/** The controller, its Jobs, and what came of them. */
export const jobs: readonly Scenario[] = [
  {
    id: 'RW-46',
    field: 'An object that was configured got Jobs without an end.',
    by: 'controller',
    holds: 'An object that is as it shall be is left alone.',
    proofs: [proof(reconcile, `${onItsWay} > is left alone once it is as it should be`)],
  },
  {
    id: 'RW-47',
    field: 'A change of an object that had come to its end was ignored.',
    by: 'controller',
    holds: 'A changed spec gets exactly one Job, bound to its generation.',
    proofs: [
      proof(
        reconcile,
        `${onItsWay} > gets exactly one new Job for a changed spec, bound to its generation`,
      ),
    ],
  },
  {
    id: 'RW-48',
    field: 'An old Job of the same name was in the way of the new one.',
    by: 'controller',
    holds: 'Each run has a Job of its own name, and no result of another one counts.',
    proofs: [
      proof(job, 'jobName > is the same for the same run and another one for any other'),
      proof(reconcile, `${onItsWay} > takes a run back that was overtaken before its agent began`),
    ],
  },
  {
    id: 'RW-49',
    field: 'Results were lost because Job or Pod were deleted at once.',
    by: 'controller',
    holds: 'A result that was read stays; one that was lost is asked for again and is no success.',
    proofs: [
      proof(
        reconcile,
        `${onItsWay} > keeps its status when the %s is deleted after the result was read`,
      ),
      proof(
        reconcile,
        `${onItsWay} > tries again after every failure, silence included, and recovers by itself`,
      ),
    ],
  },
  {
    id: 'RW-50',
    field: 'A clean-up needed the object that was gone already.',
    by: 'controller',
    holds: 'The object stays until its node is clean, and the agent reads none at all.',
    proofs: [
      proof(
        deletion,
        'an object that is deleted > goes after its node was cleaned, and its Jobs and ConfigMaps with it',
      ),
    ],
  },
  {
    id: 'RW-51',
    field: 'What came of a clean-up was written over the state of an object.',
    by: 'controller',
    holds:
      'A clean-up belongs to the object that it is for, whatever comes after it under that name.',
    proofs: [
      proof(
        deletion,
        'an object that is deleted > is created, deleted and created again under one name, each time with work of its own',
      ),
    ],
  },
  {
    id: 'RW-52',
    field: 'An object was deleted while the controller was down, and its node was never cleaned.',
    by: 'controller',
    holds: 'It is cleaned when the controller is back.',
    proofs: [
      proof(
        deletion,
        'an object that is deleted > is cleaned when the controller was down at the time',
      ),
    ],
  },
  {
    id: 'RW-53',
    field: 'Numbers that came as another type ended the process, or became 0.',
    by: 'controller',
    holds: 'A number of any form is read as it is, or refused by its field.',
    proofs: [
      proof(
        'src/controller/request.test.ts',
        'acceptEntries > refuses an entry whose %s is %j, once and by that field, and keeps its NIC',
      ),
    ],
  },
  {
    id: 'RW-54',
    field: 'Nobody agreed on which exit status a partial failure has.',
    by: 'agent',
    holds: 'All as asked is status 0 and ok; anything else is status 1, with partial or failed.',
    proofs: [
      proof('src/agent/result.test.ts', 'the outcome > is %s'),
      proof(
        'test/property/agent-answer.test.ts',
        'a run of the agent > ends with status 0 when all is as asked, with 1 when not',
      ),
      proof(
        'src/process/shutdown.test.ts',
        'runUntilSignal > ends with the status of the part, whatever that left open',
      ),
    ],
  },
  {
    id: 'RW-55',
    field: 'One NIC failed and all were told as failed.',
    by: 'controller',
    holds: 'The one that failed is told with its reason, and the others stand.',
    proofs: [
      proof(
        status,
        'the status of an object > tells of one NIC that failed and lets the others stand',
      ),
    ],
  },
  {
    id: 'RW-56',
    field: "Agents could not be scheduled: another Pod had their port of the host's.",
    by: 'controller',
    holds: 'An agent has no port.',
    proofs: [proof(job, 'the Job of a run > listens nowhere and is probed by nobody')],
  },
  {
    id: 'RW-57',
    field: 'Taints that nobody had thought of kept agents away.',
    by: 'controller',
    holds: 'An agent runs on its node whatever its taints, and when it is cordoned.',
    proofs: [
      proof(
        job,
        'the Job of a run > names the node itself and tolerates every taint, so that a cordoned node works',
      ),
    ],
  },
  {
    id: 'RW-58',
    field: 'A right was missing, and that was found out by reading logs.',
    by: 'controller',
    holds: 'A part says which right it lacks, where it is to be granted, and goes on when it is.',
    proofs: [
      proof(
        'src/self-check/self-check.test.ts',
        'a part that may not do something > is ready until it knows, then names right, role and command everywhere',
      ),
      proof(
        'src/controller/start.test.ts',
        'is not ready while a right is missing, and ready again without a restart',
      ),
    ],
  },
  {
    id: 'RW-59',
    field: 'The chart ran an agent when it was installed, on whatever node.',
    by: 'delivery',
    holds: 'No chart has a Job.',
    proofs: [
      proof('test/house/charts/together.test.ts', 'no chart runs an agent when it is installed'),
    ],
  },
  {
    id: 'RW-60',
    field: 'The status had names that were asked for, and the NICs had others.',
    by: 'controller',
    holds: 'The name in the status is the one that the agent found.',
    proofs: [
      proof(
        status,
        'the status of an object > is Configured when the agent has configured every NIC of the spec',
      ),
    ],
  },
  {
    id: 'RW-61',
    field: 'Logs grew by lines that said nothing, at every look.',
    by: 'controller',
    holds: 'Nothing is said of an object that is as it shall be.',
    proofs: [proof(reconcile, `${onItsWay} > is said nothing of while nothing happens to it`)],
  },
  {
    id: 'RW-62',
    field: 'A NIC in use failed the whole node.',
    by: 'agent',
    holds: 'That NIC is refused with what uses it; the others are configured.',
    proofs: [
      proof(
        'test/namespaces/refusals.test.ts',
        'refusals > a NIC with an address of somebody else, up or down',
      ),
      proof('test/chain/host.test.ts', 'a NIC > with an address of somebody else'),
    ],
  },
  {
    id: 'RW-63',
    field: 'The success of an old Job was taken for that of a new spec.',
    by: 'controller',
    holds: 'No result of an older generation counts for a newer one.',
    proofs: [
      proof(
        reconcile,
        `${onItsWay} > never takes the result of an older generation for the current one`,
      ),
    ],
  },
  {
    id: 'RW-64',
    field: 'An object that was deleted and made again within the hour got no Job.',
    by: 'controller',
    holds: 'Each time it is made it is applied, each time it is deleted it is cleaned.',
    proofs: [
      proof(
        deletion,
        'an object that is deleted > is created, deleted and created again under one name, each time with work of its own',
      ),
    ],
  },
  {
    id: 'RW-65',
    field: 'A NIC that was plugged in after its object stayed failed.',
    by: 'controller',
    holds: 'It is found without anybody telling.',
    proofs: [
      proof(
        reconcile,
        `${onItsWay} > waits for a NIC that is not there yet, and finds it without anybody telling`,
      ),
    ],
  },
  {
    id: 'RW-66',
    field:
      'An object came before its node, or its node was rebuilt, and nothing happened any more.',
    by: 'controller',
    holds: 'It waits, says for which node, and goes on when that is there.',
    proofs: [
      proof(
        reconcile,
        'an object without a node > waits and goes on when the node appears, without a restart',
      ),
      proof(
        'src/controller/target.test.ts',
        'findTarget > never falls back to the name when no Node has the instance id',
      ),
    ],
  },
  {
    id: 'RW-67',
    field:
      'Ten failures were longer than Kubernetes keeps, and what was cut off counted as success.',
    by: 'agent',
    holds: 'A result fits, is whole, and has every failure.',
    proofs: [
      proof(
        'src/agent/result.test.ts',
        'the termination message > has all of ten failures, each with its message',
      ),
      proof('src/agent/result.test.ts', 'the termination message > fits whatever is in it'),
    ],
  },
  {
    id: 'RW-68',
    field: 'An image that never came left an object in progress for ever.',
    by: 'controller',
    holds: 'It is told, gives its place back, and is tried again.',
    proofs: [
      proof(
        'src/controller/unkind-nodes.test.ts',
        'nodes that fail > with an image that never comes give their place back and are tried again',
      ),
      proof(
        'src/controller/unkind-nodes.test.ts',
        'nodes that fail > hold no place when their Job is over its deadline and their Pod never ends',
      ),
    ],
  },
  {
    id: 'RW-69',
    field: 'A probe killed agents in the middle of a change, and so did the end of a Pod.',
    by: 'agent',
    holds: 'An agent is not probed; told to stop, it ends the change that it has begun.',
    proofs: [
      proof(
        'test/namespaces/mid-apply.test.ts',
        'the agent is told to stop in the middle of a change: it goes on to its end',
      ),
      proof(job, 'the Job of a run > listens nowhere and is probed by nobody'),
    ],
  },
];
