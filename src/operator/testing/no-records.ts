import type { DeliveryRecords } from '../deliver/legacy/delivery-records.ts';

/** An inventory without a node, for tests of native Violas. */
export const noRecords: DeliveryRecords = {
  find: async () => [],
  nicsOf: async () => [],
  knows: async () => false,
  reserve: async () => undefined,
  add: async () => undefined,
};

/** The OpenstackConfig of such tests. */
export const anOwner = { namespace: 'multinic-system', name: 'osc', uid: 'cr-1', generation: 1 };
