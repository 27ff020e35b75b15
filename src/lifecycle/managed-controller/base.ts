/** Services that the chart's rendering of the operator may hold. */
export const operatorServices = [
  'multinic-operator-inventory-service',
  'multinic-operator-metrics',
  'multinic-operator-trigger',
] as const;
