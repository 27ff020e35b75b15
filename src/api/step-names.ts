/** Steps from Neutron to the boot files, in order. */
export const stepNames = [
  'Neutron',
  'Selection',
  'Filter',
  'Assignment',
  'Delivery',
  'Acceptance',
  'Agent',
  'Kernel',
  'BootFiles',
  'Environment',
] as const;

export type StepName = (typeof stepNames)[number];
