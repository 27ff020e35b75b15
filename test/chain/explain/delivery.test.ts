import { deliveryWorkers, prepareDelivery } from '../../explain/delivery-faults.ts';
import { faults } from '../../explain/faults.ts';
import { testFaults } from '../../explain/suite.ts';

testFaults({ workers: deliveryWorkers, prepare: prepareDelivery, phases: faults.delivery });
