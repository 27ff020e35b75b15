import { faults } from '../../explain/faults.ts';
import { nodeWorkers, prepareNodes } from '../../explain/node-faults.ts';
import { testFaults } from '../../explain/suite.ts';

testFaults({
  workers: nodeWorkers,
  // With heal a check repairs drift before a user sees it.
  options: { env: { CONTROLLER_DRIFT_POLICY: 'report' } },
  prepare: prepareNodes,
  phases: faults.nodes,
});
