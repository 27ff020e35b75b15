import { faults } from '../../explain/faults.ts';
import { portWorkers, preparePorts } from '../../explain/port-faults.ts';
import { testFaults } from '../../explain/suite.ts';

testFaults({ workers: portWorkers, prepare: preparePorts, phases: faults.ports });
