import type { DeliveryRecords } from '../clusters/deliver/legacy/delivery-records.ts';

/** An empty inventory, for tests with native Violas. */
export const noRecords: DeliveryRecords = {
  find: async () => [],
  nicsOf: async () => [],
  knows: async () => false,
  reserve: async () => undefined,
  add: async () => undefined,
};

/** The OpenstackConfig in tests with native Violas. */
export const anOwner = { namespace: 'multinic-system', name: 'osc', uid: 'cr-1', generation: 1 };
